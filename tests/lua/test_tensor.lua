local lg = require "lunagrad.core"

local function same(list, expected)
  if type(expected) ~= "table" then
    assert(list == expected, ("%s where %s was expected"):format(list, expected))
    return
  end
  assert(#list == #expected, ("%d elements where %d were expected"):format(#list, #expected))
  for i = 1, #expected do same(list[i], expected[i]) end
end
local function is(x, shape, dtype, values)
  same(x:size(), shape)
  assert(x:dtype() == dtype, x:dtype() .. " where " .. dtype .. " was expected")
  if values then same(x:tolist(), values) end
end

-- Creation from Lua values.
is(lg.tensor { 1, 2, 3 }, { 3 }, "i64", { 1, 2, 3 })
is(lg.tensor { 1, 2.5 }, { 2 }, "f32", { 1, 2.5 })
is(lg.tensor { { 1, 2 }, { 3, 4 } }, { 2, 2 }, "i64", { { 1, 2 }, { 3, 4 } })
is(lg.tensor { true, false }, { 2 }, "bool", { true, false })
is(lg.tensor(7), {}, "i64", 7)
is(lg.tensor(0.5), {}, "f32", 0.5)
is(lg.tensor(true), {}, "bool", true)
is(lg.tensor {}, { 0 }, "f32", {})
is(lg.tensor { {}, {} }, { 2, 0 }, "f32", { {}, {} })
is(lg.tensor({ 1, 2 }, { dtype = "f64" }), { 2 }, "f64", { 1, 2 })
is(lg.tensor({ 1, 0 }, { dtype = "bool" }), { 2 }, "bool", { true, false })
is(lg.tensor { math.maxinteger, math.mininteger }, { 2 }, "i64", { math.maxinteger, math.mininteger })
is(lg.tensor(lg.tensor { 1, 2 }), { 2 }, "i64", { 1, 2 })
for _, dtype in ipairs { "f32", "f64", "f16", "bf16", "i32", "i64", "u8" } do
  is(lg.tensor({ 1, 2, 3 }, { dtype = dtype }), { 3 }, dtype, { 1, 2, 3 })
end

-- Shapes as a table or as plain integers; options by name.
is(lg.zeros(2, 3), { 2, 3 }, "f32", { { 0, 0, 0 }, { 0, 0, 0 } })
is(lg.zeros { 2, 3 }, { 2, 3 }, "f32")
is(lg.zeros {}, {}, "f32", 0)
is(lg.ones(2, { dtype = "i32" }), { 2 }, "i32", { 1, 1 })
is(lg.ones(0, 3), { 0, 3 }, "f32", {})
is(lg.full({ 2 }, 2.5), { 2 }, "f32", { 2.5, 2.5 })
is(lg.full({ 2 }, 7), { 2 }, "i64", { 7, 7 })
is(lg.arange(3), { 3 }, "i64", { 0, 1, 2 })
is(lg.arange(1, 2, 0.5), { 2 }, "f32", { 1, 1.5 })
is(lg.linspace(0, 1, 5), { 5 }, "f32", { 0, 0.25, 0.5, 0.75, 1 })
is(lg.eye(2), { 2, 2 }, "f32", { { 1, 0 }, { 0, 1 } })
is(lg.zeros_like(lg.tensor { 1, 2 }), { 2 }, "i64", { 0, 0 })
is(lg.ones_like(lg.tensor { 1, 2 }, { dtype = "f32" }), { 2 }, "f32", { 1, 1 })
assert(lg.zeros(2, { requires_grad = true, device = "cpu" }).requires_grad)
assert(lg.randn(3, { requires_grad = true }).is_leaf)

-- Random numbers: the seed, and saving and restoring the generator's state.
lg.manual_seed(5)
local state = lg.get_rng_state()
local first = lg.rand(4):tolist()
lg.set_rng_state(state)
same(lg.rand(4):tolist(), first)
assert(lg.rand(4):tolist()[1] ~= first[1])
for _, v in ipairs(lg.randint(2, 5, { 100 }):tolist()) do assert(v >= 2 and v < 5 and math.type(v) == "integer") end
for _, v in ipairs(lg.randint(3, { 20 }):tolist()) do assert(v >= 0 and v < 3) end
local seen = {}
for _, v in ipairs(lg.randperm(10):tolist()) do seen[v] = true end
for i = 0, 9 do assert(seen[i]) end

-- Properties.
local x = lg.tensor { { 1., 2., 3. }, { 4., 5., 6. } }
same(x:size(), { 2, 3 })
assert(x:size(1) == 2 and x:size(-1) == 3 and x:dim() == 2 and x:numel() == 6 and #x == 2)
assert(x:device() == "cpu" and x:dtype() == "f32" and x:is_contiguous())
same(x:stride(), { 3, 1 })
assert(not x:t():is_contiguous() and x:t():stride(1) == 1)
same(x:t():tolist(), { { 1, 4 }, { 2, 5 }, { 3, 6 } })
assert(x[1][2]:item() == 2 and math.type(x[1][2]:item()) == "float")
assert(math.type(lg.tensor { 7 }:item()) == "integer" and lg.tensor { true }:item() == true)
assert(lg.is_tensor(x) and not lg.is_tensor {} and not lg.is_tensor(io.stdout))

-- Identity.
assert(x == x and x ~= x:clone() and x:detach() ~= x)
local y = x
assert(rawequal(x:add_(0), x) and y == x)

-- Functions, methods and operators, with numbers on either side.
same((x + 1):tolist(), { { 2, 3, 4 }, { 5, 6, 7 } })
same((1 + x):tolist(), x:add(1):tolist())
same((10 - x):tolist(), lg.sub(10, x):tolist())
same((x * x):tolist(), lg.mul(x, x):tolist())
same((2 / lg.tensor { 1., 4. }):tolist(), { 2, 0.5 })
same((lg.tensor { 1., 4. } ^ 2):tolist(), { 1, 16 })
same((2 ^ lg.tensor { 1., 4. }):tolist(), { 2, 16 })
same((-lg.tensor { 1., -4. }):tolist(), { -1, 4 })
same((lg.tensor { 7., -7. } // 2):tolist(), { 3, -4 })
same((lg.tensor { 7., -7. } % 4):tolist(), { 3, 1 })
same((lg.tensor { 7, -7 } // 2):tolist(), { 3, -4 })
same(lg.tensor({ 1, 2 }):lt(lg.tensor { 2, 2 }):tolist(), { true, false })
same(lg.maximum(x, 3):tolist(), { { 3, 3, 3 }, { 4, 5, 6 } })
same(lg.maximum(3, x):tolist(), { { 3, 3, 3 }, { 4, 5, 6 } })
local c = lg.tensor { true, false }
same(lg.where(c, lg.tensor { 1., 2. }, 0):tolist(), { 1, 0 })
same(lg.tensor({ 1., 2. }):where(c, -1):tolist(), { 1, -1 })

-- Promotion: a Lua integer keeps the type of an integer tensor; a Lua float makes it f32, and does not widen a float tensor.
is(lg.tensor { 1, 2 } + 1, { 2 }, "i64")
is(lg.tensor { 1, 2 } + 0.5, { 2 }, "f32", { 1.5, 2.5 })
is(lg.tensor { 1, 2 } / 2, { 2 }, "f32", { 0.5, 1 })
is(lg.ones(1, { dtype = "f16" }) * 0.5, { 1 }, "f16", { 0.5 })
is(lg.ones(1, { dtype = "bf16" }) + 1, { 1 }, "bf16", { 2 })
is(lg.ones(1, { dtype = "i32" }) + lg.ones(1, { dtype = "i64" }), { 1 }, "i64")

-- Casts and moves.
is(x:to("f64"), { 2, 3 }, "f64")
is(x:to("cpu", "f16"), { 2, 3 }, "f16")
is(x:to { dtype = "i32" }, { 2, 3 }, "i32", { { 1, 2, 3 }, { 4, 5, 6 } })
is(x:to(lg.zeros(1, { dtype = "u8" })), { 2, 3 }, "u8")
is(x:double(), { 2, 3 }, "f64")
is(x:half(), { 2, 3 }, "f16")
is(x:bfloat16(), { 2, 3 }, "bf16")
is(x:long(), { 2, 3 }, "i64")
is(x:int(), { 2, 3 }, "i32")
is(x:bool(), { 2, 3 }, "bool")
is(x:half():float(), { 2, 3 }, "f32")
assert(rawequal(x:cpu(), x) and rawequal(x:to("f32"), x))
is(lg.tensor { 3.9, -3.9, 0 / 0, 1e30 }:to("i32"), { 4 }, "i32", { 3, -3, 0, 2147483647 })

-- Shapes.
is(x:reshape(3, 2), { 3, 2 }, "f32", { { 1, 2 }, { 3, 4 }, { 5, 6 } })
is(x:reshape { 3, -1 }, { 3, 2 }, "f32")
is(x:view(6), { 6 }, "f32")
is(x:permute(2, 1), { 3, 2 }, "f32", { { 1, 4 }, { 2, 5 }, { 3, 6 } })
is(x:transpose(1, -1), { 3, 2 }, "f32")
is(x:unsqueeze(1), { 1, 2, 3 }, "f32")
is(x:unsqueeze(3), { 2, 3, 1 }, "f32")
is(x:unsqueeze(-1), { 2, 3, 1 }, "f32")
is(x:unsqueeze(1):squeeze(1), { 2, 3 }, "f32")
is(lg.ones(1, 3):expand(2, -1), { 2, 3 }, "f32")
is(lg.ones(1, 3):expand_as(x), { 2, 3 }, "f32")
is(x:flatten(), { 6 }, "f32")
is(x:unsqueeze(1):flatten(2, -1), { 1, 6 }, "f32")
is(lg.cat { x, x }, { 4, 3 }, "f32")
is(lg.cat({ x, x }, 2), { 2, 6 }, "f32")
is(lg.cat({ x, x }, { dim = -1 }), { 2, 6 }, "f32")
is(lg.stack({ x, x }, 3), { 2, 3, 2 }, "f32")

-- Reductions take one dim, a list, or none.
is(x:sum(), {}, "f32", 21)
is(x:sum(1), { 3 }, "f32", { 5, 7, 9 })
is(x:sum(-1, true), { 2, 1 }, "f32", { { 6 }, { 15 } })
is(x:sum { 1, 2 }, {}, "f32", 21)
is(x:sum { dim = 1, keepdim = true }, { 1, 3 }, "f32", { { 5, 7, 9 } })
is(x:mean { dim = 2 }, { 2 }, "f32", { 2, 5 })
local values, indices = x:max(2)
is(values, { 2 }, "f32", { 3, 6 })
is(indices, { 2 }, "i64", { 2, 2 })
is(x:argmax(2), { 2 }, "i64", { 2, 2 })
is(lg.softmax(lg.zeros(2, 4), -1), { 2, 4 }, "f32", { { 0.25, 0.25, 0.25, 0.25 }, { 0.25, 0.25, 0.25, 0.25 } })
is(x:matmul(x:t()), { 2, 2 }, "f32", { { 14, 32 }, { 32, 77 } })

-- Writing.
local w = lg.zeros(2, 2)
assert(rawequal(w:fill_(3), w) and rawequal(w:copy_(lg.ones(2)), w) and rawequal(w:zero_(), w))
w:add_(2):mul_(3)
same(w:tolist(), { { 6, 6 }, { 6, 6 } })
assert(w:version() == 5)

-- Splitting.
local parts = lg.arange(7):split(3)
assert(#parts == 3 and parts[3]:numel() == 1 and parts[2]:tolist()[1] == 3)
parts = lg.arange(7):split { 3, 4 }
assert(#parts == 2 and parts[2]:numel() == 4)
parts = lg.arange(6):reshape(2, 3):chunk(3, 2)
assert(#parts == 3)
same(parts[2]:tolist(), { { 1 }, { 4 } })
parts = lg.arange(7):tensor_split(3)
assert(#parts == 3 and parts[1]:numel() == 3 and parts[3]:numel() == 2)
parts = lg.arange(7):tensor_split { 2, 5 }
assert(#parts == 3 and parts[2]:numel() == 3)
parts = x:unbind()
assert(#parts == 2)
same(parts[2]:tolist(), { 4, 5, 6 })
assert(#lg.zeros(0, 2):split(4) == 1)

-- Printing.
assert(tostring(lg.tensor { 1, 2 }) == "tensor([1, 2], shape=[2], dtype=i64, device=cpu)")
assert(tostring(lg.tensor { 1., -2.5 }) == "tensor([ 1.0000, -2.5000], shape=[2], dtype=f32, device=cpu)")
assert(tostring(lg.tensor { 1., 2. }) == "tensor([1., 2.], shape=[2], dtype=f32, device=cpu)")
assert(tostring(lg.tensor(3.)) == "tensor(3., shape=[], dtype=f32, device=cpu)")
assert(tostring(lg.zeros(0, 2)):find "^tensor%(%[%], shape=%[0, 2%]")
assert(tostring(lg.zeros(1 << 40, 0)):find "^tensor%(%[%], shape=%[1099511627776, 0%]")
assert(tostring(lg.tensor { true }):find "true")
assert(tostring(lg.ones(1, { requires_grad = true })):find "requires_grad=true")
assert(tostring(lg.ones(1, { requires_grad = true }) + 1):find "grad_fn=<add>")
assert(tostring(lg.tensor { 0 / 0, 1 / 0, -1 / 0, 1 }):find("nan, +inf, +%-inf, +1%."))
assert(tostring(lg.tensor { 1e-9, 1. }):find "1.0000e%-09")
assert(tostring(lg.tensor { { 1, 2 }, { 3, 4 } }):find("[[1, 2],\n        [3, 4]]", 1, true))
local long = tostring(lg.arange(10000):reshape(100, 100))
assert(#long < 700 and long:find("...", 1, true) and long:find "9999")
