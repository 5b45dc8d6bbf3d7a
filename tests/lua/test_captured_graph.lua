-- lg.compile(fn, {capture_graph = true}): a captured graph runs without Lua and gives the function's results.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local nn, F, test = lg.nn, lg.nn.functional, lg.test.it

local captured_of = {capture_graph = true}
local function capture(fn) return lg.compile(fn, captured_of) end
local function plain(fn) return fn end

local function same(a, b)
  local p, q = a:detach():flatten():tolist(), b:detach():flatten():tolist()
  assert(#p == #q)
  for i = 1, #p do assert(p[i] == q[i] or p[i] ~= p[i] and q[i] ~= q[i], ("element %d: %s, %s"):format(i, p[i], q[i])) end
end

local function is_captured(f) return f:explain():find("^Captured: ") ~= nil end
local function error_of(f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error")
  return tostring(message)
end

test("a captured training step trains the same", function()
  local makers = {
    SGD = function(p) return lg.optim.SGD(p, {lr = 0.05, momentum = 0.9}) end,
    AdamW = function(p) return lg.optim.AdamW(p, {lr = 0.01}) end,
    Adagrad = function(p) return lg.optim.Adagrad(p, {lr = 0.01}) end,
  }
  for name, make in pairs(makers) do
    local function train(wrap)
      lg.manual_seed(5)
      local net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))
      local optimizer = make(net:parameters())
      local schedule = lg.optim.lr_scheduler.StepLR(optimizer, {step_size = 7, gamma = 0.5})
      local average = lg.optim.EMA(net:parameters(), {decay = 0.9})
      local step = wrap(function(x, y)
        optimizer:zero_grad()
        local loss = F.mse_loss(net(x), y)
        loss:backward()
        nn.utils.clip_grad_norm_(net:parameters(), 1)
        optimizer:step()
        schedule:step()
        average:update()
        return loss
      end)
      local losses = {}
      for i = 1, 230 do losses[i] = step(lg.randn(16, 4), lg.randn(16, 1)):item() end
      return losses, net, step, optimizer, average
    end
    local expected, net, _, one, ema = train(plain)
    local got, other, step, two, ema2 = train(capture)
    assert(is_captured(step), name .. ": " .. step:explain())
    for i = 1, #expected do assert(got[i] == expected[i], ("%s: loss %d"):format(name, i)) end
    for i, p in ipairs(other:parameters()) do
      same(p, net:parameters()[i])
      same(p.grad, net:parameters()[i].grad)
      same(ema.averages[i], ema2.averages[i])
    end
    for i, b in ipairs(other:buffers()) do same(b, net:buffers()[i]) end
    assert(one.param_groups[1].lr == two.param_groups[1].lr)
  end
end)

test("norms and losses that are written out train the same, deferred and captured", function()
  local function train(wrap)
    lg.manual_seed(9)
    local w, b, out = lg.randn(48):requires_grad_(), lg.zeros(48):requires_grad_(), lg.randn(48, 7):requires_grad_()
    local optimizer = lg.optim.SGD({w, b, out}, {lr = 0.1})
    local step = wrap(function(x, y)
      optimizer:zero_grad()
      local apart = x - x:mean(-1, true)
      local normed = apart * ((apart * apart):mean(-1, true) + 1e-5):rsqrt() * w + b
      local scores = normed:matmul(out)
      local shifted = scores - scores:amax(-1, true)
      local logs = shifted - shifted:exp():sum(-1, true):log()
      local loss = -(logs * y):sum(-1):mean()
      loss:backward()
      optimizer:step()
      return loss
    end)
    local losses = {}
    for i = 1, 30 do losses[i] = step(lg.randn(20, 48), lg.randn(20, 7):softmax(-1)):item() end
    return losses, {w, b, out}, step
  end
  local expected, parameters = train(plain)
  for _, wrap in ipairs {lg.compile, capture} do
    local got, same_parameters, step = train(wrap)
    for i = 1, #expected do assert(got[i] == expected[i], ("loss %d"):format(i)) end
    for i, p in ipairs(parameters) do same(p, same_parameters[i]) end
    if wrap == capture then assert(is_captured(step), step:explain()) end
  end
end)

