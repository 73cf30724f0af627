;;; A user at work, by eglot: an error is seen, its repair applied, types are read, a size is renamed, the text is formatted.

;; In: the path of a program, and that of a file for the answer. Out: in that file, as JSON, what each step showed or left.
;; Invariant: every step waits for what it wants to see, and says so when that never comes.

(require 'eglot)
(require 'flymake)
(require 'json)
(require 'xref)

(setq eglot-sync-connect 30
      eglot-autoshutdown t
      eglot-confirm-server-initiated-edits nil)

(defvar session-said nil "What is known so far, as an alist.")

(defun session-say (key value)
  "Let VALUE be what is said of KEY."
  (push (cons key value) session-said))

(defun session-await (what condition)
  "Wait for WHAT, until CONDITION holds, and return its value."
  (let ((end (+ (float-time) 30)) found)
    (while (not (setq found (funcall condition)))
      (when (> (float-time) end) (error "Never seen: %s" what))
      (accept-process-output nil 0.02))
    found))

(defun session-go (pattern)
  "Go to the first place of PATTERN."
  (goto-char (point-min))
  (re-search-forward pattern)
  (goto-char (match-beginning 0)))

(defun session-text ()
  "The text of the buffer."
  (buffer-substring-no-properties (point-min) (point-max)))

(defun session-changes (what command)
  "What the text is after WHAT, which COMMAND does."
  (let ((before (buffer-chars-modified-tick)))
    (funcall command)
    (session-await what (lambda () (/= before (buffer-chars-modified-tick))))
    (session-text)))

(defun session-hover ()
  "What is shown of the name at point."
  (let (shown)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq shown (or text ""))))
    (substring-no-properties (session-await "a hover" (lambda () shown)))))

(defun session-references ()
  "The lines and columns of the references to the name at point, in order."
  (let ((found (xref-backend-references 'eglot (xref-backend-identifier-at-point 'eglot))))
    (vconcat (sort (mapcar (lambda (one)
                             (let ((place (xref-item-location one)))
                               (with-current-buffer (marker-buffer (xref-location-marker place))
                                 (goto-char (xref-location-marker place))
                                 (vector (line-number-at-pos) (1+ (current-column))))))
                           found)
                   (lambda (a b) (< (aref a 0) (aref b 0)))))))

(defun session-diagnostic (one)
  "What flymake shows of ONE diagnostic."
  (save-excursion
    (goto-char (flymake-diagnostic-beg one))
    `((line . ,(line-number-at-pos)) (column . ,(1+ (current-column))) (message . ,(flymake-diagnostic-text one)))))

(defun session-work (file)
  "All the steps, in FILE."
  (find-file file)
  (apply #'eglot (eglot--guess-contact))
  (flymake-mode 1)
  (let ((errors (session-await "a diagnostic" (lambda () (flymake-start) (flymake-diagnostics)))))
    (session-say 'diagnostics (vconcat (mapcar #'session-diagnostic errors)))
    (goto-char (flymake-diagnostic-beg (car errors))))
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_ choices &rest _)
               (session-say 'actions (vconcat (mapcar #'car choices)))
               (caar choices))))
    (let ((last-nonmenu-event ?a)) ; the keyboard, so that a menu need not pop up
      (session-say 'repaired (session-changes "a repair" (lambda () (eglot-code-actions (point) (1+ (point)) nil t))))))
  (eglot--signal-textDocument/didChange) ; what Emacs does when it is idle, which it never is here
  (session-await "no diagnostic" (lambda () (flymake-start) (null (flymake-diagnostics))))
  (session-go "\\<total\\>")
  (session-say 'hover (session-hover))
  (session-go "\\<n\\>")
  (session-say 'hover_of_size (session-hover))
  (session-say 'renamed (session-changes "a new name" (lambda () (eglot-rename "rows"))))
  (session-go "\\<total y\\>")
  (xref-find-definitions (xref-backend-identifier-at-point 'eglot))
  (unless (= (line-number-at-pos) 4) (error "The definition is not found"))
  (session-say 'references (session-references))
  (session-say 'formatted (session-changes "a layout" #'eglot-format-buffer)))

(defun session-main ()
  "Work as the command line says."
  (let ((file (pop command-line-args-left)) (answer (pop command-line-args-left)))
    (condition-case problem (session-work file)
      (error (session-say 'problem (error-message-string problem))))
    (let ((coding-system-for-write 'utf-8))
      (write-region (json-encode session-said) nil answer nil 'quiet))
    (set-buffer-modified-p nil)))

(session-main)
