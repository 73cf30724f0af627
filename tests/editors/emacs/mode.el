;;; What axon-mode does besides colours and indentation of whole files. Run by ert.

(require 'ert)
(require 'imenu)

(defmacro with-axon (text &rest body)
  "BODY in a buffer of axon-mode with TEXT."
  (declare (indent 1))
  `(with-temp-buffer (insert ,text) (axon-mode) (goto-char (point-min)) ,@body))

(ert-deftest typing-indents ()
  (with-axon ""
    (dolist (line '("fun f x =" "let a = g x" "let b =" "if a then 1" "else 2" "in a + b"))
      (insert line)
      (indent-according-to-mode)
      (end-of-line)
      (newline))
    (should (equal (buffer-string) "fun f x =\n  let a = g x\n  let b =\n    if a then 1\n    else 2\n  in a + b\n"))))

(ert-deftest comments ()
  (with-axon "fun f x = x\n"
    (comment-region (point-min) (point-max))
    (should (equal (buffer-string) "-- fun f x = x\n"))
    (uncomment-region (point-min) (point-max))
    (should (equal (buffer-string) "fun f x = x\n"))))

(ert-deftest an-open-string-ends-with-its-line ()
  (with-axon "val a = \"open\nfun f x = x -- \"quoted\" -- more\nfun g x = x\n"
    (font-lock-ensure)
    (should (eq (get-text-property 10 'face) 'font-lock-string-face))
    (search-forward "\nfun")
    (should (eq (get-text-property (1- (point)) 'face) 'font-lock-keyword-face))
    (search-forward "\nfun g")
    (should (eq (get-text-property (1- (point)) 'face) 'font-lock-function-name-face))))

(ert-deftest index-of-declarations ()
  (with-axon "type T[n] = f32[n]\nprivate fun f x = x\nval v = 1\nentry e (x : f32) = x\ntest \"a title\" = true\n"
    (should (equal (mapcar (lambda (group) (cons (car group) (mapcar #'car (cdr group))))
                           (imenu--generic-function imenu-generic-expression))
                   '(("Tests" "a title") ("Types" "T") ("Values" "v") ("Functions" "f") ("Entries" "e"))))))

(ert-deftest declarations-as-defuns ()
  (with-axon "fun f x =\n  x\n\nfun g x =\n  x\n"
    (goto-char (point-max))
    (beginning-of-defun)
    (should (looking-at-p "fun g"))
    (beginning-of-defun)
    (should (looking-at-p "fun f"))))

(ert-deftest formatting ()
  (with-axon "fun   f x=x+1\n"
    (axon-format-buffer)
    (should (equal (buffer-string) "fun f x = x + 1\n"))
    (erase-buffer)
    (insert "fun f x = )\n")
    (axon-format-buffer)
    (should (equal (buffer-string) "fun f x = )\n"))))

(ert-deftest errors-of-compile ()
  (let ((file (make-temp-file "axon" nil ".axn" "entry f (x : f32[n]) (y : f32[m]) = x + y\nfun g x = nothing\n"))
        (compilation-scroll-output nil) found)
    (with-current-buffer (find-file-noselect file)
      (let ((buffer (compile compile-command)))
        (while (get-buffer-process buffer) (accept-process-output nil 0.1))
        (with-current-buffer buffer
          (goto-char (point-min))
          (while (ignore-errors (compilation-next-error 1))
            (let* ((message (get-text-property (point) 'compilation-message))
                   (loc (compilation--message->loc message)))
              (push (list (compilation--message->type message) (compilation--loc->line loc) (compilation--loc->col loc)) found))))))
    (should (equal (seq-filter (lambda (one) (eq (car one) 2)) (nreverse found)) '((2 1 37) (2 2 11))))
    (delete-file file)))

(defun await-prompt (text)
  "Wait until the buffer has the prompt behind TEXT."
  (let ((end (+ (float-time) 30)))
    (while (not (string-suffix-p text (buffer-substring-no-properties (point-min) (point-max))))
      (should (< (float-time) end))
      (accept-process-output nil 0.02))))

(defun answer (line prompt)
  "Type LINE at the prompt and wait for the next PROMPT."
  (goto-char (point-max))
  (insert line)
  (comint-send-input)
  (await-prompt (concat "\n" prompt)))

(ert-deftest a-prompt-answers ()
  (run-axon)
  (with-current-buffer "*axon*"
    (set-process-query-on-exit-flag (get-buffer-process (current-buffer)) nil)
    (await-prompt "axon> ")
    (answer "fun f x =" "....> ")
    (answer "  x + 1" "axon> ")
    (answer ":type f" "axon> ")
    (should (equal (buffer-substring-no-properties (point-min) (point-max))
                   (concat "axon> fun f x =\n....>   x + 1\nf : 't[..x] -> 't[..x]   where 't : num\n"
                           "axon> :type f\nf : 't[..x] -> 't[..x]   where 't : num\naxon> ")))
    (delete-process (get-buffer-process (current-buffer)))))

(ert-deftest eglot-knows-the-server ()
  (require 'eglot)
  (should (equal (funcall (cdr (assoc 'axon-mode eglot-server-programs))) '("etcc" "lsp"))))

(ert-deftest a-missing-compiler-is-named ()
  (require 'eglot)
  (let ((axon-program "etcc-that-is-nowhere") (wanted "There is no .etcc-that-is-nowhere. to run"))
    (with-axon "fun   f x=x\n"
      (setq buffer-file-name "/nowhere/x.axn")
      (dolist (command (list #'axon-format-buffer #'run-axon #'eglot--guess-contact))
        (should (string-match-p wanted (error-message-string (should-error (funcall command) :type 'user-error)))))
      (set-buffer-modified-p nil)
      (should (equal (buffer-string) "fun   f x=x\n")))))
