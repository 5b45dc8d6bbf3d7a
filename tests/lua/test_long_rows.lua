-- Gradients of embeddings, sorting and running sums of random sizes: on the default device what the CPU gives, and the same
-- bits every time.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"

lg.manual_seed(11)
local function int(low, high) return lg.randint(low, high + 1, {1}):item() end
local function here(x) return x:to("cpu") end
local function same(a, b) return lg.equal(here(a), here(b)) end

local function gradient_of(device, ids, g, rows, padding)
  local weight = lg.zeros({rows, g:size(2)}, {device = device}):requires_grad_()
  lg.embedding(ids:to(device), weight, {padding_idx = padding}):backward(g:to(device))
  return weight.grad
end
local device = lg.device()
for round = 1, 4 do
  local rows, width, count = int(1, 3000), int(1, 40), int(600, 4000)
  local ids = lg.randint(0, round == 1 and 1 or rows, {count}, {device = "cpu"})
  local g = lg.randn({count, width}, {device = "cpu"})
  local padding = round == 2 and 0 or nil
  local first = gradient_of(device, ids, g, rows, padding)
  expect.close(here(first), gradient_of("cpu", ids, g, rows, padding), 1e-3)
  assert(same(first, gradient_of(device, ids, g, rows, padding)), "other bits in a second run")
end

for _ = 1, 4 do
  local n = int(2049, 20000)
  local x = lg.randint(-500, 500, {n}, {device = "cpu"})
  local y = x:to(device)
  for _, descending in ipairs {false, true} do
    local values, places = y:sort(1, descending)
    local right, at = x:sort(1, descending)
    assert(same(values, right) and same(places, at))
  end
  local k = int(1, n // 5)
  local values, places = y:topk(k)
  local right, at = x:topk(k)
  assert(same(values, right) and same(places, at))
  assert(same(y:cumsum(1), x:cumsum(1)))
  assert(same(y:cummax(1), x:cummax(1)))
  local unique, inverse, counts = y:unique({return_inverse = true, return_counts = true})
  local right_unique, right_inverse, right_counts = x:unique({return_inverse = true, return_counts = true})
  assert(same(unique, right_unique) and same(inverse, right_inverse) and same(counts, right_counts))
  assert(same(y:scatter(1, y + 500, places[1]:expand(n)), x:scatter(1, x + 500, at[1]:expand(n))))
end

-- Normalization of groups of large images, which GPUs compute in passes over channels.
do
  local F = lg.nn.functional
  local function all_of(device, dtype, case)
    lg.manual_seed(5)
    local function given(...) return lg.randn(..., {dtype = "f64", device = "cpu"}):to(device, dtype):requires_grad_() end
    local x = given(case.shape)
    local weight, bias = case.weight and given(case.shape[2]), case.bias and given(case.shape[2])
    local y = F.group_norm(x + 3, case.groups, weight or nil, bias or nil)
    local weights = lg.linspace(-1, 1, y:numel(), {dtype = "f64", device = "cpu"}):view(y:size()):to(device, dtype);
    (y * weights):sum():backward()
    return {y = y:detach(), x = x.grad, weight = weight and weight.grad, bias = bias and bias.grad}
  end
  for _, case in ipairs {
    {shape = {2, 6, 16, 17}, groups = 3, weight = true, bias = true}, {shape = {1, 4, 300}, groups = 4, weight = true},
    {shape = {3, 130, 256}, groups = 1, bias = true}, {shape = {2, 5, 32, 32}, groups = 5}, {shape = {2, 8, 5, 5}, groups = 2, weight = true, bias = true},
  } do
    local wanted = all_of("cpu", "f64", case)
    for name, found in pairs(all_of(lg.device(), "f32", case)) do
      local off = (found:to("cpu", "f64") - wanted[name]):abs():max():item()
      assert(off <= 2e-5 * (1 + wanted[name]:abs():max():item()), ("group_norm: %s is off by %g"):format(name, off))
    end
  end
end

-- Bags of ids: sums and their gradients are the CPU's, with empty bags and any width; the error names an id that is no
-- row.
do
  local F = lg.nn.functional
  local function bags_on(device, case)
    lg.manual_seed(6)
    local ids = lg.randint(0, 30, {case.ids}, {device = "cpu"}):to(device, case.type)
    local table_of = lg.randn({30, case.width}, {device = "cpu"}):to(device):requires_grad_()
    local scale = case.scaled and lg.randn({case.ids}, {device = "cpu"}):to(device):requires_grad_() or nil
    local y = F.embedding_bag(ids, table_of, case.offsets and lg.tensor(case.offsets, {device = device}), {mode = case.mode,
      per_sample_weights = scale, padding_idx = case.padding});
    (y * y):sum():backward()
    return {y = y:detach(), table = table_of.grad, scale = scale and scale.grad}
  end
  for _, case in ipairs {
    {ids = 40, width = 8, offsets = {0, 0, 3, 3, 17, 40}, mode = "sum", scaled = true, type = "i64"},
    {ids = 40, width = 7, offsets = {0, 11}, mode = "mean", type = "i32"},
    {ids = 5, width = 1, offsets = {0}, mode = "sum", type = "i64"},
    {ids = 40, width = 8, offsets = {0, 0, 3, 3, 17, 40}, mode = "sum", scaled = true, padding = 4, type = "i32"},
    {ids = 40, width = 8, offsets = {0, 0, 3, 3, 17, 40}, mode = "max", padding = 7, type = "i64"},
    {ids = 40, width = 3, offsets = {0, 2}, mode = "max", type = "i32"},
  } do
    local wanted = bags_on("cpu", case)
    for name, found in pairs(bags_on(lg.device(), case)) do expect.close(here(found), wanted[name], 1e-4) end
  end
  expect.raises("30", function()
    print(F.embedding_bag(lg.tensor {{1, 30}}, lg.randn(30, 4), nil, {mode = "sum"}):sum():item())
  end)
end