test("layers of norms train the same, deferred and captured", function()
  local function train(wrap)
    lg.manual_seed(4)
    local first, norm, rms, groups = nn.Linear(6, 40), nn.LayerNorm(40), nn.RMSNorm(40), nn.GroupNorm(4, 40)
    local last = nn.Linear(40, 5)
    local net = nn.Sequential(first, norm, rms, groups, last)
    local optimizer = lg.optim.AdamW(net:parameters(), {lr = 0.01})
    local step = wrap(function(x, y)
      optimizer:zero_grad()
      local h = first(x)
      h = h + norm(h * 2):silu()
      h = (groups(h):relu() + rms(h + 1)):to("bf16"):float()
      local loss = F.cross_entropy(last(h) * 0.5, y) + h:logsumexp(-1):mean() * 0.1 + h:cumsum(-1):tanh():mean()
      loss:backward()
      optimizer:step()
      return loss
    end)
    local losses = {}
    for i = 1, 20 do losses[i] = step(lg.randn(64, 6), lg.randint(0, 5, {64})):item() end
    return losses, net:parameters(), step
  end
  local expected, parameters = train(plain)
  for _, wrap in ipairs {lg.compile, capture} do
    local got, same_parameters, step = train(wrap)
    for i = 1, #expected do assert(got[i] == expected[i], ("loss %d"):format(i)) end
    for i, p in ipairs(parameters) do same(p, same_parameters[i]) end
  end
end)

test("gradients are accumulated as by the function", function()
  local function run(wrap)
    lg.manual_seed(2)
    local w = lg.randn(5, {requires_grad = true})
    local f = wrap(function(x) (w * x):sum():backward() end)
    for _ = 1, 12 do f(lg.randn(5)) end
    local first = w.grad:clone()
    w.grad = nil
    for _ = 1, 3 do f(lg.randn(5)) end
    return first, w.grad
  end
  local a, b = run(plain)
  local c, d = run(capture)
  same(a, c)
  same(b, d)
end)

test("gradients that are added in place have the same bits", function()
  local function run(wrap)
    lg.manual_seed(6)
    local a, b, c = nn.Linear(12, 40), nn.Linear(40, 6), nn.Linear(40, 6)
    local f = wrap(function(x)
      for _, m in ipairs {a, b, c} do m:zero_grad() end
      local h = a(x):relu()
      local mean, spread = b(h), c(h)
      local loss = (mean + lg.randn(9, 6) * spread:exp()):square():mean() + mean:pow(2):sum()
      loss:backward()
      return loss
    end)
    for _ = 1, 8 do f(lg.randn(9, 12)) end
    return {a.weight.grad, a.bias.grad, b.weight.grad, c.bias.grad}, f
  end
  local expected = run(plain)
  local got, f = run(capture)
  assert(is_captured(f), f:explain())
  for i, g in ipairs(expected) do same(g, got[i]) end
end)

test("distributions work inside", function()
  local f = capture(function(mean) return lg.distributions.Normal(mean, 1):log_prob(lg.zeros(3)) end)
  for i = 1, 6 do same(f(lg.full({3}, i)), lg.distributions.Normal(lg.full({3}, i), 1):log_prob(lg.zeros(3))) end
end)

test("results that somebody holds keep their values", function()
  local f = capture(function(x) return x * 2, {sum = x:sum(), list = {x + 1}} end)
  local held = {}
  for i = 1, 20 do
    local y, t = f(lg.full({3}, i))
    held[i] = {y, t.sum, t.list[1]}
  end
  assert(is_captured(f), f:explain())
  for i, values in ipairs(held) do
    same(values[1], lg.full({3}, 2 * i))
    same(values[2], lg.tensor(3.0 * i))
    same(values[3], lg.full({3}, i + 1))
  end
end)

