-- lg.func: vmap against loops, derivatives against lg.grad, and how the transforms nest.
local lg = require "lunagrad"
local func, F, nn = lg.func, lg.nn.functional, lg.nn
local f64 = {dtype = "f64"}

-- f(sample, ...) for each sample of the first argument, stacked.
local function loop(f, x, ...)
  local rows = {}
  for i = 1, x:size(1) do rows[i] = f(x[i], ...) end
  return lg.stack(rows, 1)
end
local function close(a, b) expect.close(a, b, {rtol = 1e-4, atol = 1e-5}) end
local function shape(x) return table.concat(x:size(), ",") end

describe("vmap", function()
  it("equals the loop for methods, operators, functions and modules", function()
    local w, v = lg.randn(4, 3), lg.randn(3)
    local model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 2))
    for name, f in pairs {
      operators = function(x) return -(x * 2 + v) / (x:abs() + 1) - x ^ 2 end,
      matmul = function(x) return w:matmul(x) end,
      dot = function(x) return x:dot(v) end,
      outer = function(x) return x:outer(v) end,
      reductions = function(x) return x:sum() + x:max() * x:mean(1) + x:norm() end,
      softmax = function(x) return x:softmax(1):log() end,
      index = function(x) return x[2] + x[{{1, 2}}] end,
      negative_dims = function(x) return x:unsqueeze(-1):expand(3, 2):transpose(-1, -2):cumsum(-1) end,
      cat = function(x) return lg.cat({x, v, x:flip(1)}, 1) end,
      where = function(x) return lg.where(x:gt(0), x, v) end,
      in_place = function(x)
        local y = lg.zeros_like(x)
        y[1] = x[3]
        return y:add_(x)
      end,
      cast = function(x) return x:double():to("f32") end,
      einsum = function(x) return lg.einsum("i,ji->j", x, w) end,
      module = function(x) return model(x) end,
      gelu = function(x) return F.gelu(x, "tanh") + F.silu(x) end,
      loss = function(x) return F.mse_loss(x, v) + F.cross_entropy(x, lg.tensor(1)) end,
      sort = function(x) return (x:sort(1)) end,
      custom = lg.custom_op {name = "twice", forward = function(_, x) return x * 2 end,
        backward = function(_, g) return g * 2 end},
    } do
      local x = lg.randn(6, 3)
      local ok, message = pcall(function() close(func.vmap(f)(x), loop(f, x)) end)
      assert(ok, name .. ": " .. tostring(message))
    end
  end)
  it("names rows by index tensors of each sample, and checks them", function()
    local x, i, j = lg.randn(3, 4, 2), lg.tensor {{0, 1}, {2, -3}, {1, 1}}, lg.tensor {{{-1}, {2}}, {{0}, {0}}, {{3}, {-4}}}
    local function two(a, b) return x:index {a, b} end
    close(func.vmap(two)(i, j), lg.stack {two(i[1], j[1]), two(i[2], j[2]), two(i[3], j[3])})
    close(func.vmap(function(a) return two(a, j[1]) end)(i), loop(function(a) return two(a, j[1]) end, i))
    close(func.vmap(function(b) return two(i[1], b) end)(j), loop(function(b) return two(i[1], b) end, j))
    local function put(a) return x:index_put({a, j[1]}, 7) end
    close(func.vmap(put)(i), loop(put, i))
    local function nested(a) return func.vmap(function(b) return x:index {a, b} end)(j) end
    close(func.vmap(nested)(i), loop(function(a) return lg.stack {two(a, j[1]), two(a, j[2]), two(a, j[3])} end, i))
    -- Such an index could name a row of the tensor, because the row before it ends there.
    for _, wrong in ipairs {-5, 4} do
      local bad = j:clone()
      bad[3][1][1] = wrong
      expect.raises(function() func.vmap(two)(i, bad):sum():item() end,
        ("index: index %d is out of range for dim 2 of size 4"):format(wrong))
    end
    local lengths, data = lg.tensor {{1, 3}, {2, 2}}, lg.randn(4)
    local function parts(n) return data:segment_reduce("sum", n) end
    close(func.vmap(parts)(lengths), loop(parts, lengths))
    expect.raises(function() func.vmap(parts)(lengths + 1):sum():item() end, "segment_reduce: the lengths add up to 6 where dim 1 has 4")
  end)
  it("equals the loop for images", function()
    local x = lg.randn(4, 2, 8, 8)
    local model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(1, 3))
    local function f(image) return model(image:unsqueeze(1)) end
    close(func.vmap(f)(x), loop(f, x))
    local weights = lg.randn(4, 3, 2, 3, 3)
    local function with_weight(image, weight) return F.conv2d(image:unsqueeze(1), weight) end
    local rows = {}
    for i = 1, 4 do rows[i] = with_weight(x[i], weights[i]) end
    close(func.vmap(with_weight)(x, weights), lg.stack(rows))
  end)
  it("takes in_dims, out_dims and tables", function()
    local x, y = lg.randn(3, 5), lg.randn(3)
    close(func.vmap(function(a, b) return a * b end, {2, nil})(x, y), (x * y:unsqueeze(2)):t())
    close(func.vmap(function(a) return a * 2 end, 2, 2)(x), x * 2)
    close(func.vmap(function(a) return a * 2 end, {in_dims = -1, out_dims = -1})(x), x * 2)
    local a, b = func.vmap(function(t) return t.p + 1, {q = t.p * t.r} end, {{p = 2}}, {2, 1})({p = x, r = y})
    close(a, x + 1)
    close(b.q, (x * y:unsqueeze(2)):t())
    close(func.vmap(function(t) return t:sum() end, {chunk_size = 2})(x:t()), x:sum(1))
    local one, shared = func.vmap(function(t) return t, y end, 2, {1, nil})(x)
    close(one, x:t())
    close(shared, y)
  end)
  it("nests", function()
    local x, y = lg.randn(3, 4), lg.randn(5, 4)
    local table_of = func.vmap(function(a) return func.vmap(function(b) return (a * b):sum():exp() end)(y) end)
    close(table_of(x), (x:matmul(y:t())):exp())
    local both = func.vmap(func.vmap(function(a, b) return a - b end, {1, nil}), {nil, 1})
    close(both(x[1], y[1]), x[1]:unsqueeze(1) - y[1]:unsqueeze(2))
  end)
  it("says what it cannot do", function()
    local x = lg.randn(3, 4)
    expect.raises(function() func.vmap(function(a) return a:item() end)(x[1]) end, "cannot be read")
    expect.raises(function() func.vmap(function(a) return a[a:gt(0)] end)(x) end, "depends on the values")
    expect.raises(function() func.vmap(function(a) return a end)(lg.tensor(1)) end, "out of range")
    expect.raises(function() func.vmap(function(a) return a end)(3) end, "batch dim")
    expect.raises(function() func.vmap(function(a, b) return a + b end)(x, lg.randn(4)) end, "has 3")
    expect.raises(function() func.vmap(function() return 3 end)(x) end, "must return tensors")
    expect.raises(function() func.vmap(3) end, "function expected")
    expect.raises(function() func.vmap(print, {chunk_size = 0}) end, "chunk_size")
    expect.raises(function() func.vmap(print, {randomness = "some"})(x) end, "randomness is")
    expect.raises(function() func.vmap(print, {in_dim = 2}) end, "unknown option 'in_dim'")
    local shared = lg.zeros(4)
    expect.raises(function() func.vmap(function(a) return shared:add_(a) end)(x) end, "all samples share")
    local w = lg.randn(4):requires_grad_()
    expect.raises(function() func.vmap(function(a) (a * w):sum():backward() end)(x) end, "lg.func.grad")
    local kept
    func.vmap(function(a) kept = a return a end)(x)
    expect.raises(function() return kept + 1 end, "has ended")
    expect.close(func.vmap(function(a) return a + 1 end)(x), x + 1)  -- an error leaves no vmap behind
  end)
  it("runs data-independent control flow, and reads shapes of one sample", function()
    local x = lg.randn(3, 4)
    close(func.vmap(function(a)
      assert(a:dim() == 1 and #a == 4 and a:numel() == 4)
      local sum = lg.zeros({})
      for i = 1, a:size(1) do sum = sum + a[i] * i end
      return sum
    end)(x), x:matmul(lg.arange(1, 5):float()))
    assert(func.vmap(function(a)
      assert(tostring(a):find("batch of 3"))
      return a
    end)(x))
  end)
end)

