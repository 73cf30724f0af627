;;; A user at work in two files, of which one imports the other: what one says of the other, what neither has on the disk yet.

;; In: the path of main.axn, rows.axn beside it, and that of a file for the answer.  Out: what each step showed or left, by steps.el.

(require 'steps (expand-file-name "steps" (file-name-directory load-file-name)))

(defun workspace-candidates ()
  "What is offered at point."
  (pcase-let ((`(,begin ,end ,table . ,_) (eglot-completion-at-point)))
    (vconcat (mapcar #'substring-no-properties (all-completions (buffer-substring begin end) table)))))

(defun workspace-outline ()
  "The declarations that imenu lists."
  (vconcat (mapcan (lambda (group) (if (consp (cdr group)) (mapcar #'car (cdr group)) (list (car group)))) (eglot-imenu))))

(defun workspace-replace (from to)
  "Put TO where FROM is first, and tell the server."
  (steps-go (regexp-quote from))
  (replace-match to t t)
  (eglot--signal-textDocument/didChange))

(defun workspace-work (file)
  "All the steps, in FILE and what it imports."
  (steps-open file)
  (let ((main (current-buffer)) rows)
    (steps-go "total y")
    (steps-await-check)
    (xref-find-definitions (xref-backend-identifier-at-point 'eglot))
    (steps-say 'definition (steps-place))
    (setq rows (current-buffer))
    (steps-say 'symbols (steps-places (xref-backend-apropos 'eglot "tot")))
    (steps-say 'outline (workspace-outline))
    (steps-go "p\\.a")
    (steps-await-check)
    (let* (found (xref-show-xrefs-function (lambda (fetcher _) (setq found (funcall fetcher)))))
      (eglot-find-typeDefinition) ; it lists them, also where there is one
      (steps-say 'type (seq-take (aref (steps-places found) 0) 2)))
    ;; The importer has an error as soon as the text that it imports has changed, on the disk or not.
    (workspace-replace "f32[n, m]) : f32[n] = for i" "f64[n, m]) : f64[n] = for i")
    (switch-to-buffer main)
    (steps-say 'broken (vconcat (steps-await "an error in the importer" #'steps-errors)))
    (switch-to-buffer rows)
    (workspace-replace "f64[n, m]) : f64[n] = for i" "f32[n, m]) : f32[n] = for i")
    (switch-to-buffer main)
    (steps-await "no error" (lambda () (null (steps-errors))))
    (steps-go "total y")
    (steps-say 'renamed (steps-changes "a new name" (lambda () (eglot-rename "sums"))))
    (steps-say 'renamed_there (with-current-buffer rows
                                 (eglot--signal-textDocument/didChange)
                                 (steps-text)))
    (goto-char (point-max))
    (insert "\nfun again x = rows.")
    (eglot--signal-textDocument/didChange)
    (steps-say 'candidates (workspace-candidates))))

(steps-main #'workspace-work)