test("arguments may be views, parts of one memory, in tables, and the variables of the script", function()
  local data = lg.arange(120):reshape(20, 6):float()
  local scale = lg.ones(1)
  local f = capture(function(batch) return (batch.x * scale):sum() + batch.y[1]:mean() end)
  for i = 1, 20 do
    local rows = data[i]
    scale = lg.full({1}, i)
    local x, y = rows:narrow(1, 1, 5), rows:narrow(1, 6, 1)
    same(f {x = x, y = {y}}, (x * scale):sum() + y:mean())
  end
  assert(is_captured(f), f:explain())
end)

test("other shapes, numbers, modes and flags are other plans", function()
  local power, net = 2, nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
  local f = capture(function(x) return net(x):detach() ^ power end)
  local function check(x)
    for _ = 1, 6 do
      lg.manual_seed(8)
      local got = f(x)
      lg.manual_seed(8)
      same(got, net(x) ^ power)
    end
  end
  check(lg.ones(2, 3))
  check(lg.ones(5, 3))
  power = 3
  check(lg.ones(5, 3))
  net:eval()
  check(lg.ones(5, 3))
  net:train()
  check(lg.ones(5, 3))
  check(lg.ones(2, 3))
  assert(is_captured(f), f:explain())
end)

test("a captured function that reads a value is an error with its line", function()
  for _, read in ipairs {
    function(x) return x:sum():item() end,
    function(x) return x:tolist() end,
    function(x) return tostring(x) end,
    function(x) return x:nonzero() end,
    function(x) return x:masked_select(x:gt(0)) end,
    function(x) return x:unique() end,
    function(x) return lg.equal(x, x) end,
    function(x) return lg.allclose(x, x) end,
  } do
    local message = error_of(capture(read), lg.ones(3))
    assert(message:find("test_captured_graph.lua:%d+: .*a captured function must not read a value"), message)
  end
end)

test("a captured function that changes a variable or a global is an error", function()
  local count = 0
  local message = error_of(capture(function(x)
    count = count + 1
    return x * 2
  end), lg.ones(2))
  assert(message:find("must not change the variable 'count'"), message)
  local hidden = lg.zeros(2)
  message = error_of(capture(function(x) hidden = hidden + x end), lg.ones(2))
  assert(message:find("must not change the variable 'hidden'"), message)
  message = error_of(capture(function(x)
    captured_global = x
  end), lg.ones(2))
  assert(message:find("global"), message)
  captured_global = nil
end)

test("what cannot be captured runs as the script, and says why", function()
  local function reason(fn, ...)
    local f = capture(fn)
    for _ = 1, 8 do f(...) end
    return f:explain()
  end
  local w = lg.ones(3, {requires_grad = true})
  local text = reason(function(x) return w * x end, lg.ones(3))
  assert(text:find("^Not captured: .*with a graph"), text)
  text = reason(function(x) return x + lg.tensor {1, 2, 3} end, lg.ones(3))
  assert(text:find("^Not captured: "), text)
  local settings = {n = 0}
  text = reason(function(x)
    settings.n = settings.n + 1
    return x * settings.n
  end, lg.ones(3))
  assert(text:find("^Not captured: .*test_captured_graph.lua"), text)
  local h = w:register_hook(function(g) return g * 2 end)
  text = reason(function(x) (w * x):sum():backward() end, lg.ones(3))
  assert(text:find("hook"), text)
  assert(capture(function(x) return x end):explain():find("^Not captured yet"))
end)

test("explain lists the plan of a captured function, with what is computed alone and why", function()
  local f = capture(function(x)
    for _ = 1, 3 do x = (x * 2 + 1):tanh():matmul(x) end
    return x
  end)
  for _ = 1, 4 do f(lg.randn(8, 8)) end
  local text = f:explain()
  assert(text:find("Its plan: 12 calls in 6 passes over memory: 9 calls in 3 groups, 3 alone. 1.5 KiB", 1, true), text)
  assert(text:find("\n +1.5 KiB +3x  test_captured_graph.lua:%d+ mul add tanh\n"), text)
  assert(text:find("\nAlone %(not an elementwise op%): 3 calls, 768 B of results\n +768 B +3x  test_captured_graph.lua:%d+ matmul\n"), text)
end)

