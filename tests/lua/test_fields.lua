-- Unknown fields of lg and of its tables are errors that name what to write; PyTorch's names of dtypes are fields.
local lg = require "lunagrad"

local function raises(part, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error, where one was expected: " .. part)
  assert(message:find(part, 1, true), ("%q has no %q"):format(message, part))
  return message
end

describe("unknown fields", function()
  it("of lg name the nearest function", function()
    raises("lg.rnd does not exist; did you mean lg.nn.RNN or lg.rand?", function() return lg.rnd(3) end)
    raises("lg.nn.Linaer does not exist; did you mean lg.nn.Linear?", function() return lg.nn.Linaer end)
    raises("lg.nn.init.xavier_unifrom_ does not exist; did you mean lg.nn.init.xavier_uniform_?",
      function() return lg.nn.init.xavier_unifrom_ end)
  end)
  it("are errors at the line of the script", function()
    local message = raises("lg.zeross does not exist", function() return lg.zeross end)
    local here = debug.getinfo(1, "l").currentline - 1
    assert(message:find("test_fields.lua:" .. here .. ": ", 1, true), message)
  end)
  it("of PyTorch say what to write instead", function()
    raises("PyTorch's torch.save is lg.io.save", function() return lg.save end)
    raises("PyTorch's torch.load is lg.io.load", function() return lg.load end)
    raises("is not offered", function() return lg.jit end)
  end)
  it("of every table of the library are errors", function()
    local seen = 0
    local function visit(holder, path)
      for name, value in next, holder do
        local class = type(value) == "table" and (rawget(value, "__name") or rawget(value, "__index"))
        if type(name) == "string" and type(value) == "table" and not class and name ~= "methods"
          and name:sub(1, 1) ~= "_" then
          seen = seen + 1
          raises(path .. name .. ".no_such_field", function() return value.no_such_field end)
          visit(value, path .. name .. ".")
        end
      end
    end
    visit(lg, "lg.")
    for _, part in ipairs {"nn", "optim", "data", "grad", "run", "test", "io"} do
      raises("lg." .. part .. ".no_such_field", function() return lg[part].no_such_field end)
      visit(lg[part], "lg." .. part .. ".")
    end
    assert(seen > 15, seen)
  end)
  it("can be asked for", function()
    assert(lg.has(lg, "zeros") and not lg.has(lg, "zeross"))
    assert(lg.has(lg.nn, "Linear") and not lg.has(lg.nn, "Linaer"))
    assert(lg.has(lg.zeros(2), "softmax") and not lg.has(lg.zeros(2), "sofmax"))
    assert(rawget(lg, "zeross") == nil and rawget(lg.nn, "Linaer") == nil)
    raises("lg.has", function() return lg.has(3, "x") end)
  end)
  it("can be added", function()
    function lg.nn.my_own() return 7 end
    assert(lg.nn.my_own() == 7)
    lg.nn.my_own = nil
    raises("my_own does not exist", function() return lg.nn.my_own end)
  end)
end)

describe("dtypes of PyTorch", function()
  it("are fields of lg", function()
    local names = {
      float16 = "f16", half = "f16", bfloat16 = "bf16", float32 = "f32", float = "f32", float64 = "f64", double = "f64",
      uint8 = "u8", int32 = "i32", int = "i32", int64 = "i64", long = "i64", bool = "bool",
      complex64 = "c64", complex128 = "c128", cfloat = "c64", cdouble = "c128",
    }
    for name, dtype in pairs(names) do
      assert(lg.zeros(2, {dtype = lg[name]}):dtype() == dtype, name)
      assert(lg.ones(2):to(lg[name]):dtype() == dtype, name)
    end
  end)
  it("that do not exist are errors", function()
    raises("lg.int16 does not exist", function() return lg.zeros(2, {dtype = lg.int16}) end)
  end)
end)

describe("what a translation from PyTorch writes", function()
  local x = lg.tensor {{1., 5., 3.}, {4., 2., 6.}}
  it("max and min of two tensors", function()
    local y = lg.tensor {{2., 2., 9.}, {0., 2., 7.}}
    expect.equal(lg.max(x, y), lg.maximum(x, y))
    expect.equal(x:min(y), lg.minimum(x, y))
    local values, indices = x:max(2)
    expect.equal(values:tolist(), {5, 6})
    expect.equal(indices:tolist(), {1, 2})
    assert(lg.max(x):item() == 6)
  end)
  it("{i} keeps the dim", function()
    expect.equal(x[{{}, {2}}], lg.tensor {{5.}, {2.}})
    expect.equal(x[{{-1}}], lg.tensor {{4., 2., 6.}})
    x[{{}, {1}}] = 0
    expect.equal(x[{{}, 1}], lg.zeros(2))
    raises("position 4 is out of range", function() return x[{{}, {4}}] end)
  end)
  it("nil is refused where a new dim may be meant", function()
    raises("a new dim is lg.newaxis", function() return x[{nil, 1}] end)
    raises("a new dim is lg.newaxis", function() return x[{{}, nil, {}}] end)
    raises("'dim'", function() return x[{{}, dim = 1}] end)
  end)
end)

describe("slice", function()
  local x = lg.arange(12):reshape(3, 4)
  it("takes first and last, both included, by position and by name", function()
    expect.equal(x:slice(2, 2, 3), x[{{}, {2, 3}}])
    expect.equal(x:slice {dim = 2, first = 2, last = 3}, x[{{}, {2, 3}}])
    expect.equal(x:slice(2, 2, {last = 4, step = 2}), x[{{}, {2, 4, 2}}])
    expect.equal(lg.slice(x, 1), x)
    expect.equal(x:slice(1, -2), x[{{-2, -1}}])
    expect.equal(x:slice(1, 2, -1), x[{{2, -1}}])
    expect.equal(x:slice(1, 4):numel(), 0)
    expect.equal(lg.zeros(0, 2):slice(1):numel(), 0)
    raises("unknown option 'length'", function() return x:slice {dim = 1, length = 2} end)
    expect.equal(x:slice(1, 2, 100), x[{{2, -1}}])
    expect.equal(x:slice(1, -100, 2), x[{{1, 2}}])
    expect.equal(x:slice(1, 100, 200):numel(), 0)
    expect.equal(x:slice(1, 1, -100):numel(), 0)
    raises("positions count from 1", function() return x:slice(1, 0) end)
  end)
  it("has a gradient", function()
    local y = lg.randn(3, 4, {dtype = "f64", requires_grad = true})
    assert(lg.grad.check(function(a) return a:slice(2, 1, 4, 2) ^ 2 end, {y}))
  end)
end)

describe("methods that give a table of views", function()
  it("take their arguments by name", function()
    local x = lg.arange(12):reshape(3, 4)
    expect.equal(x:split(2, {dim = 2})[2], x:split(2, 2)[2])
    expect.equal(x:split {split_size = {1, 3}, dim = 2}[2], x:split({1, 3}, 2)[2])
    expect.equal(x:chunk {chunks = 2, dim = 2}[1], x:chunk(2, 2)[1])
    expect.equal(lg.unbind(x, {dim = 2})[4], x:unbind(2)[4])
    expect.equal(x:tensor_split(2, {dim = 2})[1], x:tensor_split(2, 2)[1])
    raises("unknown option 'dims'", function() return x:chunk(2, {dims = 2}) end)
  end)
end)

describe("gradient checks", function()
  it("of functions that differentiate themselves", function()
    local w = lg.randn(3, {dtype = "f64", requires_grad = true})
    local x = lg.randn(4, 3, {dtype = "f64", requires_grad = true})
    -- one inner step of MAML
    local function adapted(w, x)
      local loss = (x * w):sum(2):tanh():sum()
      local step = lg.grad(loss, w, {create_graph = true})
      return ((x * (w - 0.1 * step)):sum(2) ^ 2):sum()
    end
    assert(lg.grad.check(function(a, b) return adapted(a, b) end, {w, x}))
    -- the residual of a differential equation
    local function residual(t, w)
      local u = (t * w:sum()):sin()
      local slope = lg.grad(u:sum(), t, {create_graph = true})
      return (slope + u):square():sum()
    end
    local t = lg.randn(5, {dtype = "f64", requires_grad = true})
    assert(lg.grad.check(residual, {t, w}))
    assert(lg.grad.checkgrad2(residual, {t, w}))
  end)
end)

describe("in-place errors", function()
  local leaf = lg.ones(3, {requires_grad = true})
  it("name the method that was called", function()
    raises(": fill_: a leaf", function() leaf:fill_(1) end)
    raises(": zero_: a leaf", function() leaf:zero_() end)
    raises(": copy_: a leaf", function() leaf:copy_(lg.ones(3)) end)
    raises(": clamp_: a leaf", function() leaf:clamp_(0, 1) end)
    raises(": sub_: a leaf", function() leaf:sub_(1, {alpha = 2}) end)
    raises(": div_: a leaf", function() leaf:div_(2, {rounding_mode = "floor"}) end)
    raises(": x[…] = v: a view of a leaf", function() leaf[1] = 0 end)
    raises(": fill_: ", function() lg.ones(1):expand(3):fill_(1) end)
  end)
end)
