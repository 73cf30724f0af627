require("axon").attach(vim.api.nvim_get_current_buf())
