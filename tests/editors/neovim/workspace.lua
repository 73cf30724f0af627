-- A user at work in two files, of which one imports the other: what one says of the other, what neither has on the disk yet.
--
-- In: the buffer of main.axn, rows.axn beside it. Out: what each step showed or left, by steps.lua.
local steps = dofile(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h") .. "/steps.lua")

local function entry(one)
  return { vim.fn.fnamemodify(vim.fn.bufname(one.bufnr), ":t"), one.lnum, one.text }
end

--- What is offered behind the text of the cursor's line, once the name is among it: Neovim tells the server some time later what
--- it changed in a buffer that is not shown.
local function candidates(name)
  local asked
  vim.fn.mode = function() return "i" end -- a script does not get into the mode where one types
  vim.fn.complete = function(_, matches) asked = matches end
  vim.o.virtualedit = "onemore"
  vim.cmd("normal! $l")
  local offered
  steps.await("candidates with " .. name, function()
    asked = nil
    vim.lsp.omnifunc(1, "")
    vim.wait(1000, function() return asked ~= nil end)
    offered = vim.tbl_map(function(one) return one.word end, asked or {})
    return vim.tbl_contains(offered, name)
  end)
  return offered
end

--- What the lens in the cursor's line runs: the arguments of the compiler.
local function lens(name)
  steps.await("a lens", function() return #vim.lsp.codelens.get(0) > 0 end)
  steps.go(name)
  local ran
  vim.fn.termopen = function(command) ran = command end
  vim.ui.input = function(_, answer) answer("y=[1, 2] z=3") end
  vim.ui.select = function(choices, _, choose) choose(choices[1], 1) end -- an entry has two
  vim.lsp.codelens.run()
  vim.cmd("close") -- the window of the terminal
  return vim.list_slice(ran, 2)
end

--- The lines where the name at the cursor is marked.
local function highlights()
  vim.lsp.buf.document_highlight()
  local space = vim.api.nvim_create_namespace("vim_lsp_references")
  steps.await("highlights", function() return #vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {}) > 0 end)
  local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {})
  vim.lsp.buf.clear_references()
  return vim.tbl_map(function(mark) return { mark[2] + 1, mark[3] + 1 } end, marks)
end

local function replace(from, to)
  vim.fn.setline(1, vim.tbl_map(function(line) return (line:gsub(from, to)) end, vim.fn.getline(1, "$")))
end

local function errors()
  return vim.tbl_map(function(one) return { one.lnum + 1, one.message } end, vim.diagnostic.get(0))
end

steps.work(function(said)
  vim.o.hidden = true
  steps.await("the server", function() return #vim.lsp.buf_get_clients() > 0 and vim.lsp.buf_get_clients()[1].initialized end)
  said.run = lens("main")
  said.test = lens("a row")

  steps.go([[total y]])
  steps.await_check()
  said.definition = steps.arrives("a definition", vim.lsp.buf.definition)
  steps.go([[both]])
  steps.await_check()
  steps.go([[total (x]])
  said.symbols = steps.listed("symbols", function() vim.lsp.buf.workspace_symbol("tot") end, entry)
  said.callers = steps.listed("callers", vim.lsp.buf.incoming_calls, entry)
  steps.go([[both]])
  said.callees = steps.listed("callees", vim.lsp.buf.outgoing_calls, entry)
  steps.go([[p\.a]])
  said.type = steps.arrives("the type", vim.lsp.buf.type_definition)
  said.outline = steps.listed("an outline", vim.lsp.buf.document_symbol, entry)
  steps.go([[m\] =]])
  said.highlights = highlights()

  -- The importer has an error as soon as the text that it imports has changed, on the disk or not.
  replace("f32%[n, m%]%) : f32%[n%] = for i", "f64[n, m]) : f64[n] = for i")
  vim.cmd("buffer main.axn")
  steps.await("an error in the importer", function() return #errors() > 0 end)
  said.broken = errors()
  vim.cmd("buffer rows.axn")
  vim.cmd("undo")
  vim.cmd("buffer main.axn")
  steps.await("no error", function() return #errors() == 0 end)

  steps.go([[total y]])
  steps.changes("a new name", function() vim.lsp.buf.rename("sums") end)
  said.renamed = steps.text()
  vim.cmd("buffer rows.axn")
  said.renamed_there = steps.text()
  vim.cmd("buffer main.axn")
  vim.fn.append(vim.fn.line("$"), { "", "fun again x = rows." })
  vim.cmd("normal! G")
  said.candidates = candidates("sums")
end)
