-- lg.compile and lg.set_deferred: results, gradients and side effects are the plain script's.
local lg = require "lunagrad"
local nn, F, test = lg.nn, lg.nn.functional, lg.test.it

local function bits(x) return x:detach():flatten():tolist() end
local function same(a, b)
  local p, q = bits(a), bits(b)
  assert(#p == #q)
  for i = 1, #p do assert(p[i] == q[i] or p[i] ~= p[i] and q[i] ~= q[i], ("element %d: %s, %s"):format(i, p[i], q[i])) end
end

test("a compiled function gives the same bits", function()
  local function f(x, y) return (x * y + 1):tanh():mul(0.5) - x:sigmoid() end
  local x, y = lg.randn(300, 40), lg.randn(40)
  same(lg.compile(f)(x, y), f(x, y))
end)

test("gradients of a compiled module equal the module's", function()
  lg.manual_seed(3)
  local net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3))
  local x, target = lg.randn(32, 8), lg.randint(0, 3, {32})
  local compiled = lg.compile(net)
  local function gradients(model)
    net:zero_grad()
    F.cross_entropy(model(x), target):backward()
    local list = {}
    for _, p in ipairs(net:parameters()) do list[#list + 1] = p.grad:clone() end
    return list
  end
  local expected, got = gradients(net), gradients(compiled)
  for i, g in ipairs(got) do same(g, expected[i]) end
  assert(#compiled:parameters() == #net:parameters())
  assert(tostring(compiled):find("^compiled Sequential"))
  local state = compiled:state_dict()
  assert(state["0.weight"]:size(1) == 16)
end)

test("a whole training step trains the same", function()
  local function train(wrap)
    lg.manual_seed(5)
    local net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))
    local optimizer = lg.optim.AdamW(net:parameters(), {lr = 0.01})
    local step = wrap(function(x, y)
      optimizer:zero_grad()
      local loss = F.mse_loss(net(x), y)
      loss:backward()
      nn.utils.clip_grad_norm_(net:parameters(), 1)
      optimizer:step()
      return loss
    end)
    local losses = {}
    for i = 1, 20 do losses[i] = step(lg.randn(16, 4), lg.randn(16, 1)):item() end
    return losses, net
  end
  local expected, net = train(function(f) return f end)
  local got, other = train(lg.compile)
  for i = 1, #expected do assert(got[i] == expected[i]) end
  for i, p in ipairs(other:parameters()) do same(p, net:parameters()[i]) end
end)

