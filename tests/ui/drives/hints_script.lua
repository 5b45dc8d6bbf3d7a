-- Twelve causes of a NaN or Inf, one per step: for hints.lua.
local lg = require "lunagrad"
local function leaf(values, dtype) return lg.tensor(values, {requires_grad = true, dtype = dtype or "f32"}) end
local hidden = lg.tensor {{true, true}, {false, false}}
local causes = {
  function() return leaf {1., 0.}:log() end,
  function() return leaf {-1., 1.}:log() end,
  function() return leaf {0., 1.} / lg.tensor {0., 1.} end,
  function() return leaf {1., 1.} / lg.tensor {0., 1.} end,
  function() return leaf {1., -1e-9}:sqrt() end,
  function() return leaf {100., 1.}:exp() end,
  function() return leaf {{1., 2.}, {3., 4.}}:masked_fill(hidden, -math.huge):softmax(-1) end,
  function() return leaf {-2., 4.} ^ 0.5 end,
  function() return leaf {-math.huge} - lg.tensor {-math.huge} end,
  function() return leaf {math.huge} * lg.tensor {0.} end,
  function() return leaf({300., 1.}, "f16"):square() end,
  function() return leaf {4., 0.}:sqrt():sum():backward() end,
}
for step in lg.run.steps(#causes) do causes[step]() end
