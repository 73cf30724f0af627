;;; What the scripts of sessions share: steps of a user, each of which waits for what it wants to see.

;; In: the path of a program, and that of a file for the answer.  Out: in that file, as JSON, what each step showed or left, and
;; `problem' where one failed.
;; Invariant: a step that never comes to its end says which one it is.

(require 'eglot)
(require 'flymake)
(require 'json)
(require 'xref)

(setq eglot-sync-connect 60
      eglot-autoshutdown t
      eglot-confirm-server-initiated-edits nil)

(defvar steps-said nil "What is known so far, as an alist.")

(defun steps-say (key value)
  "Let VALUE be what is said of KEY."
  (push (cons key value) steps-said))

(defun steps-await (what condition)
  "Wait for WHAT, until CONDITION holds, and return its value."
  (let ((end (+ (float-time) 60)) found)
    (while (not (setq found (funcall condition)))
      (when (> (float-time) end) (error "Never seen: %s" what))
      (accept-process-output nil 0.02))
    found))

(defun steps-open (file)
  "Visit FILE, with the language server."
  (find-file file)
  (unless (eglot-current-server) (apply #'eglot (eglot--guess-contact)))
  (flymake-mode 1))

(defun steps-errors ()
  "What flymake shows, as lines, columns and messages; it is told of changes now, since Emacs is never idle here."
  (eglot--signal-textDocument/didChange)
  (flymake-start)
  (mapcar (lambda (one)
            (save-excursion
              (goto-char (flymake-diagnostic-beg one))
              `((line . ,(line-number-at-pos)) (column . ,(1+ (current-column))) (message . ,(flymake-diagnostic-text one)))))
          (flymake-diagnostics)))

(defun steps-go (pattern)
  "Go to the first place of PATTERN."
  (goto-char (point-min))
  (re-search-forward pattern)
  (goto-char (match-beginning 0)))

(defun steps-text ()
  "The text of the buffer."
  (buffer-substring-no-properties (point-min) (point-max)))

(defun steps-changes (what command)
  "What the text is after WHAT, which COMMAND does."
  (let ((before (buffer-chars-modified-tick)))
    (funcall command)
    (steps-await what (lambda () (/= before (buffer-chars-modified-tick))))
    (steps-text)))

(defun steps-place ()
  "Where point is: the name of the file and the line."
  (vector (file-name-nondirectory buffer-file-name) (line-number-at-pos)))

(defun steps-shown (what function)
  "The text WHAT that FUNCTION, one of eldoc's, shows of point."
  (let (shown)
    (funcall function (lambda (text &rest _) (setq shown (or text ""))))
    (substring-no-properties (steps-await what (lambda () shown)))))

(defun steps-await-check ()
  "Wait until the server knows what it has been told of: until then it has little to say of the name at point."
  (steps-await "what is known of a name"
               (lambda ()
                 (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover (eglot--TextDocumentPositionParams)))))

(defun steps-places (found)
  "The file, line and character in it of each of FOUND, which xref lists, in order."
  (vconcat (sort (mapcar (lambda (one)
                           (let ((place (xref-location-marker (xref-item-location one))))
                             (with-current-buffer (marker-buffer place)
                               (goto-char place)
                               (vconcat (steps-place) (vector (1+ (- (point) (line-beginning-position))))))))
                         found)
                 (lambda (a b) (< (aref a 1) (aref b 1))))))

(defun steps-main (work)
  "Do WORK on the file that the command line names."
  (let ((file (pop command-line-args-left)) (answer (pop command-line-args-left)))
    (condition-case problem (funcall work file)
      (error (steps-say 'problem (error-message-string problem))))
    (let ((coding-system-for-write 'utf-8))
      (write-region (json-encode steps-said) nil answer nil 'quiet))
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (set-buffer-modified-p nil)))))

(provide 'steps)
