" Vim compiler file
" Compiler: etcc, the Axon compiler. `:compiler axon`, then `:make` checks the file and lists what it says.

if exists('current_compiler')
  finish
endif
let current_compiler = 'axon'

if exists(':CompilerSet') != 2
  command -nargs=* CompilerSet setlocal <args>
endif

CompilerSet makeprg=etcc\ check\ --error-format=short\ %:S
" Errors and warnings, then what belongs to them: notes, what is known and failing sizes.
CompilerSet errorformat=
      \%E%f:%l:%c:\ error[E%n]:\ %m,
      \%W%f:%l:%c:\ warning[E%n]:\ %m,
      \%I%f:%l:%c:\ note:\ %m,
      \%I%f:%l:%c:\ help:\ %m,
      \%I%f:%l:%c:\ known:\ %m,
      \%I%f:%l:%c:\ fails\ for:\ %m,
      \%-G%.%#
