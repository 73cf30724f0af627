" Vim filetype plugin
" Language: Axon

if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:--\|,:-- commentstring=--\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal expandtab shiftwidth=2 softtabstop=2 textwidth=100
setlocal suffixesadd=.axn
setlocal include=^\\s*import
let &l:define = '^\s*\%(private\s\+\)\?\%(fun\|entry\|val\|type\|prim\|layout\|mesh\)\>'
if executable('etcc')
  setlocal formatprg=etcc\ fmt\ -
endif

let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< expandtab< shiftwidth< softtabstop<'
      \ . ' textwidth< suffixesadd< include< define< formatprg<'
