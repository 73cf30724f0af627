-- A user at work: an error is seen, its repair applied, types are read, a size is renamed, the text is formatted and written.
--
-- In: the buffer of a program. Out: what each step showed or left, by steps.lua.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h") .. "/steps.lua")

steps.work(function(said)
  steps.await("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
  said.diagnostics = vim.tbl_map(function(one)
    return { line = one.lnum + 1, column = one.col + 1, message = one.message, code = one.code }
  end, vim.diagnostic.get(0))

  vim.ui.select = function(actions, options, choose)
    said.actions = vim.tbl_map(options.format_item, actions)
    choose(actions[1], 1)
  end
  vim.fn.cursor(said.diagnostics[1].line, said.diagnostics[1].column)
  said.repaired = steps.changes("a repair", vim.lsp.buf.code_action)
  steps.await("no diagnostic", function() return #vim.diagnostic.get(0) == 0 end)

  steps.go([[\<total\>]])
  said.hover = steps.hover()
  steps.go([[\<n\>]])
  said.hover_of_size = steps.hover()
  steps.go([[\<total \zsy\>]])
  said.signature = steps.shown("a signature", vim.lsp.buf.signature_help)
  steps.go([[\<n\>]])
  said.renamed = steps.changes("a new name", function() vim.lsp.buf.rename("rows") end)

  steps.go([[\<total y\>]])
  said.definition = steps.arrives("a definition", vim.lsp.buf.definition)
  said.references = steps.listed("references", vim.lsp.buf.references, function(one)
    return { one.lnum, vim.fn.charidx(vim.fn.getbufline(one.bufnr, one.lnum)[1], one.col - 1) + 1 }
  end)

  said.formatted = steps.changes("a layout", vim.lsp.buf.format or vim.lsp.buf.formatting_sync)
  vim.cmd("write")
end)