-- Behaviour that tracing compilers freeze.
test("each call has its own numbers, branches, loops and side effects", function()
  local scale, calls, log = 1, 0, {}
  local f = lg.compile(function(x, deep)
    calls = calls + 1
    local y = x * scale
    if deep then y = y:exp() end
    for _ = 1, calls do y = y + 1 end
    if y:sum():item() > 10 then log[#log + 1] = "large" end
    return y
  end)
  local x = lg.ones(4)
  assert(f(x)[1]:item() == 2)
  scale = 3
  assert(f(x)[1]:item() == 5)
  scale = 0
  assert(f(x, true)[1]:item() == 4)
  assert(#log == 2 and calls == 3)
end)

test("a result of one call is not overwritten by the next", function()
  local f = lg.compile(function(x) return x + 1 end)
  local a = f(lg.zeros(3))
  local b = f(lg.ones(3))
  assert(a[1]:item() == 1 and b[1]:item() == 2)
end)

test("an argument that is changed in place later does not change a result", function()
  local x = lg.ones(5)
  local f = lg.compile(function(t)
    local y = t * 2
    t:add_(1)
    return y, t * 2
  end)
  local y, z = f(x)
  assert(y[1]:item() == 2 and z[1]:item() == 4 and x[1]:item() == 2)
end)

test("other shapes, types and devices need nothing", function()
  local f = lg.compile(function(x) return (x * 2 + 1):relu():sum() end)
  for n = 1, 40 do assert(f(lg.ones(n)):item() == 3 * n) end
  assert(f(lg.ones(4, {dtype = "f64"})):dtype() == "f64")
  assert(f(lg.ones(4, {dtype = "i64"})):item() == 12)
end)

test("train and eval alternate", function()
  local net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
  local f = lg.compile(net)
  local x = lg.randn(8, 4)
  for _ = 1, 3 do
    net:train()
    f(x)
    net:eval()
    same(f(x), net(x))
  end
end)

test("random numbers equal the plain function's", function()
  local function f(x) return F.dropout(x, 0.5) + lg.randn(6) end
  local x = lg.ones(6)
  lg.manual_seed(9)
  local expected = f(x)
  lg.manual_seed(9)
  same(lg.compile(f)(x), expected)
end)

test("wrong calls raise their errors where they stand", function()
  local f = lg.compile(function(x) return x:matmul(lg.ones(3, 3)) end)
  local ok, message = pcall(f, lg.ones(2, 2))
  assert(not ok and message:find("test_compile.lua:%d+: matmul"), message)
  local caught = lg.compile(function(x)
    local fine = pcall(function() return lg.linalg.cholesky(-lg.eye(2)) end)
    return x + (fine and 1 or 2)
  end)
  assert(caught(lg.zeros(1)):item() == 2)
  assert(not pcall(lg.compile, 3) and not pcall(lg.compile, f, {mode = "max"}))
end)

test("an error leaves what was computed before it", function()
  local kept
  local f = lg.compile(function(x)
    kept = x * 2
    error("stop here")
  end)
  assert(not pcall(f, lg.ones(2)))
  assert(kept[1]:item() == 2 and not lg.is_deferred())
end)

test("hooks, second derivatives, checkpoints and autocast work inside", function()
  local x = lg.randn(6, {requires_grad = true})
  local seen = 0
  local function f()
    local y = (x * x):sin()
    y:register_hook(function(g) seen = seen + 1 return g * 2 end)
    local first = lg.grad(y:sum(), {x}, {create_graph = true})[1]
    return lg.grad((first * first):sum(), {x})[1]
  end
  same(lg.compile(f)(), f())
  assert(seen > 0)
  local layer = nn.Linear(6, 6)
  local function g() return lg.autocast("bf16", function() return layer(x):gelu() * 2 end) end
  same(lg.compile(g)():to("f32"), g():to("f32"))
  local function h()
    local y = lg.checkpoint(function(t) return (t * 2):exp():log() end, x)
    return lg.grad(y:sum(), {x})[1]
  end
  same(lg.compile(h)(), h())
end)

test("a compiled function within another is one plan", function()
  local inner = lg.compile(function(x) return x * 2 end)
  local outer = lg.compile(function(x) return inner(x) + 1 end)
  assert(outer(lg.ones(3))[1]:item() == 3)
  assert(outer:explain():find(":%d+ mul, :%d+ add\n"), outer:explain())
  assert(inner:explain():find("belong to the plan around it", 1, true))
end)

test("explain names groups, lines and what stands alone", function()
  local f = lg.compile(function(x)
    local y = (x * 2 + 1):tanh()
    return y:matmul(y)
  end)
  assert(f:explain():find("Not called yet", 1, true))
  f(lg.randn(512, 512))
  local text = f:explain()
  assert(text:find("4 calls in 2 passes over memory: 3 calls in 1 group, 1 alone. 2.0 MiB", 1, true), text)
  assert(text:find("\n +2.0 MiB +test_compile.lua:%d+ mul add tanh\n"), text)
  assert(text:find("Alone %(not an elementwise op%): 1 call, 1.0 MiB of results\n +1.0 MiB +test_compile.lua:%d+ matmul\n"), text)
end)

test("on the CPU a norm joins the residual before it and the cast after it, and so do its gradients", function()
  local on_cpu = {device = "cpu", requires_grad = true}
  local x, h = lg.randn(64, 512, on_cpu), lg.randn(64, 512, {device = "cpu"})
  local w, b = lg.ones(512, on_cpu), lg.zeros(512, on_cpu)
  local f = lg.compile(function()
    local y = (x + h):layer_norm({512}, w, b):to("bf16") * 0.5
    y:backward(y:detach())
  end)
  f()
  local text = f:explain()
  assert(text:find("add layer_norm cast mul", 1, true), text)
  assert(text:find("layer_norm_grad", 1, true) and not text:find("Alone", 1, true), text)
end)

test("a function that gains too little by its plan runs as it is, one that gains does not", function()
  local inside
  local function deferred(f, x)
    local times = 0
    for _ = 1, 200 do
      f(x)
      if inside then times = times + 1 end
    end
    return times
  end
  local small = lg.compile(function(x) inside = lg.is_deferred() return x * 2 end)
  assert(deferred(small, lg.ones(4)) == 1)
  assert(small:explain():find("gains too little by this plan", 1, true), small:explain())
  assert(deferred(small, lg.ones(4)) == 1)
  local large = lg.compile(function(x)
    inside = lg.is_deferred()
    local y = (x * 2 + 1):tanh()
    collectgarbage()  -- on a busy machine nothing else collects, and a result that Lua still holds is written to memory
    return y
  end)
  assert(deferred(large, lg.ones(512, 512)) == 200)
  assert(not large:explain():find("gains too little", 1, true))
end)

test("set_replay(false) runs compiled functions as they are", function()
  lg.set_deferred(false)
  local inside
  lg.compile(function(x) inside = lg.is_deferred() return x end)(lg.ones(1))
  assert(inside == false)
  lg.set_deferred(true)
  lg.compile(function(x) inside = lg.is_deferred() return x end)(lg.ones(1))
  assert(inside == true)
end)

test("thousands of calls with other shapes keep the memory as it is", function()
  local f = lg.compile(function(x) return (x * 2 + 1):relu():sum():item() end)
  for n = 1, 200 do f(lg.ones(n % 7 + 1, 50)) end
  collectgarbage()
  local before = lg.memory().in_use
  for n = 1, 2000 do f(lg.ones(n % 7 + 1, 50)) end
  collectgarbage()
  assert(lg.memory().in_use <= before + 65536)
end)
