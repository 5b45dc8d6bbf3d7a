-- Attention of 16-bit operands on the default device, and its gradients, against f32 on the CPU from the same numbers: features and
-- rows that are no multiples of a tile, masks of every kind, causality, dropout, groups of heads, scales of either sign.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local attention = lg.nn.functional.scaled_dot_product_attention

local function all_of(case, dtype, device)
  lg.manual_seed(7)
  local function given(shape)
    return lg.randn(shape, {device = "cpu"}):to(case.dtype):to(device, dtype):requires_grad_()
  end
  local q, k, v = given(case[1]), given(case[2]), given(case[3])
  local options = {is_causal = case.causal, dropout_p = case.dropout, scale = case.scale, enable_gqa = case.gqa,
    attn_mask = case.mask and case.mask():to(device)}
  lg.manual_seed(11)
  local y = attention(q, k, v, options)
  local weights = lg.linspace(-1, 1, y:numel(), {device = "cpu"}):view(y:size()):to(device, dtype);
  (y * weights):sum():backward()
  return {result = y:detach(), ["gradient of q"] = q.grad, ["gradient of k"] = k.grad, ["gradient of v"] = v.grad}
end

-- Adds the shapes of query, key and value to a case.
local function with(options, batch, queries, keys, features, values)
  local function shape(rows, width)
    local list = {table.unpack(batch)}
    list[#list + 1], list[#list + 2] = rows, width
    return list
  end
  options[1], options[2], options[3] = shape(queries, features), shape(keys, features), shape(keys, values or features)
  return options
end

local cases = {
  with({name = "whole tiles"}, {2, 2}, 128, 128, 64),
  with({name = "causal", causal = true}, {2}, 130, 130, 64),
  with({name = "more keys than queries, causal", causal = true}, {2}, 70, 100, 32),
  with({name = "more queries than keys, causal", causal = true}, {2}, 100, 70, 32),
  with({name = "other features for values"}, {3}, 37, 93, 72, 40),
  with({name = "128 features"}, {2}, 70, 50, 128),
  with({name = "104 and 112 features"}, {2}, 20, 70, 112, 104),
  with({name = "few rows and features"}, {1, 2}, 30, 5, 8, 16),
  with({name = "one query"}, {2, 3}, 1, 150, 64),
  with({name = "dropout, causal", causal = true, dropout = 0.3}, {2}, 101, 101, 64),
  with({name = "a mask that hides a row", mask = function()
    local mask = lg.arange(50 * 64, {device = "cpu"}):view(50, 64):remainder(3):ne(1)
    mask[5] = false
    return mask
  end}, {2}, 50, 64, 64),
  with({name = "a mask of keys, dropout", dropout = 0.2, mask = function()
    return lg.arange(2 * 52, {device = "cpu"}):view(2, 1, 1, 52):remainder(5):ne(2)
  end}, {2, 2}, 40, 52, 64),
  with({name = "a mask of odd width", mask = function()
    return lg.arange(40 * 33, {device = "cpu"}):view(40, 33):remainder(4):ne(1)
  end}, {2}, 40, 33, 64),
  with({name = "an added mask", mask = function()
    local mask = lg.linspace(-2, 2, 40 * 36, {device = "cpu"}):view(40, 36):clone()
    mask[{7, 3}] = -1 / 0
    return mask
  end}, {2}, 40, 36, 64),
  with({name = "an added mask, transposed", mask = function()
    return lg.linspace(-2, 2, 36 * 40, {device = "cpu"}):view(36, 40):t()
  end}, {2}, 40, 36, 64),
  with({name = "a negative scale and an added mask", scale = -0.1, mask = function()
    return lg.linspace(-2, 2, 40 * 36, {device = "cpu"}):view(40, 36)
  end}, {2}, 40, 36, 64),
  {name = "groups of heads", gqa = true, causal = true, {1, 8, 35, 64}, {1, 2, 35, 64}, {1, 2, 35, 64}},
}

local bounds = {bf16 = 0.02, f16 = 0.003}

describe("attention of 16-bit operands", function()
  for _, each in ipairs(cases) do
    for dtype, bound in pairs(bounds) do
      it(("%s, %s"):format(each.name, dtype), function()
        each.dtype = dtype
        local wanted = all_of(each, "f32", "cpu")
        for name, found in pairs(all_of(each, dtype, lg.device())) do
          local off = (found:to("cpu", "f32") - wanted[name]):abs():max():item()
          local allowed = bound * (wanted[name]:abs():max():item() + 1e-3)
          assert(off <= allowed, ("the %s is off by %g, %g is allowed"):format(name, off, allowed))
        end
      end)
    end
  end
  it("gives NaN to a query that has NaN, and to no other", function()
    for dtype in pairs(bounds) do
      local q = lg.randn({1, 40, 64}, {device = "cpu"})
      q[{1, 3, 5}] = 0 / 0
      local function given(x) return x:to(lg.device(), dtype) end
      local y = attention(given(q), given(lg.randn({1, 40, 64}, {device = "cpu"})), given(lg.randn({1, 40, 64}, {device = "cpu"})))
      local rows = y:isnan():all(3):to("cpu")
      assert(rows[{1, 3}]:item() == true and y:isnan():sum():item() == 64)
    end
  end)
end)