describe("randomness of vmap", function()
  local x = lg.zeros(500)
  it("is an error unless it is asked for", function()
    expect.raises(function() func.vmap(function(a) return a + lg.rand({}) end)(x) end, "randomness")
    expect.raises(function() func.vmap(function(a) return F.dropout(a, 0.5) end)(x) end, "randomness")
    expect.close(func.vmap(function(a) return F.dropout(a, 0.5, false) end)(x), x)
  end)
  it("different: each sample has its own numbers", function()
    for _, f in ipairs {
      function(a) return a + lg.rand({}) end,
      function(a) return a + lg.randn_like(a) end,
      function(a) return F.dropout(a + 1, 0.5) end,
      function(a) return lg.bernoulli(a + 0.5) end,
      function(a) return a + lg.multinomial(lg.ones(9), 1)[1] end,
      function(a) return a + lg.randperm(9)[1] end,
    } do
      local y = func.vmap(f, {randomness = "different"})(x)
      assert(y:std():item() > 0.1)
    end
  end)
  it("same: all samples have the same numbers", function()
    for _, f in ipairs {
      function(a) return a + lg.rand(3) end,
      function(a) return a + lg.randn_like(a) end,
      function(a) return F.dropout(lg.ones(8) + a, 0.5) end,
      function(a) return lg.bernoulli(a + 0.5) end,
    } do
      local y = func.vmap(f, {randomness = "same"})(x):reshape(500, -1)
      expect.equal((y - y[1]):abs():max():item(), 0)
    end
  end)
end)

