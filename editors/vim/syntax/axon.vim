" Vim syntax file
" Language: Axon

if exists('b:current_syntax')
  finish
endif

syntax case match
syntax sync minlines=50

syntax match axonDelimiter /[][(){},:.]/
syntax match axonOperator /!=\|&&\|->\|:>\|<=\|==\|=>\|>=\||>\|||\|%\|\*\|+\|-\|\/\|<\|=\|>\|?\|@\||/
syntax match axonSpread /\.\./
syntax match axonShape /\(\.\.\s*\)\@<=\h\w*/
syntax match axonWildcard /\<_\>/
syntax match axonType /\<\u\w*/
syntax match axonTypeVariable /'\h\w*/
syntax match axonField /\([]A-Za-z0-9_)}]\.\)\@2<=\h\w*/
syntax match axonNumber /\<\d[0-9_]*\>/
syntax match axonNumber /\<0x[0-9A-Fa-f_]\+\>/
syntax match axonNumber /\<0b[01_]\+\>/
syntax match axonFloat /\<\d[0-9_]*\(\.\d[0-9_]*\([eE][+-]\?\d\+\)\?\|[eE][+-]\?\d\+\)\>/

" Words that mean something at certain places and are names elsewhere.
syntax match axonModifier /\(:\s*\)\@<=weights\ze\(\s*[({'*]\|\s\+[[A-Za-z_]\)/
syntax match axonModifier /\(\.\.\s*\h\w*\s\+\)\@<=into\ze\s*\[/
syntax match axonClass /\('\h\w*\s*:\s*\)\@<=\(float\|int\|num\)\>/

syntax keyword axonElement f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u32 u8 bool
syntax keyword axonKeyword as where let in for fn with
syntax keyword axonConditional if then else
syntax keyword axonBoolean true false
syntax keyword axonDeclaration fun entry val type prim import private test layout mesh nextgroup=axonDefined skipwhite
syntax match axonDefined /\<\%(\%(private\|import\|layout\|entry\|false\|where\|else\|mesh\|prim\|test\|then\|true\|type\|with\|for\|fun\|let\|val\|as\|fn\|if\|in\)\>\)\@!\h\w*/ contained

syntax region axonString start=/"/ skip=/\\./ end=/"/ oneline contains=axonEscape,axonBadEscape
syntax match axonBadEscape /\\./ contained
syntax match axonEscape /\\\([ntr"\\]\|u{\x\{1,6}}\)/ contained

syntax match axonComment /--.*$/ contains=axonTodo,@Spell
syntax match axonDoc /--|.*$/ contains=axonTodo,@Spell
syntax match axonDoc /--|\s\?>>>.*$/ contains=axonExample
syntax match axonExample /\(--|\s\?\)\@<=>>>/ contained
syntax keyword axonTodo TODO FIXME XXX contained

highlight default link axonBadEscape Error
highlight default link axonBoolean Boolean
highlight default link axonClass Type
highlight default link axonComment Comment
highlight default link axonConditional Conditional
highlight default link axonDeclaration Keyword
highlight default link axonDefined Function
highlight default link axonDelimiter Delimiter
highlight default link axonDoc SpecialComment
highlight default link axonElement Type
highlight default link axonEscape SpecialChar
highlight default link axonExample Special
highlight default link axonField Identifier
highlight default link axonFloat Float
highlight default link axonKeyword Keyword
highlight default link axonModifier StorageClass
highlight default link axonNumber Number
highlight default link axonOperator Operator
highlight default link axonShape Identifier
highlight default link axonSpread Operator
highlight default link axonString String
highlight default link axonTodo Todo
highlight default link axonType Type
highlight default link axonTypeVariable Type
highlight default link axonWildcard Special

let b:current_syntax = 'axon'