test("what changes behind a captured function's back is found", function()
  local settings = {scale = 1}
  local f = capture(function(x) return x * settings.scale end)
  for _ = 1, 5 do f(lg.ones(2)) end
  assert(is_captured(f), f:explain())
  settings.scale = 2
  local message
  for _ = 1, 100 do
    local ok, found = pcall(f, lg.ones(2))
    if not ok then message = tostring(found) break end
  end
  assert(message and message:find("does not do what it did when it was captured"), message)
  same(f(lg.ones(2)), lg.full({2}, 2.0))  -- from now on the script runs instead
end)

test("data of a parameter may be replaced, and checkpoints draw the same numbers again", function()
  local function run(wrap)
    lg.manual_seed(1)
    local net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
    local f = wrap(function(x)
      net:zero_grad()
      lg.checkpoint(net, x):sum():backward()
    end)
    for i = 1, 20 do
      f(lg.randn(3, 4))
      if i == 10 then net:load_state_dict(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2)):state_dict()) end
      if i == 15 then net:double():float() end
    end
    return net, f
  end
  local a, b = run(plain), nil
  local net, f = run(capture)
  assert(is_captured(f), f:explain())
  for i, p in ipairs(net:parameters()) do same(p.grad, a:parameters()[i].grad) end
end)

test("a captured graph reads the index tensors of each run, however they changed", function()
  local n = 3000
  local function fresh() return lg.randint(0, 40, {n}) end
  local function whole(shape) return lg.randint(-9, 9, shape):float() end  -- numbers whose sums are exact
  local table_of, fixed, source = whole {40, 8}, fresh(), whole {n, 8}
  local function reductions(i)
    local rows = i:unsqueeze(2):expand(n, 8)
    return lg.zeros(40, 8):index_add(1, i, source) + lg.zeros(40, 8):scatter_reduce(1, rows, source, "amax"),
      table_of:index {i, i % 8}, lg.zeros(40, 8):index_put({i}, source, true)
  end
  local function both(f, g)
    local a, b, c = f()
    local p, q, r = g()
    same(a, p) same(b, q) same(c, r)
  end
  local given = capture(reductions)
  local in_place = capture(function() return reductions(fixed) end)
  local inside = capture(function()
    fixed:add_(1):remainder_(40)
    return reductions(fixed)
  end)
  local changes = {
    function() fixed:fill_(7) end,
    function() fixed:copy_(fresh()) end,
    function() fixed[{{1, 100}}] = 9 end,
    function() fixed:view(30, 100):t():add_(3):remainder_(40) end,
    function() fixed[lg.tensor {1, 2}] = 5 end,
    function() fixed:index_put_({lg.tensor {3, 4}}, 6) end,
  }
  for round = 1, 14 do
    local index = fresh()
    both(function() return given(index) end, function() return reductions(index) end)
    both(in_place, function() return reductions(fixed:clone()) end)
    changes[round % #changes + 1]()
    local before = fixed:clone()
    both(inside, function() return reductions((before + 1) % 40) end)
  end
  for _, f in ipairs {given, in_place, inside} do assert(is_captured(f), f:explain()) end
  local wrong = fresh()
  wrong[2900] = 40
  local message = error_of(function() select(2, given(wrong)):sum():item() end)
  assert(message:find("index 40", 1, true) and message:find("out of range", 1, true), message)
  local index = fresh()
  both(function() return given(index) end, function() return reductions(index) end)
end)

test("options of lg.compile are checked", function()
  assert(error_of(lg.compile, plain, {frozen = true}):find("known: capture_graph"))
  assert(error_of(lg.compile, plain, {capture_graph = 1}):find("capture_graph is a boolean"))
  assert(error_of(lg.compile, plain, {sealed = true}):find("sealed is capture_graph now"))
  assert(error_of(lg.compile, plain, 3):find("table of options"))
end)
