-- A user at work: an error is seen, its repair applied, types are read, a size is renamed, the text is formatted.
--
-- In: the buffer of a program, and g:said. Out: in the file g:said, as JSON, what each step showed or left.
-- Invariant: every step waits for what it wants to see, and says so when that never comes.
local said = {}

local function await(what, condition)
  if not vim.wait(60000, condition, 20) then
    error("never seen: " .. what)
  end
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

--- The cursor goes to the first place of a pattern.
local function go(pattern)
  vim.fn.cursor(1, 1)
  assert(vim.fn.search(pattern, "cW") > 0, pattern)
end

--- What a command of the client does to the text.
local function changes(what, command)
  local before = vim.b.changedtick
  command()
  await(what, function() return vim.b.changedtick ~= before end)
  return text()
end

--- The text of the window that floats above the others, which is then closed.
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      return table.concat(lines, "\n"), window
    end
  end
end

--- What a command of the client shows in such a window.
local function shown_by(what, command)
  command()
  await(what, function() return floating() ~= nil end)
  local shown, window = floating()
  vim.api.nvim_win_close(window, true)
  return shown
end

local function session()
  await("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
  for _, one in ipairs(vim.diagnostic.get(0)) do
    said.diagnostics = said.diagnostics or {}
    table.insert(said.diagnostics, { line = one.lnum + 1, column = one.col + 1, message = one.message, code = one.code })
  end

  vim.ui.select = function(actions, options, choose)
    said.actions = vim.tbl_map(options.format_item, actions)
    choose(actions[1], 1)
  end
  vim.fn.cursor(said.diagnostics[1].line, said.diagnostics[1].column)
  said.repaired = changes("a repair", vim.lsp.buf.code_action)
  await("no diagnostic", function() return #vim.diagnostic.get(0) == 0 end)

  go([[\<total\>]])
  said.hover = shown_by("a hover", vim.lsp.buf.hover)
  go([[\<n\>]])
  said.hover_of_size = shown_by("a hover", vim.lsp.buf.hover)
  said.renamed = changes("a new name", function() vim.lsp.buf.rename("rows") end)

  go([[\<total \zsy\>]])
  said.signature = shown_by("a signature", vim.lsp.buf.signature_help)

  go([[\<total y\>]])
  vim.lsp.buf.definition()
  await("a definition", function() return vim.fn.getline("."):match("^fun total") end)
  vim.lsp.buf.references()
  await("references", function() return #vim.fn.getqflist() > 0 end)
  said.references = vim.tbl_map(function(one) return { one.lnum, one.col } end, vim.fn.getqflist())
  vim.cmd("cclose")

  said.formatted = changes("a layout", vim.lsp.buf.format or vim.lsp.buf.formatting_sync)
end

local fine, problem = xpcall(session, debug.traceback)
said.problem = not fine and problem or nil
vim.fn.writefile({ vim.json.encode(said) }, vim.g.said)
