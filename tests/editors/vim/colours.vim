" In: g:asked, a JSON file of {file: [[line, byte column], ...]}. Out: g:said, {file: [name of the group, ...]}.
let s:said = {}
syntax on
for [s:file, s:positions] in items(json_decode(join(readfile(g:asked), '')))
  execute 'edit' fnameescape(s:file)
  syntax sync fromstart
  let s:said[s:file] = map(s:positions, {_, at -> synIDattr(synID(at[0], at[1], 1), 'name')})
endfor
call writefile([json_encode(s:said)], g:said)
