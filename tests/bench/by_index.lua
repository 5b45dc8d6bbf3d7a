-- Times of ops with indices and of their gradients, on the default device:
--   lunagrad run tests/bench/by_index.lua --device vulkan [-- FACTOR [OP…]]
-- FACTOR (default 1) multiplies the numbers of indices. tests/bench/by_index prints the same rows beside PyTorch's:
-- with "serve" instead of a factor, a line "OP SHAPE PASS FACTOR" on standard input gives the seconds of the best call.
local lg = require "lunagrad"
local bench = require "lunagrad.bench"
local F = lg.nn.functional

-- rows: of the target; count: indices; width: columns, 0 for one dim. own: each column has its own indices, else a row
-- has one.
local shapes = {
  {name = "line", rows = 65536, count = 2^21, width = 0},
  {name = "few", rows = 16, count = 2^21, width = 0},
  {name = "edges", rows = 2^17, count = 2^20, width = 8},
  {name = "wide", rows = 2^14, count = 2^17, width = 128},
  {name = "own", rows = 2^14, count = 2^17, width = 16, own = true},
}

local function case_of(shape, factor)
  local count = math.max(1, math.floor(shape.count * factor))
  local case = {rows = math.tointeger(shape.rows), count = count, width = shape.width}
  local function sized(n) return shape.width > 0 and {n, shape.width} or {n} end
  local function ids(size) return (lg.rand(size) * case.rows):floor():clamp(0, case.rows - 1):long() end
  case.ids = ids {count}
  case.index = shape.own and ids(sized(count)) or shape.width > 0 and case.ids:unsqueeze(2):expand(count, shape.width) or case.ids
  case.target, case.source = lg.randn(sized(case.rows)), lg.randn(sized(count))
  -- Segments of count / rows elements; the last one has the rest.
  local each = count // case.rows
  case.lengths = lg.full({case.rows}, each, {dtype = "i64"})
  case.lengths[case.rows] = count - each * (case.rows - 1)
  return case
end

-- Ops that have one index for each row; the others also take an index for each element.
local whole_rows = {index_select = true, index_add = true, index_copy = true, index_reduce = true, index_put = true,
                    segment_reduce = true, embedding = true, embedding_bag = true, bincount = true, unique = true,
                    searchsorted = true}
local ops = {
  {"gather", function(c, target) return target:gather(1, c.index) end},
  {"take_along_dim", function(c, target) return target:take_along_dim(c.index, 1) end},
  {"scatter", function(c, target, source) return target:scatter(1, c.index, source) end},
  {"scatter_add", function(c, target, source) return target:scatter_add(1, c.index, source) end},
}
for _, reduce in ipairs {"sum", "prod", "mean", "amax", "amin"} do
  table.insert(ops, {"scatter_reduce_" .. reduce, function(c, target, source)
    return target:scatter_reduce(1, c.index, source, reduce)
  end})
end
for _, op in ipairs {
  {"index_select", function(c, target) return target:index_select(1, c.ids) end},
  {"index_add", function(c, target, source) return target:index_add(1, c.ids, source) end},
  {"index_copy", function(c, target, source) return target:index_copy(1, c.ids, source) end},
  {"index_reduce", function(c, target, source) return target:index_reduce(1, c.ids, source, "amax") end},
  {"index_put", function(c, target, source) return target:index_put({c.ids}, source, true) end},
  {"segment_reduce", function(c, _, source) return source:segment_reduce("max", c.lengths, 1) end},
  {"embedding", function(c, target) return F.embedding(c.ids, target) end},
  {"embedding_bag", function(c, target) return F.embedding_bag(c.ids, target, c.offsets) end},
  {"masked_select", function(c, _, source) return source:masked_select(c.mask) end},
  {"bincount", function(c) return c.ids:bincount() end},
  {"unique", function(c) return c.ids:unique() end},
  {"searchsorted", function(c) return c.sorted:searchsorted(c.numbers) end},
  {"nonzero", function(c) return c.mask:nonzero() end},
} do table.insert(ops, op) end
local without_gradient = {bincount = true, unique = true, searchsorted = true, nonzero = true}
local needs_width = {embedding = true, embedding_bag = true}

local function has_row(op, shape, pass)
  if pass == "backward" and without_gradient[op] then return false end
  if needs_width[op] and shape.width == 0 then return false end
  return not (shape.own and whole_rows[op])
end

-- The call that a row times. The operands stay the same, as the index of a graph does from layer to layer.
local function call_of(op, shape, pass, factor)
  local case = case_of(shape, factor)
  local run
  for _, entry in ipairs(ops) do
    if entry[1] == op then run = entry[2] end
  end
  if op == "embedding_bag" then case.offsets = lg.arange(0, case.count, 16) end
  if op == "masked_select" or op == "nonzero" then case.mask = case.source:gt(0.5) end
  if op == "searchsorted" then case.sorted, case.numbers = lg.randn(case.rows):sort(), lg.randn(case.count) end
  if pass == "forward" then return function() return run(case, case.target, case.source) end end
  local leaves = {case.target:requires_grad_(), case.source:requires_grad_()}
  local y = run(case, table.unpack(leaves))
  local options = {grad_outputs = lg.ones_like(y), retain_graph = true, allow_unused = true}
  return function() return lg.grad(y, leaves, options) end
end

local function shape_of(name)
  for _, shape in ipairs(shapes) do
    if shape.name == name then return shape end
  end
end

if arg and arg[1] == "serve" then
  for line in io.lines() do
    local op, shape, pass, factor = line:match "(%g+) (%g+) (%g+) (%g+)"
    local call = call_of(op, shape_of(shape), pass, tonumber(factor))
    call()
    print(("%.9g"):format((bench.time(call, 0.2, lg.device() == "cpu" and 1 or 10))))
    call = nil
    collectgarbage()
  end
  return
end
local factor = tonumber(arg and arg[1]) or 1
local wanted = {}
for i = 2, #(arg or {}) do wanted[arg[i]] = true end
local show = dofile((arg[0]:match ".*/" or "") .. "show.lua")
for _, op in ipairs(ops) do
  for _, shape in ipairs(shapes) do
    for _, pass in ipairs {"forward", "backward"} do
      if has_row(op[1], shape, pass) and (next(wanted) == nil or wanted[op[1]]) then
        local call = call_of(op[1], shape, pass, factor)
        call()
        show(("%s %s %s"):format(op[1], shape.name, pass), call, lg.device() == "cpu" and 1 or 10)
        call = nil
        collectgarbage()
      end
    end
  end
end
