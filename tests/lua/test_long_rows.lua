-- Gradients of embeddings, sorting and running sums of random sizes: on the default device what the CPU gives, and the same
-- bits every time.
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