describe("derivatives", function()
  local w = lg.randn(3, 3, f64)
  local function vector(x) return w:mv(x):sin() * x:exp() end
  local function scalar(x) return (vector(x) * x):sum() end
  it("jacrev, jacfwd and their nestings agree with lg.grad", function()
    local x = lg.randn(3, f64)
    local J, H = lg.grad.jacobian(vector, x), lg.grad.hessian(scalar, x)
    for _, f in ipairs {func.jacrev(vector), func.jacfwd(vector), func.jacrev(vector, {chunk_size = 2}),
      func.jacfwd(vector, 1, {chunk_size = 1})} do
      expect.close(f(x), J)
    end
    for _, f in ipairs {func.hessian(scalar), func.jacfwd(func.jacrev(scalar)), func.jacrev(func.jacfwd(scalar)),
      func.jacfwd(func.jacfwd(scalar)), func.jacrev(func.grad(scalar)), func.jacfwd(func.grad(scalar))} do
      expect.close(f(x), H)
    end
    local outputs = func.jacfwd(function(a, b) return {p = a * b, q = a:sum()} end, {1, 2})(x, x + 1)
    expect.close(outputs.p[2], x:diag())
    expect.close(outputs.q[1], lg.ones(3, f64))
    expect.close(outputs.q[2], lg.zeros(3, f64))
  end)
  it("forward mode is exact for fused ops", function()
    local x = lg.randn(2, 4, f64)
    local weight, bias = lg.randn(4, f64), lg.randn(4, f64)
    local filters = lg.randn(2, 2, 3, f64)
    for name, f in pairs {
      softmax = function(a) return a:softmax(2) end,
      log_softmax = function(a) return a:log_softmax(1) end,
      layer_norm = function(a) return F.layer_norm(a, {4}, weight, bias) end,
      rms_norm = function(a) return F.rms_norm(a, {4}, weight) end,
      attention = function(a) return F.scaled_dot_product_attention(a, a, a) end,
      cross_entropy = function(a) return F.cross_entropy(a, lg.tensor {1, 3}) end,
      conv = function(a) return F.conv1d(a:unsqueeze(1), filters, {padding = 1}) end,
      linear = function(a) return F.linear(a, weight:unsqueeze(1), nil) end,
      pool = function(a) return F.max_pool1d(a:unsqueeze(1), 2) end,
      norm = function(a) return a:norm() end,
      cumprod = function(a) return a:cumprod(2) end,
      std = function(a) return a:std(1) end,
      logsumexp = function(a) return a:logsumexp(1) end,
      batch_norm = function(a) return F.batch_norm(a, nil, nil, weight, bias, {training = true}) end,
    } do
      local ok, message = pcall(function() expect.close(func.jacfwd(f)(x), func.jacrev(f)(x), {atol = 1e-10}) end)
      assert(ok, name .. ": " .. tostring(message))
    end
  end)
  it("grad of grad, with the right variable", function()
    local cube = function(x) return x ^ 3 end
    expect.close(func.grad(func.grad(cube))(lg.tensor(2.0)), lg.tensor(12.0))
    local function outer(x) return x * func.grad(function(y) return x * y end)(x) end
    expect.close(func.grad(outer)(lg.tensor(3.0)), lg.tensor(6.0))
    local gradient, value, aux = func.grad_and_value(function(x) return (x * x):sum(), {twice = x * 2} end, 1, true)(
      lg.tensor {1.0, 2.0})
    expect.equal(gradient:tolist(), {2, 4})
    expect.equal(value:item(), 5)
    expect.equal(aux.twice:tolist(), {2, 4})
    assert(not gradient.requires_grad and not value.requires_grad and not aux.twice.requires_grad)
    local both = func.grad(function(p, x) return (p.w * x + p.b):sum() end, {1, 2})({w = lg.ones(2), b = lg.zeros(2)},
      lg.tensor {3.0, 4.0})
    expect.equal(both[1].w:tolist(), {3, 4})
    expect.equal(both[1].b:tolist(), {1, 1})
    expect.equal(both[2]:tolist(), {1, 1})
  end)
  it("stay on the tape when a tensor outside requires a gradient", function()
    local a = lg.tensor(3.0):requires_grad_()
    local g = func.grad(function(x) return a * x * x end)(lg.tensor(2.0))
    g:backward()
    expect.equal(a.grad:item(), 4)
    lg.no_grad(function() assert(not func.grad(function(x) return a * x end)(lg.tensor(2.0)).requires_grad) end)
  end)
  it("vjp, jvp and linearize are J products", function()
    local x, v = lg.randn(3, f64), lg.randn(3, f64)
    local J = lg.grad.jacobian(vector, x)
    local y, pull_back = func.vjp(vector, x)
    expect.close(y, vector(x))
    expect.close(pull_back(v), J:t():mv(v))
    expect.close(func.vmap(pull_back)(lg.eye(3, f64)), J)
    local out, tangent = func.jvp(vector, {x}, {v})
    expect.close(out, y)
    expect.close(tangent, J:mv(v))
    local _, push = func.linearize(vector, x)
    expect.close(push(v), J:mv(v))
    expect.close(func.vmap(push)(lg.eye(3, f64)), J:t())
    local _, _, aux = func.vjp(function(a) return a:sum(), a * 2 end, x, {has_aux = true})
    expect.close(aux, x * 2)
    local ga, gb = select(2, func.vjp(function(a, b) return a * b end, x, v))(lg.ones(3, f64))
    expect.close(ga, v)
    expect.close(gb, x)
  end)
  it("within vmap belong to each sample", function()
    local xs = lg.randn(5, 3, f64)
    close(func.vmap(func.grad(scalar))(xs), loop(func.grad(scalar), xs))
    close(func.vmap(func.jacrev(vector))(xs), loop(func.jacrev(vector), xs))
    close(func.vmap(func.jacfwd(vector))(xs), loop(func.jacfwd(vector), xs))
    close(func.vmap(func.hessian(scalar))(xs), loop(func.hessian(scalar), xs))
    local _, tangents = func.vmap(function(x) return func.jvp(vector, {x}, {x}) end)(xs)
    close(tangents, loop(function(x) return select(2, func.jvp(vector, {x}, {x})) end, xs))
  end)
  it("say what is wrong", function()
    local x = lg.randn(3)
    expect.raises(function() func.grad(function(a) return a end)(x) end, "one element (got shape [3])")
    expect.raises(function() func.grad(function(a) return a:sum() end, 2)(x) end, "names argument 2 of 1")
    expect.raises(function() func.grad(function(a) return a:sum() end, 0)(x) end, "count from 1")
    expect.raises(function() func.grad(function(a) return a:sum() end)(lg.tensor {1, 2}) end, "i64")
    expect.raises(function() func.jvp(function(a) return a end, {x}, {lg.ones(2)}) end, "shape [2] where [3]")
    expect.raises(function() select(2, func.vjp(function(a) return a end, x))(lg.ones(2)) end, "shape [2] where [3]")
    expect.raises(function() func.grad(function(a) return a:sum() end)(3) end, "must be a tensor")
  end)
end)

