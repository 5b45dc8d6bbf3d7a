-- Linear layers that the ranks share.
--   ShardedLinear: each rank has its rows of the weight and its own samples. The weight is gathered for forward and
--   backward, its gradient is averaged over the ranks.
--   ColumnParallelLinear: each rank has its rows of the weight and computes its part of the outputs, of the same
--   samples.
--   RowParallelLinear: each rank has its columns of the weight and computes its part of the sum, from its part of the
--   inputs.
-- After ColumnParallelLinear and RowParallelLinear all ranks compute the same loss: gradients are as in one process,
-- and are not averaged.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local fully_shard = require "lunagrad.distributed.fully_shard"
local Linear = require "lunagrad.nn.linear"
local reader = require("lunagrad.arguments").reader
local shards = require "lunagrad.shards"

local world, fail = core._world, core._fail
local layers = {}

function layers.ShardedLinear(...) return fully_shard(Linear(...)) end

-- --- what crosses the ranks ---

local function op(name, forward, backward)
  return function(x)
    return (core.custom_op {
      name = name,
      forward = function(_, value) return forward(value) end,
      backward = function(_, gradient) return backward(gradient) end,
    }(x))
  end
end

local function add_up(x) return (world.wait(world.all_reduce_(x:clone(), "sum"))) end
local function same(x) return x:detach() end

-- The identity. Each rank computes its part of the outputs from x, so the gradient is the sum of all ranks' gradients.
local spread = op("to_ranks", same, add_up)
-- The sum of all ranks' parts.
local sum = op("from_ranks", add_up, same)

-- This rank's part of the last dim.
local function own_part(x, layout)
  return x:narrow(-1, math.max(1, math.min(layout.first, layout.rows)), layout.count)
end

local function whole(x, layout)
  return shards.whole(x:movedim(-1, 1), {shape = {layout.rows, table.unpack(x:size(), 1, x:dim() - 1)}}):movedim(1, -1)
end

local function gathered(x, layout)
  return op("gather_outputs", function(value) return whole(value, layout) end,
    function(gradient) return own_part(gradient, layout):clone() end)(x)
end

local function parted(x, layout)
  return op("part_inputs", function(value) return own_part(value, layout):clone() end,
    function(gradient) return whole(gradient, layout) end)(x)
end

-- --- layers ---

local function open()
  if not world.is_open() then require("lunagrad.distributed").init() end
end

-- A whole layer with the values of rank 0.
local function whole_layer(a)
  open()
  local layer = Linear(a.in_features, a.out_features, {bias = a.bias, device = a.device, dtype = a.dtype})
  for _, x in ipairs(layer:parameters()) do world.wait(world.broadcast_(x:detach(), 0)) end
  return layer
end

local function describe(self)
  return ("%d, %d%s"):format(self.in_features, self.out_features, self.bias and "" or ", bias = false")
end

local function check_last(self, x, wanted)
  if x:size(-1) ~= wanted then
    fail(("%s: a last dim of %d expected (got shape [%s])"):format(self.__name, wanted, table.concat(x:size(), ", ")))
  end
end

-- ColumnParallelLinear(in_features, out_features, {bias, gather_output}): y = x W^T + b; each rank computes its part of
-- the outputs. With gather_output every rank gets all outputs, otherwise only its part, as a RowParallelLinear takes
-- it.
local Column = class("ColumnParallelLinear")
local read_column = reader("ColumnParallelLinear", "in_features", "out_features", {"bias", true}, {"gather_output", true},
  {"device"}, {"dtype"})

function Column:init(...)
  local a = read_column(...)
  self.in_features, self.out_features, self.gather_output = a.in_features, a.out_features, a.gather_output
  local layer = whole_layer(a)
  self._layout = shards.layout({a.out_features, a.in_features})
  self.weight = shards.rows(layer.weight, self._layout):requires_grad_()
  if a.bias then self.bias = shards.rows(layer.bias, shards.layout {a.out_features}):requires_grad_() end
end

function Column:forward(x)
  check_last(self, x, self.in_features)
  local y = core.linear(spread(x), self.weight, self.bias)
  return self.gather_output and gathered(y, self._layout) or y
end

Column.extra_repr = describe
layers.ColumnParallelLinear = Column

-- RowParallelLinear(in_features, out_features, {bias, input_is_parallel}): y = sum over the ranks of x_r W_r^T, + b.
-- With input_is_parallel x is this rank's part of the last dim, as ColumnParallelLinear returns it; otherwise x is
-- whole.
local Row = class("RowParallelLinear")
local read_row = reader("RowParallelLinear", "in_features", "out_features", {"bias", true}, {"input_is_parallel", false},
  {"device"}, {"dtype"})

function Row:init(...)
  local a = read_row(...)
  self.in_features, self.out_features, self.input_is_parallel = a.in_features, a.out_features, a.input_is_parallel
  local layer = whole_layer(a)
  self._layout = shards.layout {a.in_features}
  self.weight = own_part(layer.weight:detach(), self._layout):clone():requires_grad_()
  self.bias = a.bias and layer.bias or nil
end

function Row:forward(x)
  check_last(self, x, self.input_is_parallel and self._layout.count or self.in_features)
  if not self.input_is_parallel then x = parted(x, self._layout) end
  local y = sum(core.linear(x, self.weight))
  return self.bias and y + self.bias or y
end

Row.extra_repr = describe
layers.RowParallelLinear = Row

return layers
