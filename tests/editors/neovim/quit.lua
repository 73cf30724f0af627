-- The editor is left while the server has a long file to check.
--
-- In: the buffer of that file. Out: that there was a server, in the file g:said.
vim.wait(60000, function() return #vim.lsp.buf_get_clients() > 0 and vim.lsp.buf_get_clients()[1].initialized end, 5)
vim.fn.writefile({ vim.json.encode({ server = #vim.lsp.buf_get_clients() > 0 }) }, vim.g.said)
