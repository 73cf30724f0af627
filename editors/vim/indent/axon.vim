" Vim indent file
" Language: Axon
"
" In: the lines before a line, and its first token. Out: the column where `etcc fmt` would begin it.
"
" The tokens of the declaration so far are kept as a stack of frames, each something that is open: the declaration, a
" bracket, a `let`, an `if`, the expression behind one of these. A frame's `base` is the column that its lines are
" indented from; README.md of the folder above says the rules in words.

if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=AxonIndent(v:lnum)
setlocal indentkeys=!^F,o,O,0=in,0=then,0=else,0=where,0=let,0=with,0=fun,0=entry,0=val,0=type,0=prim,0=import,0=private
setlocal indentkeys+=0=test,0=layout,0=mesh,0},0),0],0\,,0+,0*,0/,0<\|>,0=->,0=\|>
setlocal nolisp nosmartindent autoindent
let b:undo_indent = 'setlocal indentexpr< indentkeys< lisp< smartindent< autoindent<'

if exists('*AxonIndent')
  finish
endif

let s:token = '--.*$\|"\%(\\.\|[^"\\]\)*"\?\|''\h\w*\|\d\w*\%(\.\d\w*\)\?\|\h\w*'
      \ . '\|=>\|->\|<=\|>=\|==\|!=\|&&\|||\||>\|:>\|\.\.\|\S'
