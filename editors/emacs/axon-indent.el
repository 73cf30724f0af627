;;; axon-indent.el --- Indentation of Axon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; In: the lines before a line, and its first token.  Out: the column where `etcc fmt' would begin it.
;;
;; The tokens of the declaration so far are kept as a stack of frames, innermost first, each something that is open: the
;; declaration, a bracket, a `let', an `if', the parameters of a function, the expression behind one of these.  The base of a
;; frame is the column that its lines are indented from.  editors/README.md says the rules in words.

;;; Code:

(require 'cl-lib)
(require 'axon-words)

(cl-defstruct (axon-indent--frame (:conc-name axon-indent--))
  kind           ; a symbol, or the opening bracket as a string
  base           ; the column that its lines are indented from
  (head nil)     ; columns that lines are indented by before the `=' or `=>', nil behind it
  (around nil))  ; of a bracket that is an argument behind others: the base of what is around it

(cl-defstruct (axon-indent--state (:conc-name axon-indent--))
  stack (previous nil))

(defconst axon-indent--token
  (rx (or (seq "\"" (* (or (seq "\\" nonl) (not (any "\"\\\n")))) (? "\""))
          (seq "'" (any "A-Za-z_") (* (any "A-Za-z0-9_")))
          (seq (any "0-9") (* (any "A-Za-z0-9_")) (? "." (any "0-9") (* (any "A-Za-z0-9_"))))
          (seq (any "A-Za-z_") (* (any "A-Za-z0-9_")))
          "=>" "->" "<=" ">=" "==" "!=" "&&" "||" "|>" ":>" ".."
          (not (any " \t\n")))))

(defconst axon-indent--declaration
  (concat "[ \t]*" (regexp-opt axon-words-declarations) "\\_>"))

(defun axon-indent--tokens ()
  "The tokens of the line at point, as (TEXT . COLUMN), without its comment."
  (save-excursion
    (beginning-of-line)
    (let ((begin (point)) (end (line-end-position)) tokens)
      (while (progn (skip-chars-forward " \t") (and (< (point) end) (not (looking-at-p "--"))))
        (looking-at axon-indent--token)
        (push (cons (match-string-no-properties 0) (- (match-beginning 0) begin)) tokens)
        (goto-char (match-end 0)))
      (nreverse tokens))))

(defun axon-indent--ends-operand-p (token)
  "Can a value end with TOKEN?"
  (and token
       (if (string-match-p "\\`[A-Za-z_]" token)
           (not (or (member token axon-words-declarations) (member token axon-words-keywords)
                    (member token axon-words-conditionals)))
         (string-match-p "\\`\\(?:[0-9\"']\\|[])}]\\'\\)" token))))

(defun axon-indent--push (state kind base &optional head)
  "Open a frame of KIND in STATE, whose lines are indented from BASE.
HEAD: by how much before its end."
  (push (make-axon-indent--frame :kind kind :base base :head head) (axon-indent--stack state)))

(defun axon-indent--leave (state kinds)
  "Leave what is open in STATE inside of the innermost frame of KINDS.
Nil, and nothing left, where a bracket of no such kind comes before it."
  (let ((rest (axon-indent--stack state)))
    (while (and (cdr rest)
                (not (member (axon-indent--kind (car rest)) kinds))
                (not (stringp (axon-indent--kind (car rest)))))
      (pop rest))
    (when (member (axon-indent--kind (car rest)) kinds)
      (setf (axon-indent--stack state) rest)
      (car rest))))

(defun axon-indent--close (state)
  "Leave the innermost bracket of STATE."
  (while (and (cdr (axon-indent--stack state))
              (not (stringp (axon-indent--kind (pop (axon-indent--stack state))))))))

(defun axon-indent--open (state token column first)
  "The bracket TOKEN at COLUMN opens in STATE; FIRST: it begins its line."
  (let ((around (axon-indent--base (car (axon-indent--stack state)))))
    (axon-indent--push state token (+ column (if (equal token "{") 0 1)))
    (when (and (not first) (axon-indent--ends-operand-p (axon-indent--previous state)))
      (setf (axon-indent--around (car (axon-indent--stack state))) around))))

(defun axon-indent--arrow (state)
  "The body of a function begins in STATE.
That of one that is an argument goes on from the line, any other from the frame."
  (when (eq (axon-indent--kind (car (axon-indent--stack state))) 'function)
    (pop (axon-indent--stack state)))
  (let ((top (car (axon-indent--stack state))))
    (axon-indent--push state 'expression (+ 2 (or (axon-indent--around top) (axon-indent--base top))))))

(defun axon-indent--equals (state)
  "A definition or the value of a field begins in STATE."
  (let ((top (car (axon-indent--stack state))))
    (cond ((axon-indent--head top)
           (setf (axon-indent--head top) nil)
           (axon-indent--push state 'expression (+ 2 (axon-indent--base top))))
          ((equal (axon-indent--kind top) "{")
           (axon-indent--push state 'expression (+ 4 (axon-indent--base top)))))))

(defun axon-indent--let (state column)
  "A `let' at COLUMN: another one of those open in STATE, or a first one."
  (unless (and (axon-indent--ends-operand-p (axon-indent--previous state)) (axon-indent--leave state '(let)))
    (axon-indent--push state 'let column))
  (setf (axon-indent--head (car (axon-indent--stack state))) 4))

(defun axon-indent--in (state next)
  "The body of lets begins in STATE, with the token NEXT or on the next line."
  (let ((frame (axon-indent--leave state '(let))))
    (when frame
      (pop (axon-indent--stack state))
      (axon-indent--push state 'expression (or (cdr next) (axon-indent--base frame))))))

(defun axon-indent--word (state token column next)
  "Take the word TOKEN at COLUMN into STATE, behind which NEXT stands."
  (let ((top (car (axon-indent--stack state))))
    (cond
     ((member token axon-words-declarations)
      (setf (axon-indent--head (car (last (axon-indent--stack state)))) (if (member token '("prim" "val")) 2 4)))
     ((equal token "let") (axon-indent--let state column))
     ((equal token "in") (axon-indent--in state next))
     ((equal token "if")
      (unless (and (equal (axon-indent--previous state) "else") (axon-indent--leave state '(if)))
        (axon-indent--push state 'if column)))
     ((and (member token '("then" "else")) (axon-indent--leave state '(if)))
      (axon-indent--push state 'expression (or (cdr next) (+ column 5))))
     ((member token '("for" "fn")) (axon-indent--push state 'function (axon-indent--base top) 4))
     ((and (equal token "where") next (axon-indent--head top))
      (setf (axon-indent--head top) (- (cdr next) (axon-indent--base top)))))))

(defun axon-indent--take (state token column first next)
  "Take TOKEN at COLUMN into STATE.
FIRST: it begins its line; NEXT stands behind it there."
  (cond ((string-match-p "\\`[A-Za-z_]" token) (axon-indent--word state token column next))
        ((member token '("(" "[" "{")) (axon-indent--open state token column first))
        ((member token '(")" "]" "}")) (axon-indent--close state))
        ((equal token ",") (axon-indent--leave state '("(" "[" "{")))
        ((equal token "=") (axon-indent--equals state))
        ((equal token "=>") (axon-indent--arrow state)))
  (setf (axon-indent--previous state) token))

(defun axon-indent--before ()
  "What is open before the line at point."
  (let ((state (make-axon-indent--state)) (end (line-beginning-position)))
    (axon-indent--push state 'declaration 0)
    (save-excursion
      (beginning-of-line)
      (while (and (zerop (forward-line -1)) (not (looking-at-p axon-indent--declaration))))
      (while (< (point) end)
        (let ((tokens (axon-indent--tokens)) (first t))
          (while tokens
            (pcase-let ((`(,text . ,column) (pop tokens)))
              (axon-indent--take state text column first (car tokens))
              (setq first nil))))
        (forward-line 1)))
    state))

(defun axon-indent--column (state token)
  "The column of a line that begins with TOKEN, nil for none, behind STATE."
  (let* ((previous (axon-indent--previous state))
         (ended (axon-indent--ends-operand-p previous))
         (frame (or (and (equal token "in") (axon-indent--leave state '(let)))
                    (and (equal token "let") ended (axon-indent--leave state '(let)))
                    (and (member token '("then" "else")) (axon-indent--leave state '(if)))))
         (bracket (and (not frame)
                       (or (member token '(")" "]" "}" "," "else")) (equal previous ","))
                       (axon-indent--leave state '("(" "[" "{"))))
         (top (car (axon-indent--stack state))))
    (cond (frame (axon-indent--base frame))
          (bracket (- (axon-indent--base bracket) (if (member token '(")" "]")) 1 0)))
          ((axon-indent--head top) (+ (axon-indent--base top) (axon-indent--head top)))
          (t (+ (axon-indent--base top) (if ended 2 0))))))

(defun axon-indent--comment-p ()
  "Is the line at point nothing but a comment?"
  (looking-at-p "[ \t]*--"))

(defun axon-indent--to-code ()
  "Go to the first line from here on that has a token; nil where there is none."
  (while (and (not (eobp)) (null (axon-indent--tokens))) (forward-line 1))
  (not (eobp)))

(defun axon-indent--after-nothing ()
  "The column of an empty line or last comment where no expression is open."
  (if (or (axon-indent--comment-p) (not (zerop (forward-line -1))) (looking-at-p "[ \t]*$"))
      0
    (current-indentation)))

(defun axon-indent--calculate ()
  "The column where the line at point should begin."
  (save-excursion
    (beginning-of-line)
    (let* ((state (axon-indent--before))
           (previous (axon-indent--previous state))
           ;; A comment belongs to the code behind it, an empty line to nothing.
           (first (save-excursion
                    (when (axon-indent--comment-p) (axon-indent--to-code))
                    (caar (axon-indent--tokens)))))
      (cond ((or (looking-at-p "[ \t]*--|") (member first axon-words-declarations)) 0)
            ((and (null first) (or (null previous) (axon-indent--ends-operand-p previous)))
             (axon-indent--after-nothing))
            ((null previous) 0)
            (t (axon-indent--column state first))))))

;;;###autoload
(defun axon-indent-line ()
  "Indent the line at point as `etcc fmt' would."
  (interactive)
  (let ((column (axon-indent--calculate)))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

(provide 'axon-indent)

;;; axon-indent.el ends here
