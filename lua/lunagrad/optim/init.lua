-- lg.optim: optimizers, learning rate schedules and helpers.
local core = require "lunagrad.core"

local optim = {
  Optimizer = require "lunagrad.optim.optimizer",
  GradScaler = require "lunagrad.optim.grad_scaler",
  LBFGS = require "lunagrad.optim.lbfgs",
  lr_scheduler = require "lunagrad.optim.lr_scheduler",
  swa_utils = require "lunagrad.optim.swa_utils",
}

-- Each rule of runtime/optimizer/optimizers.def has a file of its name that returns a table with its class.
for _, rule in ipairs(core._optimizer_rules) do
  for name, class in pairs(require("lunagrad.optim." .. rule)) do
    optim[name] = class
    if optim.Optimizer.is_class(class) then class.rule = rule end
  end
end

-- Optimizers composed of ops, since their updates are not elementwise.
for _, file in ipairs {"adafactor", "muon", "lamb"} do
  for name, class in pairs(require("lunagrad.optim." .. file)) do optim[name] = class end
end

function optim.SparseAdam()
  core._fail("SparseAdam: there are no sparse tensors, so the gradient of nn.Embedding is dense; write lg.optim.Adam")
end

return optim
