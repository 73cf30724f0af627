;;; axon-words.el --- The words of the Axon language  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Filled in from the compiler's tables.

;;; Code:

(defconst axon-words-declarations '(@declarations|lisp@)
  "Keywords that open a declaration.")
(defconst axon-words-conditionals '(@conditionals|lisp@)
  "Keywords of a choice.")
(defconst axon-words-keywords '(@keywords|lisp@)
  "All other keywords.")
(defconst axon-words-constants '(@constants|lisp@)
  "Keywords that are values.")
(defconst axon-words-elements '(@elements|lisp@)
  "Element types.")
(defconst axon-words-classes '(@classes|lisp@)
  "Classes of element types.")
(defconst axon-words-operators '(@operators|lisp@)
  "Signs that are operators.")

(provide 'axon-words)

;;; axon-words.el ends here
