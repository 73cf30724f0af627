;;; In: programs without indentation on the command line. Out: the same files, indented.

(while command-line-args-left
  (with-current-buffer (find-file-noselect (pop command-line-args-left))
    (indent-region (point-min) (point-max))
    (let ((make-backup-files nil)) (save-buffer))))
