;;; axon-mode.el --- Major mode for Axon, a language of tensor programs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages

;;; Commentary:

;; Colours, indentation, an index of declarations, `compile' with its errors, `run-axon' for a prompt, and an entry for eglot,
;; which speaks with the language server of the compiler, `etcc lsp'.

;;; Code:

(require 'comint)
(require 'compile)
(require 'axon-indent)
(require 'axon-words)

(defgroup axon nil
  "The Axon language."
  :group 'languages
  :prefix "axon-")

(defcustom axon-program "etcc"
  "The Axon compiler: a name that is looked up in PATH, or a path."
  :type 'string)

(defvar axon-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?- ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?' "'" table)
    (dolist (sign '(?+ ?* ?/ ?% ?@ ?= ?< ?> ?! ?& ?| ?? ?: ?. ?,))
      (modify-syntax-entry sign "." table))
    table)
  "What characters mean in Axon.")

(defun axon-mode--words (words)
  "A regular expression for WORDS as symbols."
  (concat "\\_<" (regexp-opt words t) "\\_>"))

(defconst axon-mode--name "[A-Za-z_][A-Za-z0-9_]*")

(defface axon-documentation '((t :inherit font-lock-doc-face))
  "Documentation of declarations.")
(defface axon-example '((t :inherit font-lock-preprocessor-face))
  "The sign of an example in documentation.")
(defface axon-operator '((t :inherit default))
  "Operators.")
(defface axon-number '((t :inherit font-lock-constant-face))
  "Numbers.")
(defface axon-field '((t :inherit font-lock-variable-name-face))
  "Fields of records.")
(defface axon-shape '((t :inherit font-lock-variable-name-face))
  "Shape variables.")

(defconst axon-mode-font-lock-keywords
  `(("'[A-Za-z_][A-Za-z0-9_]*" 0 font-lock-type-face)
    (,(concat "\\_<\\(?:fun\\|entry\\|prim\\|val\\)[ \t]+\\(" axon-mode--name "\\)") 1 font-lock-function-name-face)
    (,(concat "\\_<\\(?:type\\|layout\\|mesh\\)[ \t]+\\(" axon-mode--name "\\)") 1 font-lock-type-face)
    (,(concat "'" axon-mode--name "[ \t]*:[ \t]*" (axon-mode--words axon-words-classes)) 1 font-lock-type-face)
    (,(concat ":[ \t]*\\(weights\\)\\(?:[ \t]*[({'*]\\|[ \t]+[[A-Za-z_]\\)") 1 font-lock-keyword-face)
    (,(concat "\\.\\.[ \t]*" axon-mode--name "[ \t]+\\(into\\)[ \t]*\\[") 1 font-lock-keyword-face)
    (,(concat "[])}A-Za-z0-9_]\\.\\(" axon-mode--name "\\)") 1 'axon-field)
    (,(axon-mode--words (append axon-words-declarations axon-words-conditionals axon-words-keywords))
     0 font-lock-keyword-face t)
    (,(axon-mode--words axon-words-constants) 0 font-lock-constant-face t)
    (,(axon-mode--words axon-words-elements) 0 font-lock-type-face)
    (,(concat "\\.\\.[ \t]*\\(" axon-mode--name "\\)") 1 'axon-shape)
    ("\\_<[A-Z][A-Za-z0-9_]*" 0 font-lock-type-face)
    ("\\_<\\(?:0x[0-9A-Fa-f_]+\\|0b[01_]+\\|[0-9][0-9_]*\\(?:\\.[0-9][0-9_]*\\)?\\(?:[eE][-+]?[0-9]+\\)?\\)\\_>" 0 'axon-number)
    (,(concat "\\.\\.\\|" (regexp-opt axon-words-operators)) 0 'axon-operator)
    ("^[ \t]*--|[ \t]?\\(>>>\\)" 1 'axon-example t))
  "What `font-lock-mode' colours.")

(defun axon-mode--syntactic-face (state)
  "The face of the string or comment that the parser STATE is in."
  (cond ((nth 3 state) font-lock-string-face)
        ((save-excursion (goto-char (nth 8 state)) (looking-at-p "--|")) 'axon-documentation)
        (t font-lock-comment-face)))

(defun axon-mode--end-strings (begin end)
  "Let strings that are open between BEGIN and END end with their lines."
  (goto-char begin)
  (while (re-search-forward "\n" end t)
    (let ((state (save-excursion (syntax-ppss (match-beginning 0)))))
      (when (nth 3 state)
        (axon-mode--fence (nth 8 state))
        (axon-mode--fence (match-beginning 0))
        (syntax-ppss-flush-cache (nth 8 state))))))

(defun axon-mode--fence (at)
  "Make the character AT the beginning or the end of a string, whatever it is."
  (put-text-property at (1+ at) 'syntax-table (string-to-syntax "|")))

(defvar axon-mode-imenu-generic-expression
  `(("Entries" ,(concat "^entry[ \t]+\\(" axon-mode--name "\\)") 1)
    ("Functions" ,(concat "^\\(?:private[ \t]+\\)?\\(?:fun\\|prim\\)[ \t]+\\(" axon-mode--name "\\)") 1)
    ("Values" ,(concat "^\\(?:private[ \t]+\\)?val[ \t]+\\(" axon-mode--name "\\)") 1)
    ("Types" ,(concat "^\\(?:private[ \t]+\\)?\\(?:type\\|layout\\|mesh\\)[ \t]+\\(" axon-mode--name "\\)") 1)
    ("Tests" "^test[ \t]+\"\\([^\"]*\\)\"" 1))
  "What `imenu' lists.")

;; FILE:LINE:COLUMN: error[E0310]: ..., and what belongs to it, as `--error-format=short' prints it.
(add-to-list 'compilation-error-regexp-alist-alist
             '(axon "^\\([^:\n]+\\):\\([0-9]+\\):\\([0-9]+\\): \\(?:error\\|\\(warning\\)\\|\\(note\\|help\\|known\\|fails for\\)\\)[[:]"
                    1 2 3 (4 . 5)))
(add-to-list 'compilation-error-regexp-alist 'axon)

(defun axon-mode--program ()
  "The compiler; an error that says what to do where there is none."
  (if (executable-find axon-program)
      axon-program
    (user-error "There is no `%s' to run; `axon-program' names the Axon compiler" axon-program)))

(defun axon-format-buffer ()
  "Lay the buffer out in the one style, by `etcc fmt'."
  (interactive)
  (let ((program (axon-mode--program)) (output (generate-new-buffer " *axon fmt*")) (errors (make-temp-file "axon")))
    (unwind-protect
        (if (zerop (call-process-region nil nil program nil (list output errors) nil "fmt" "-"))
            (replace-buffer-contents output)
          (message "%s" (with-temp-buffer (insert-file-contents errors) (string-trim (buffer-string)))))
      (kill-buffer output)
      (delete-file errors))))

(defvar axon-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-f") #'axon-format-buffer)
    (define-key map (kbd "C-c C-z") #'run-axon)
    (define-key map (kbd "C-c C-c") #'compile)
    map)
  "Keys of `axon-mode'.")

;;;###autoload
(define-derived-mode axon-mode prog-mode "Axon"
  "Major mode for programs in Axon."
  (setq-local comment-start "-- "
              comment-end ""
              comment-start-skip "--|?[ \t]*"
              indent-line-function #'axon-indent-line
              indent-tabs-mode nil
              fill-column 100
              electric-indent-chars (append "])},\n" electric-indent-chars)
              syntax-propertize-function #'axon-mode--end-strings
              parse-sexp-lookup-properties t
              font-lock-defaults '(axon-mode-font-lock-keywords
                                   nil nil nil
                                   (font-lock-syntactic-face-function . axon-mode--syntactic-face))
              imenu-generic-expression axon-mode-imenu-generic-expression
              beginning-of-defun-function #'axon-beginning-of-defun)
  (when buffer-file-name
    (setq-local compile-command
                (concat axon-program " check --error-format=short " (shell-quote-argument (file-name-nondirectory buffer-file-name))))))

(defun axon-beginning-of-defun (&optional count)
  "Go back to the beginning of a declaration, COUNT times; forward when negative."
  (let ((begin (concat "^" (regexp-opt axon-words-declarations) "\\_>")))
    (if (< (or count 1) 0)
        (progn (end-of-line)
               (when (re-search-forward begin nil 'move (- count)) (beginning-of-line) t))
      (re-search-backward begin nil 'move (or count 1)))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.axn\\'" . axon-mode))

;; The prompt

(define-derived-mode axon-repl-mode comint-mode "Axon prompt"
  "Major mode for a prompt of Axon."
  :syntax-table axon-mode-syntax-table
  (setq-local comint-prompt-regexp "^[^>\n]*> *"
              comint-prompt-read-only t))

;;;###autoload
(defun run-axon ()
  "Go to the prompt of Axon, which is started when there is none."
  (interactive)
  (let ((buffer (get-buffer-create "*axon*")))
    (unless (comint-check-proc buffer)
      (make-comint-in-buffer "axon" buffer (axon-mode--program) nil "repl")
      (with-current-buffer buffer (axon-repl-mode)))
    (pop-to-buffer buffer)))

;; The language server

(defun axon-mode--server (&optional interactive &rest _)
  "What eglot runs.
Where there is no compiler it asks the user when INTERACTIVE, and fails else."
  (list (if interactive axon-program (axon-mode--program)) "lsp"))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(axon-mode . axon-mode--server)))

(provide 'axon-mode)

;;; axon-mode.el ends here