let s:declaration = '^\s*\%(' . join(g:axon#words#declarations, '\|') . '\)\>'

" The tokens of a line, comments left out: [text, column] each.
function! s:Tokens(text) abort
  let tokens = []
  let [text, begin, at] = matchstrpos(a:text, s:token)
  while begin >= 0 && text !~# '^--'
    call add(tokens, [text, begin])
    let [text, begin, at] = matchstrpos(a:text, s:token, at)
  endwhile
  return tokens
endfunction

" Can a value end with this token?
function! s:EndsOperand(token) abort
  if a:token =~# '^\h'
    return index(g:axon#words#reserved, a:token) < 0 || index(g:axon#words#constants, a:token) >= 0
  endif
  return a:token =~# '^[0-9"'']\|^[])}]$'
endfunction

function! s:Push(stack, kind, base) abort
  call add(a:stack, {'kind': a:kind, 'base': a:base, 'head': 0, 'argument': 0})
  return a:stack[-1]
endfunction

" Leaves what is open inside of the innermost frame of these kinds; 0 when a bracket comes before it.
function! s:Leave(stack, kinds) abort
  let at = len(a:stack) - 1
  while at > 0 && index(a:kinds, a:stack[at].kind) < 0 && a:stack[at].kind !~# '^[([{]$'
    let at -= 1
  endwhile
  if index(a:kinds, a:stack[at].kind) < 0
    return 0
  endif
  call remove(a:stack, at + 1, -1)
  return 1
endfunction

function! s:Close(stack) abort
  while len(a:stack) > 1
    if remove(a:stack, -1).kind =~# '^[([{]$'
      return
    endif
  endwhile
endfunction

" What follows goes on from `base`, or from its own column when it stands on this line.
function! s:Expression(stack, base, next) abort
  call s:Push(a:stack, 'expression', empty(a:next) ? a:base : a:next[1])
endfunction

function! s:Open(stack, token, column, previous, first) abort
  let enclosing = a:stack[-1].base
  let frame = s:Push(a:stack, a:token, a:column + (a:token ==# '{' ? 0 : 1))
  let frame.argument = !a:first && s:EndsOperand(a:previous)
  let frame.enclosing = enclosing
endfunction

" `=>`: the body of a function that is an argument goes on from the line, any other from the frame.
function! s:Arrow(stack) abort
  if a:stack[-1].kind ==# 'function'
    call remove(a:stack, -1)
  endif
  let top = a:stack[-1]
  call s:Push(a:stack, 'expression', (top.argument ? top.enclosing : top.base) + 2)
endfunction

function! s:Equals(stack) abort
  let top = a:stack[-1]
  if top.head
    let top.head = 0
    call s:Push(a:stack, 'expression', top.base + 2)
  elseif top.kind ==# '{'
    call s:Push(a:stack, 'expression', top.base + 4)
  endif
endfunction

function! s:Let(stack, column, previous) abort
  if !s:EndsOperand(a:previous) || !s:Leave(a:stack, ['let'])
    call s:Push(a:stack, 'let', a:column)
  endif
  let a:stack[-1].head = 4
endfunction

function! s:In(stack, next) abort
  if s:Leave(a:stack, ['let'])
    let frame = remove(a:stack, -1)
    call s:Expression(a:stack, frame.base, a:next)
  endif
endfunction

function! s:Word(stack, token, column, previous, next) abort
  if index(g:axon#words#declarations, a:token) >= 0
    let a:stack[0].head = a:token ==# 'prim' || a:token ==# 'val' ? 2 : 4
  elseif a:token ==# 'let'
    call s:Let(a:stack, a:column, a:previous)
  elseif a:token ==# 'in'
    call s:In(a:stack, a:next)
  elseif a:token ==# 'if' && !(a:previous ==# 'else' && s:Leave(a:stack, ['if']))
    call s:Push(a:stack, 'if', a:column)
  elseif (a:token ==# 'then' || a:token ==# 'else') && s:Leave(a:stack, ['if'])
    call s:Expression(a:stack, a:column + 5, a:next)
  elseif a:token ==# 'for' || a:token ==# 'fn'
    call s:Push(a:stack, 'function', a:stack[-1].base)
    let a:stack[-1].head = 4
  elseif a:token ==# 'where' && a:stack[-1].head && !empty(a:next)
    let a:stack[-1].head = a:next[1] - a:stack[-1].base
  endif
endfunction

" Takes one token in. `first`: it is the first of its line; `next`: the one behind it on the line, or nothing.
function! s:Take(stack, token, column, previous, first, next) abort
  if a:token =~# '^\h'
    call s:Word(a:stack, a:token, a:column, a:previous, a:next)
  elseif a:token =~# '^[([{]$'
    call s:Open(a:stack, a:token, a:column, a:previous, a:first)
  elseif a:token =~# '^[])}]$'
    call s:Close(a:stack)
  elseif a:token ==# ','
    call s:Leave(a:stack, ['(', '[', '{'])
  elseif a:token ==# '='
    call s:Equals(a:stack)
  elseif a:token ==# '=>'
    call s:Arrow(a:stack)
  endif
endfunction

" What is open before a line, and the last token before it.
function! s:Before(lnum) abort
  let begin = a:lnum - 1
  while begin > 0 && getline(begin) !~# s:declaration
    let begin -= 1
  endwhile
  let stack = []
  call s:Push(stack, 'declaration', 0)
  let previous = ''
  for lnum in range(max([begin, 1]), a:lnum - 1)
    let tokens = s:Tokens(getline(lnum))
    for i in range(len(tokens))
      call s:Take(stack, tokens[i][0], tokens[i][1], previous, i == 0, get(tokens, i + 1, []))
      let previous = tokens[i][0]
    endfor
  endfor
  return [stack, previous]
endfunction

function! s:Column(stack, previous, token) abort
  let top = a:stack[-1]
  if a:token ==# 'in' && s:Leave(a:stack, ['let'])
    return a:stack[-1].base
  elseif a:token ==# 'let' && s:EndsOperand(a:previous) && s:Leave(a:stack, ['let'])
    return a:stack[-1].base
  elseif (a:token ==# 'then' || a:token ==# 'else') && s:Leave(a:stack, ['if'])
    return a:stack[-1].base
  elseif (a:token =~# '^\%([])},]\|else\)$' || a:previous ==# ',') && s:Leave(a:stack, ['(', '[', '{'])
    return a:stack[-1].base - (a:token =~# '^[])]$' ? 1 : 0)
  elseif top.head
    return top.base + top.head
  endif
  return top.base + (s:EndsOperand(a:previous) ? 2 : 0)
endfunction

" The first line from here on that has a token.
function! s:NextCode(lnum) abort
  let lnum = a:lnum
  while lnum <= line('$') && empty(s:Tokens(getline(lnum)))
    let lnum += 1
  endwhile
  return lnum
endfunction

function! AxonIndent(lnum) abort
  let text = getline(a:lnum)
  if text =~# '^\s*--|' || text =~# s:declaration
    return 0
  endif
  " A comment belongs to the code behind it, an empty line to nothing.
  let code = getline(text =~# '^\s*--' ? s:NextCode(a:lnum) : a:lnum)
  if code =~# s:declaration
    return 0
  endif
  let [stack, previous] = s:Before(a:lnum)
  let first = get(s:Tokens(code), 0, [''])[0]
  if first ==# '' && (previous ==# '' || s:EndsOperand(previous))
    return text =~# '^\s*--' || getline(a:lnum - 1) =~# '^\s*$' ? 0 : indent(a:lnum - 1)
  endif
  return previous ==# '' ? 0 : s:Column(stack, previous, first)
endfunction
