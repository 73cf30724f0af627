;;; In: two files on the command line. The first is {file: [[line, column], ...]}.
;;; Out: the second, {file: [face, ...]}; a face that the text does not have is "".

(require 'json)
(setq enable-local-variables nil)

(defun answer (file positions)
  "The faces at POSITIONS of FILE."
  (with-current-buffer (find-file-noselect file)
    (unless (eq major-mode 'axon-mode) (error "%s is in %s" file major-mode))
    (font-lock-mode 1)
    (font-lock-ensure)
    (mapcar (lambda (at)
              (goto-char (point-min))
              (forward-line (elt at 0))
              (let ((face (get-text-property (+ (point) (elt at 1)) 'face)))
                (format "%s" (or (if (consp face) (car face) face) ""))))
            positions)))

(let* ((asked (pop command-line-args-left)) (said (pop command-line-args-left)) (json-object-type 'alist) (json-key-type 'string)
       (answers (mapcar (lambda (one) (cons (car one) (vconcat (answer (car one) (cdr one))))) (json-read-file asked))))
  (with-temp-file said (insert (json-encode answers))))
