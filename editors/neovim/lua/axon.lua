-- The language server of Axon in Neovim, from 0.7 on.
--
-- In: a buffer of the file type axon. Out: a client of `etcc lsp` that is attached to it.
-- Invariant: the buffers below one root share one server.
local M = {}

--- What `setup` replaces.
M.options = {
  --- The compiler: a name that is looked up in PATH, or a path.
  path = "etcc",
  --- Arguments of the language server, behind `lsp`.
  arguments = {},
  --- Called as in `vim.lsp.start_client`, with the client and the buffer.
  on_attach = nil,
  --- What the editor offers to the server; nil for Neovim's own.
  capabilities = nil,
  --- Show inferred types and sizes between the text, where Neovim can.
  inlay_hints = true,
  --- Show `run` and `graph` above entries and `test` above tests; `vim.lsp.codelens.run` does what the one in the cursor's line says.
  lenses = true,
}

--- Clients by their roots, for Neovim without `vim.lsp.start`.
local clients = {}

function M.setup(options)
  M.options = vim.tbl_extend("force", M.options, options or {})
end

--- The directory of the repository around a file, else that of the file.
local function root_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  local repository = vim.fn.finddir(".git", vim.fn.escape(folder, " ,;\\") .. ";")
  if repository == "" then
    return folder
  end
  return vim.fn.fnamemodify(repository, ":p:h:h")
end

--- Lenses of a buffer, now and whenever its declarations may have changed.
local function show_lenses(buffer)
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
    return
  end
  local function refresh()
    if vim.api.nvim_get_current_buf() == buffer then -- it knows no other
      vim.lsp.codelens.refresh()
    end
  end
  vim.api.nvim_create_autocmd({ "BufEnter", "BufWritePost", "InsertLeave" }, { buffer = buffer, callback = refresh })
  refresh()
end

local function on_attach(client, buffer)
  if M.options.inlay_hints and vim.lsp.inlay_hint and client.server_capabilities.inlayHintProvider then
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
  end
  if M.options.lenses and client.server_capabilities.codeLensProvider then
    show_lenses(buffer)
  end
  if M.options.on_attach then
    M.options.on_attach(client, buffer)
  end
end

local function configuration(buffer)
  return {
    name = "axon",
    cmd = vim.list_extend({ M.options.path, "lsp" }, M.options.arguments),
    root_dir = root_of(vim.api.nvim_buf_get_name(buffer)),
    capabilities = M.options.capabilities,
    on_attach = on_attach,
  }
end

--- Starts the server of a root, or finds the one that runs.
local function client_of(config)
  local known = clients[config.root_dir]
  if known and vim.lsp.get_client_by_id(known) then
    return known
  end
  clients[config.root_dir] = vim.lsp.start_client(config)
  return clients[config.root_dir]
end

function M.attach(buffer)
  if vim.bo[buffer].buftype ~= "" then
    return
  end
  local config = configuration(buffer)
  if vim.fn.executable(config.cmd[1]) == 0 then
    vim.notify_once("axon: there is no `" .. config.cmd[1] .. "` to run", vim.log.levels.WARN)
    return
  end
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  local client = client_of(config)
  if client then
    vim.lsp.buf_attach_client(buffer, client)
  end
end

--- Runs the compiler in a terminal below. Arguments are passed as they are: no shell reads them.
local function in_terminal(arguments)
  vim.cmd("botright new")
  vim.fn.termopen(vim.list_extend({ M.options.path }, arguments))
end

--- `x=[1, 2] y=3` as `x=[1, 2]` and `y=3`: a value goes on up to the next name.
local function split(values)
  local separated = vim.fn.substitute(vim.trim(values), [[\s\+\ze\h\w*=]], "\n", "g")
  return vim.split(separated, "\n", { trimempty = true })
end

-- What the lenses above entries and tests do; their arguments are the file's address and the declaration's name.
vim.lsp.commands["axon.run"] = function(command)
  local file, name = vim.uri_to_fname(command.arguments[1]), command.arguments[2]
  vim.ui.input({ prompt = "NAME=VALUE for each parameter of " .. name .. ": " }, function(values)
    if values then
      in_terminal(vim.list_extend({ "run", file, name }, split(values)))
    end
  end)
end
vim.lsp.commands["axon.test"] = function(command)
  in_terminal({ "test", vim.uri_to_fname(command.arguments[1]) })
end

return M