describe("modules as functions", function()
  local model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 4))
  local function parameters()
    local list = {}
    for name, p in model:named_parameters() do list[name] = p:detach() end
    return list
  end
  it("functional_call replaces parameters and restores them", function()
    local x, p = lg.randn(2, 1, 8, 8), parameters()
    local before = model(x)
    p["4.bias"] = p["4.bias"] + 1
    close(func.functional_call(model, p, {x}), before + 1)
    close(func.functional_call(model, {p, {}}, x), before + 1)
    close(model(x), before)
    expect.raises(function() func.functional_call(model, {nothing = x}, {x}) end, "no parameter or buffer 'nothing'")
    expect.raises(function() func.functional_call(model, p, {lg.randn(3)}) end, "conv2d")
    close(model(x), before)
    expect.raises(function() func.functional_call(3, p, {x}) end, "module expected")
  end)
  it("give each sample its gradient", function()
    local x, y, p = lg.randn(5, 1, 8, 8), lg.randint(0, 4, {5}), parameters()
    local function loss(q, image, label)
      return F.cross_entropy(func.functional_call(model, q, {image:unsqueeze(1)}), label:unsqueeze(1))
    end
    local each = func.vmap(func.grad(loss), {nil, 1, 1})(p, x, y)
    local total = func.grad(function(q) return F.cross_entropy(func.functional_call(model, q, {x}), y) end)(p)
    for name in pairs(p) do
      close(each[name]:mean(1), total[name])
      close(each[name][3], func.grad(loss)(p, x[3], y[3])[name])
    end
  end)
  it("stack into an ensemble", function()
    local models = {nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)}
    local params, buffers = func.stack_module_state(models)
    assert(params.weight.requires_grad and shape(params.weight) == "3,2,3" and next(buffers) == nil)
    local x = lg.randn(4, 3)
    local out = func.vmap(function(p) return func.functional_call(models[1], p, {x}) end)(params)
    for i, one in ipairs(models) do close(out[i], one(x)) end
    out:sum():backward()
    assert(shape(params.weight.grad) == "3,2,3")
  end)
end)
