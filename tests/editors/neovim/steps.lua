-- What the scripts of sessions share: steps of a user, each of which waits for what it wants to see.
--
-- In: a function that does the work and fills a table. Out: that table as JSON in the file g:said, with `problem` where a step failed.
-- Invariant: a step that never comes to its end says which one it is.
local M = {}

function M.await(what, condition)
  if not vim.wait(60000, condition, 20) then
    error("never seen: " .. what)
  end
end

function M.text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

--- The cursor goes to the first place of a pattern.
function M.go(pattern)
  vim.fn.cursor(1, 1)
  assert(vim.fn.search(pattern, "cW") > 0, pattern)
end

--- What a command of the client does to the text.
function M.changes(what, command)
  local before = vim.b.changedtick
  command()
  M.await(what, function() return vim.b.changedtick ~= before end)
  return M.text()
end

--- Where the cursor is: the name of the file and the line.
function M.place()
  return { vim.fn.expand("%:t"), vim.fn.line(".") }
end

--- Where a command of the client leads.
function M.arrives(what, command)
  local file, line = unpack(M.place())
  command()
  M.await(what, function() return M.place()[1] ~= file or M.place()[2] ~= line end)
  return M.place()
end

--- Waits until the server knows what it has been told of: until then it has little to say of the name at the cursor.
function M.await_check()
  M.await("what is known of a name", function()
    local answers = vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), 1000) or {}
    return vim.tbl_count(vim.tbl_filter(function(one) return one.result ~= nil end, answers)) > 0
  end)
end

--- The entries of the list that a command of the client fills, by `shown`; the list is then closed.
function M.listed(what, command, shown)
  vim.fn.setqflist({})
  command()
  M.await(what, function() return #vim.fn.getqflist() > 0 end)
  local found = vim.tbl_map(shown, vim.fn.getqflist())
  vim.cmd("cclose")
  return found
end

--- The text of the window that floats above the others.
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      return table.concat(lines, "\n"), window
    end
  end
end

--- What a command of the client shows in such a window, which is then closed.
function M.shown(what, command)
  command()
  M.await(what, function() return floating() ~= nil end)
  local found, window = floating()
  vim.api.nvim_win_close(window, true)
  return found
end

function M.hover()
  return M.shown("a hover", vim.lsp.buf.hover)
end

function M.work(session)
  local said = {}
  local fine, problem = xpcall(session, debug.traceback, said)
  said.problem = not fine and problem or nil
  vim.fn.writefile({ vim.json.encode(said) }, vim.g.said)
end

return M
