-- Products and convolutions with an activation as a separate call and within the layer: `lunagrad run --device vulkan
-- tests/bench/activations.lua`. Prints both times in ms; fails where a bit of the results differs.
local lg = require "lunagrad"
local bench = require "lunagrad.bench"
local nn, F = lg.nn, lg.nn.functional

local function milliseconds(call)
  for _ = 1, 3 do call() end
  lg.synchronize()
  return bench.time(call, 0.2, 3) * 1e3
end

-- make(options) -> a layer
local function compare(name, activation, make, x)
  local apart, within = make{}, make{activation = activation}
  within:load_state_dict(apart:state_dict())
  lg.no_grad(function()
    assert(lg.equal(F[activation](apart(x)), within(x)), name .. ": the results differ")
    print(("%-10s %-24s apart %8.3f   within %8.3f"):format(activation, name, milliseconds(function() return F[activation](apart(x)) end),
      milliseconds(function() return within(x) end)))
  end)
end

for _, activation in ipairs{"relu", "tanh", "sigmoid"} do
  for _, s in ipairs{{1000000, 256, 128}, {100000, 128, 128}, {2048, 2048, 2048}, {2050, 1000, 1030}, {256, 64, 64}, {16, 4096, 64}} do
    local rows, ins, outs = table.unpack(s)
    compare("linear " .. table.concat(s, " "), activation, function(options) return nn.Linear(ins, outs, options):to(lg.device()) end,
      lg.randn(rows, ins))
  end
  for _, s in ipairs{{32, 64, 56, 64}, {8, 3, 224, 32}, {4, 16, 9, 20}} do
    local batch, ins, side, outs = table.unpack(s)
    compare("conv2d " .. table.concat(s, " "), activation, function(options)
      options.padding = 1
      return nn.Conv2d(ins, outs, 3, options):to(lg.device())
    end, lg.randn(batch, ins, side, side))
  end
end
