;;; The editor is left while the server has a long file to check.

;; In: the path of that file, and that of a file for the answer.  Out: in that file, that there was a server.

(require 'steps (expand-file-name "steps" (file-name-directory load-file-name)))

(steps-main (lambda (file)
              (steps-open file)
              (steps-say 'server (if (eglot-current-server) t :json-false))))
