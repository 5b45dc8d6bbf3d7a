-- One module for each loss: a row names the class, the op, and the op's options with PyTorch's defaults.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local reader = require("lunagrad.arguments").reader

local rows = {
  {"MSELoss", "mse_loss", {"reduction", "mean"}},
  {"CrossEntropyLoss", "cross_entropy", {"weight"}, {"ignore_index", -100}, {"reduction", "mean"},
    {"label_smoothing", 0}},
}

local losses = {}

for _, row in ipairs(rows) do
  local name, op, options = row[1], row[2], table.pack(table.unpack(row, 3))
  local Loss = class(name)
  local read = reader(name, table.unpack(options))

  function Loss:init(...)
    self.options = read(...)
  end

  function Loss:forward(input, target)
    return core[op](input, target, self.options)
  end

  function Loss:extra_repr()
    local parts = {}
    for _, option in ipairs(options) do
      local value = self.options[option[1]]
      if value ~= option[2] then parts[#parts + 1] = ("%s = %s"):format(option[1], tostring(value)) end
    end
    return table.concat(parts, ", ")
  end

  losses[name] = Loss
end

return losses
