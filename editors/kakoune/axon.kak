# Axon for Kakoune: colours, indentation behind `=` and `=>`, `:format` and `:make` by the compiler, its language server.

hook global BufCreate .*\.axn %{
    set-option buffer filetype axon
}

# What kakoune-lsp is to run. Without it there is no such option.
hook global BufSetOption filetype=axon %{
    try %{
        set-option buffer lsp_servers %{
            [etcc]
            filetypes = ["axon"]
            root_globs = [".git"]
            command = "etcc"
            args = ["lsp"]
        }
    }
}

hook global WinSetOption filetype=axon %{
    require-module axon
    add-highlighter window/axon ref axon
    set-option window static_words %opt{axon_words}
    set-option window comment_line '--'
    set-option window indentwidth 2
    set-option window formatcmd 'etcc fmt -'
    set-option window makecmd 'etcc check --error-format=short'
    hook window InsertChar \n -group axon-indent axon-indent-on-new-line
    hook window ModeChange pop:insert:.* -group axon-trim-indent %{ try %{ execute-keys -draft x s ^\h+$<ret>d } }
    hook -once -always window WinSetOption filetype=.* %{
        remove-highlighter window/axon
        remove-hooks window axon-.+
        unset-option window static_words
    }
}

provide-module axon %§

declare-option -hidden str-list axon_words fun entry val type prim import private test layout mesh as where let in if then else for fn with true false f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u32 u8 bool

add-highlighter shared/axon regions
add-highlighter shared/axon/code default-region group
add-highlighter shared/axon/documentation region '--\|' '$' group
add-highlighter shared/axon/comment region '--' '$' fill comment
add-highlighter shared/axon/string region '"' '(?<!\\)(\\\\)*"|$' group

add-highlighter shared/axon/documentation/ fill documentation
add-highlighter shared/axon/documentation/ regex '^--\|\h?(>>>)' 1:meta
add-highlighter shared/axon/string/ fill string
add-highlighter shared/axon/string/ regex '\\([ntr"\\]|u\{[0-9a-fA-F]{1,6}\})' 0:value

add-highlighter shared/axon/code/ regex '!=|&&|->|:>|<=|==|=>|>=|\|>|\|\||%|\*|\+|-|/|<|=|>|\?|@|\||\.\.' 0:operator
add-highlighter shared/axon/code/ regex '\b[A-Z]\w*' 0:type
add-highlighter shared/axon/code/ regex "'[A-Za-z_]\w*" 0:type
add-highlighter shared/axon/code/ regex '\.\.\h*([A-Za-z_]\w*)' 1:variable
add-highlighter shared/axon/code/ regex '[\w\])}]\.([A-Za-z_]\w*)' 1:variable
add-highlighter shared/axon/code/ regex '\b(0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?)\b' 0:value
add-highlighter shared/axon/code/ regex '\b(fun|entry|prim|val)\h+([A-Za-z_]\w*)' 2:function
add-highlighter shared/axon/code/ regex '\b(type|layout|mesh)\h+([A-Za-z_]\w*)' 2:type
add-highlighter shared/axon/code/ regex ":\h*(weights)\b(\h*[({'*]|\h+[\[A-Za-z_])" 1:attribute
add-highlighter shared/axon/code/ regex '\.\.\h*[A-Za-z_]\w*\h+(into)\h*\[' 1:attribute
add-highlighter shared/axon/code/ regex "'[A-Za-z_]\w*\h*:\h*(float|int|num)\b" 1:type
add-highlighter shared/axon/code/ regex '\b(f8e4m3|f8e5m2|bf16|bool|f16|f32|f64|i16|i32|i64|u32|i8|u8)\b' 0:type
add-highlighter shared/axon/code/ regex '\b(private|import|layout|entry|mesh|prim|test|type|fun|val|else|then|if|where|with|for|let|as|fn|in)\b' 0:keyword
add-highlighter shared/axon/code/ regex '\b(false|true)\b' 0:value

define-command -hidden axon-indent-on-new-line %{
    evaluate-commands -draft -itersel %{
        # as the line before
        try %{ execute-keys -draft <semicolon> K <a-&> }
        # what it was indented by alone
        try %{ execute-keys -draft k x s \h+$ <ret> d }
        # two columns more behind `=` and `=>`
        try %{ execute-keys -draft k x <a-k> (=|=>)$ <ret> j i <space> <space> <esc> }
        # documentation goes on
        try %{ execute-keys -draft k x <a-k> ^--\| <ret> j i --| <space> <esc> }
    }
}

§
