autocmd BufNewFile,BufRead *.axn setfiletype axon
