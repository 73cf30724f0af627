;;; A user at work, by eglot: an error is seen, its repair applied, types are read, a size is renamed, the text is formatted and written.

;; In: the path of a program, and that of a file for the answer.  Out: what each step showed or left, by steps.el.

(require 'steps (expand-file-name "steps" (file-name-directory load-file-name)))

(defun session-work (file)
  "All the steps, in FILE."
  (steps-open file)
  (steps-say 'diagnostics (vconcat (steps-await "a diagnostic" #'steps-errors)))
  (goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_ choices &rest _)
               (steps-say 'actions (vconcat (mapcar #'car choices)))
               (caar choices))))
    (let ((last-nonmenu-event ?a)) ; the keyboard, so that a menu need not pop up
      (steps-say 'repaired (steps-changes "a repair" (lambda () (eglot-code-actions (point) (1+ (point)) nil t))))))
  (steps-await "no diagnostic" (lambda () (null (steps-errors))))
  (steps-go "\\<total\\>")
  (steps-say 'hover (steps-shown "a hover" #'eglot-hover-eldoc-function))
  (steps-go "\\<n\\>")
  (steps-say 'hover_of_size (steps-shown "a hover" #'eglot-hover-eldoc-function))
  (steps-go "y$")
  (steps-say 'signature (steps-shown "a signature" #'eglot-signature-eldoc-function))
  (steps-go "\\<n\\>")
  (steps-say 'renamed (steps-changes "a new name" (lambda () (eglot-rename "rows"))))
  (steps-go "\\<total y\\>")
  (xref-find-definitions (xref-backend-identifier-at-point 'eglot))
  (steps-say 'definition (steps-place))
  (steps-say 'references
             (vconcat (mapcar (lambda (place) (vector (aref place 1) (aref place 2)))
                              (steps-places (xref-backend-references 'eglot (xref-backend-identifier-at-point 'eglot))))))
  (steps-say 'formatted (steps-changes "a layout" #'eglot-format-buffer))
  (save-buffer))

(steps-main #'session-work)
