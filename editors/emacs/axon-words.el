;;; axon-words.el --- The words of the Axon language  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Filled in from the compiler's tables.

;;; Code:

(defconst axon-words-declarations '("fun" "entry" "val" "type" "prim" "import" "private" "test" "layout" "mesh")
  "Keywords that open a declaration.")
(defconst axon-words-conditionals '("if" "then" "else")
  "Keywords of a choice.")
(defconst axon-words-keywords '("as" "where" "let" "in" "for" "fn" "with")
  "All other keywords.")
(defconst axon-words-constants '("true" "false")
  "Keywords that are values.")
(defconst axon-words-elements '("f64" "f32" "f16" "bf16" "f8e4m3" "f8e5m2" "i64" "i32" "i16" "i8" "u32" "u8" "bool")
  "Element types.")
(defconst axon-words-classes '("num" "float" "int")
  "Classes of element types.")
(defconst axon-words-operators '(":>" "->" "=>" "<=" ">=" "!=" "==" "&&" "||" "|>" "=" "<" ">" "+" "-" "*" "/" "%" "@" "|" "?")
  "Signs that are operators.")

(provide 'axon-words)

;;; axon-words.el ends here
