;;; The editor is left while the server has a long file to check.

;; In: the path of that file, and that of a file for the answer.  Out: in that file, that there was a server.

(require 'steps (expand-file-name "steps" (file-name-directory load-file-name)))

(steps-main (lambda (file)
              (steps-open file)
              ;; The server asks for one thing as it starts.  An Emacs that is left while it answers complains of itself.
              (steps-await "the answer to the server's request"
                           (lambda () (< 0 (hash-table-count (eglot--file-watches (eglot-current-server))))))
              (steps-say 'server (if (eglot-current-server) t :json-false))))
