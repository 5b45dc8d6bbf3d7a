-- Lines of PyTorch scripts as their authors translate them: they do what PyTorch does, or the error says what to write.
local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

describe("x[{…}] with index tensors", function()
  local x = lg.arange(24):view(2, 3, 4)
  local i, j = lg.tensor {0, 1, 0}, lg.tensor {1, -1, 2}
  it("takes the elements that they name together", function()
    expect.equal(x[{i, j}]:tolist(), {{4, 5, 6, 7}, {20, 21, 22, 23}, {8, 9, 10, 11}})
    expect.equal(x[{1, j, i}]:tolist(), {4, 9, 8})
    expect.equal(x[{i:unsqueeze(2), lg.tensor {0, 2}}]:size(), {3, 2, 4})
    expect.equal(x[lg.tensor {-1}], x[{{2, 2}}])
    expect.equal(x[{lg.tensor(1), {}, 4}]:tolist(), {15, 19, 23})
  end)
  it("puts their dims where they lie, or in front where a whole dim lies between them", function()
    expect.equal(x[{{}, i, j}]:size(), {2, 3})
    expect.equal(x[{i, {}, j}]:tolist(), {{1, 5, 9}, {15, 19, 23}, {2, 6, 10}})
    expect.equal(x[{{}, j}]:size(), {2, 3, 4})
  end)
  it("takes masks of some dims", function()
    local mask = lg.tensor {true, false, true}
    expect.equal(x[{{}, mask}]:size(), {2, 2, 4})
    expect.equal(x[lg.tensor {false, true}], x[{{2, 2}}])
    expect.equal(x[x:sum(3):gt(30)]:tolist(), {{8, 9, 10, 11}, {12, 13, 14, 15}, {16, 17, 18, 19}, {20, 21, 22, 23}})
    expect.equal(x[{1, mask, {1, 2}}]:tolist(), {{0, 1}, {8, 9}})
    expect.raises("a mask of shape [2] does not fit dim 2", function() return x[{{}, lg.tensor {true, false}}] end)
    expect.raises("holds integers (from 0) or booleans, got f32", function() return x[{{}, lg.tensor {1.5}}] end)
    expect.raises("4 indices for a tensor of shape [2, 3, 4]", function() return x[{i, x[1]:gt(0), j}] end)
  end)
  it("has a gradient", function()
    local p = lg.randn(4, 3, {dtype = "f64", requires_grad = true})
    local labels = lg.tensor {0, 1, 2, 0}
    local function loss(z) return -z:log_softmax(2)[{lg.arange(4), labels}]:mean() end
    expect.close(loss(p), F.cross_entropy(p, labels))
    assert(lg.grad.check(loss, p))
    assert(lg.grad.check(function(z) return z[{{}, lg.tensor {true, false, true}}]:square():sum() end, p))
  end)
  it("writes", function()
    local y = lg.zeros(3, 4)
    y[{lg.tensor {0, 1, 2}, lg.tensor {1, 2, 3}}] = 5
    expect.equal(y:tolist(), {{0., 5., 0., 0.}, {0., 0., 5., 0.}, {0., 0., 0., 5.}})
    y[{{}, lg.tensor {0, 1}}] = lg.tensor {{1}, {2}, {3}}
    expect.equal(y:tolist(), {{1., 1., 0., 0.}, {2., 2., 5., 0.}, {3., 3., 0., 5.}})
    y[{{1, 2}, lg.tensor {true, false, false, true}}] = -1
    expect.equal(y:tolist(), {{-1., 1., 0., -1.}, {-1., 2., 5., -1.}, {3., 3., 0., 5.}})
    y[{2, lg.tensor {0, 1}}] = lg.tensor {7, 8}
    expect.equal(y[2]:tolist(), {7., 8., 5., -1.})
    y[lg.tensor {-1}] = 0
    expect.equal(y[3]:tolist(), {0., 0., 0., 0.})
    local z = lg.zeros(2, 3, 4)
    z[{i, {}, j}] = lg.arange(9):view(3, 3)
    expect.equal(z[{i, {}, j}], lg.arange(9):view(3, 3):float())
    local w = lg.zeros(2, 2, {requires_grad = true})
    local copy = w:clone()
    copy[{lg.tensor {0}, lg.tensor {1}}] = 3
    copy:sum():backward()
    expect.equal(w.grad:tolist(), {{1., 0.}, {1., 1.}})
    expect.raises("is out of range", function() return x[{{}, lg.tensor {-4}}]:tolist() end)
    expect.raises("x[…] = v", function() y[{lg.tensor {0, 1}, lg.tensor {1, 2}}] = lg.zeros(3) end)
  end)
  it("is what where and nonzero give for each dim", function()
    local m = lg.tensor {{false, true}, {true, true}}
    local rows, columns = lg.where(m)
    expect.equal({rows:tolist(), columns:tolist()}, {{0, 1, 1}, {1, 0, 1}})
    expect.equal({m:nonzero {as_tuple = true}}, {rows, columns})
    expect.equal(m:nonzero {as_tuple = false}:size(), {3, 2})
    expect.equal(x[1][{m:nonzero {as_tuple = true}}]:tolist(), {1, 4, 5})
    expect.raises("unknown option 'tuple'", function() m:nonzero {tuple = true} end)
    expect.equal({lg.where(lg.tensor(true))}, {lg.tensor {0}})
    expect.equal({lg.tensor(0):nonzero {as_tuple = true}}, {lg.tensor({}, {dtype = "i64"})})
  end)
end)

describe("x.shape", function()
  local x = lg.zeros(2, 3, 4)
  it("compares, prints and counts from the end", function()
    assert(x.shape == lg.ones(2, 3, 4).shape and x:size() == x.shape and x.shape == {2, 3, 4} and x.shape ~= {2, 3})
    assert(x.shape[-1] == 4 and x.shape[4] == nil and x.shape:numel() == 24)
    expect.equal(tostring(x.shape) .. " " .. x.shape, "[2, 3, 4] [2, 3, 4]")
    expect.equal(x.shape[{2, -1}], {3, 4})
    expect.equal({table.unpack(x.shape)}, {2, 3, 4})
    local seen = {}
    for _, size in ipairs(x.shape) do seen[#seen + 1] = size end
    expect.equal(seen, {2, 3, 4})
    expect.equal(lg.zeros(x.shape), x)
    expect.equal(table.concat(x.shape, "x"), "2x3x4")
    assert(lg.zeros({}).shape[0] == nil)
  end)
  it("has no position 0", function()
    expect.raises("positions count from 1, or from -1 at the end; got 0", function() return x.shape[0] end)
    expect.raises("position -4 is out of range for 3 dims", function() return x.shape[-4] end)
    expect.raises("{2, 5} is out of range", function() return x.shape[{2, 5}] end)
  end)
  it("is saved as a list", function()
    local path = os.tmpname() .. ".pt"
    lg.io.save({w = x, shape = x.shape}, path)  -- PyTorch's order of the two
    assert(x.shape == lg.io.load(path).shape)
    os.remove(path)
  end)
end)

describe("x.dtype and x.device", function()
  local x = lg.zeros(2, {dtype = "f64"})
  it("are text, with and without a call", function()
    assert(x.dtype == "f64" and x.dtype == x:dtype() and x.dtype == lg.float64 and x.device == x:device())
    local y = lg.ones(3, {dtype = x.dtype, device = x.device}):to(x.dtype)
    assert(y.dtype == "f64")
    expect.equal(lg.zeros(2, {dtype = "float32"}).dtype .. x:to("long").dtype, "f32i64")
  end)
  it("leave other calls of text to Lua", function()
    local name, t = "f32", {}
    t.field = "cpu"
    expect.raises("attempt to call a string value (upvalue 'name')", function() return name() end)
    expect.raises("attempt to call a string value (field 'field')", function() return t.field(3) end)
    expect.raises("attempt to call a string value (method 'field')", function() return t:field() end)
    expect.raises("attempt to call a string value (upvalue 'name')", function() return name(x) end)
  end)
end)

describe("set_default_dtype", function()
  it("is the type of new floating-point tensors", function()
    lg.set_default_dtype(lg.float64)
    local made = {lg.zeros(2), lg.tensor {1.5}, lg.randn(2), lg.linspace(0, 1, 3), lg.eye(2), lg.arange(3) * 0.5,
      nn.Linear(2, 2).weight, nn.BatchNorm1d(2).running_mean, lg.full({2}, 0.5), lg.arange(3) / 2, lg.hann_window(4),
      nn.Linear(2, 2)(lg.rand(3, 2))}
    local whole, kept = lg.arange(3), lg.ones(2, {dtype = "f32"}) * 0.5
    local name = lg.get_default_dtype()
    lg.set_default_dtype(lg.float32)
    for i, x in ipairs(made) do assert(x.dtype == "f64", i) end
    assert(whole.dtype == "i64" and kept.dtype == "f32" and name == "f64" and lg.zeros(1).dtype == "f32")
    expect.raises("a floating-point dtype is needed (got i64)", function() lg.set_default_dtype(lg.long) end)
  end)
  it("is the type that ops compute integers and numbers in", function()
    lg.set_default_dtype("f64")
    local whole = lg.arange(3)
    local made = {lg.range(1, 3), lg.cov(whole), lg.corrcoef(whole), lg.angle(whole), lg.dist(whole, whole), lg.gradient(whole)[1]}
    local complex = {lg.fft.fft(whole), lg.fft.rfft(whole), lg.complex(1.0, 2.0)}
    local held = lg.isin(lg.tensor {0.1}, 0.1):item()
    lg.set_default_dtype("f16")
    local narrow = {lg.cov(whole), lg.range(1, 3), lg.angle(whole)}
    local widened = {lg.fft.fft(whole), lg.complex(1.0, 2.0)}
    lg.set_default_dtype("f32")
    for i, x in ipairs(made) do assert(x.dtype == "f64", i) end
    for i, z in ipairs(complex) do assert(z.dtype == "c128", i) end
    for i, x in ipairs(narrow) do assert(x.dtype == "f16", i) end
    for i, z in ipairs(widened) do assert(z.dtype == "c64", i) end
    assert(held)
  end)
  it("does not change the numbers that isin compares", function()
    for _, dtype in ipairs {"f16", "f32", "f64"} do
      local x = lg.tensor({0.1, 0.2}, {dtype = dtype})
      expect.equal(lg.isin(x, 0.1):tolist(), {true, false})
      expect.equal(lg.isin(0.1, x):item(), true)
    end
    expect.equal(lg.isin(lg.tensor {1, 2}, 1.5):tolist(), {false, false})
    expect.equal(lg.isin(lg.tensor {1, 2}, 2):tolist(), {false, true})
    expect.equal(lg.isin(lg.tensor {1., 2.}, 2):tolist(), {false, true})
  end)
end)

describe("lg.grad", function()
  it("takes its arguments by name, and only_inputs", function()
    local x = lg.tensor({1., 2.}, {requires_grad = true})
    local g = lg.grad {outputs = x:square():sum(), inputs = x, create_graph = true, only_inputs = true}
    expect.equal(g:tolist(), {2., 4.})
    expect.equal(#lg.grad {outputs = {x:sum()}, inputs = {x}}, 1)
    expect.raises("only_inputs = false", function() lg.grad(x:sum(), x, {only_inputs = false}) end)
  end)
end)

describe("set_grad_enabled", function()
  it("is enable_grad or no_grad", function()
    local x = lg.ones(1, {requires_grad = true})
    assert(not lg.set_grad_enabled(false, function() return x * 2 end).requires_grad)
    assert(lg.no_grad(function() return lg.set_grad_enabled(true, function() return x * 2 end) end).requires_grad)
    do
      local _ <close> = lg.set_grad_enabled(false)
      assert(not lg.is_grad_enabled())
    end
    assert(lg.is_grad_enabled())
    expect.equal({lg.set_grad_enabled(true, function(...) return ... end, 1, 2)}, {1, 2})
    expect.raises("bad argument #2 to 'set_grad_enabled' (function expected", function() lg.set_grad_enabled(false, 3) end)
  end)
end)

describe("parameters()", function()
  it("lists a module's own names before its modules' names, as PyTorch", function()
    local Net = nn.class("Net")
    function Net:init()
      self.fc = nn.Linear(2, 2)
      self.scale = nn.Parameter(lg.ones(1))
      self.norm = nn.LayerNorm(2)
    end
    local names = {}
    for name in Net():named_parameters() do names[#names + 1] = name end
    expect.equal(names, {"scale", "fc.weight", "fc.bias", "norm.weight", "norm.bias"})
  end)
end)

describe("an LSTM", function()
  it("takes the pair of its states, and never one of them alone", function()
    local lstm, cell, x = nn.LSTM(3, 4), nn.LSTMCell(3, 4), lg.randn(5, 2, 3)
    local h, c = lg.randn(1, 2, 4), lg.randn(1, 2, 4)
    expect.equal(lstm(x, {h, c}), (lstm(x, h, c)))
    expect.equal(cell(x[1], {h[1], c[1]}), (cell(x[1], h[1], c[1])))
    local packed = nn.utils.rnn.pack_padded_sequence(x, lg.tensor {5, 3})
    expect.equal(lstm(packed, {h, c}).data, lstm(packed, h, c).data)
    expect.raises("write local out, h, c = lstm(x, h, c)", function() lstm(x, h) end)
    expect.raises("write h, c = cell(x, h, c)", function() cell(x[1], h[1]) end)
  end)
end)

describe("containers", function()
  it("count from the end and give parts", function()
    local a, b, c = nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)
    for _, list in ipairs {nn.Sequential(a, b, c), nn.ModuleList {a, b, c}, nn.Sequential {{"a", a}, {"b", b}, {"c", c}}} do
      assert(list[-1] == c and list[-3] == a and list[-4] == nil and list[4] == nil)
      local part = list[{1, -2}]
      assert(#part == 2 and part[1] == a and part[2] == b and nn.isinstance(part, nn.ModuleList))
      expect.raises("positions count from 1", function() return list[0] end)
    end
  end)
end)

describe("update_bn", function()
  it("takes a list of batches", function()
    local net, x = nn.Sequential(nn.BatchNorm1d(2)), lg.randn(8, 2)
    lg.optim.swa_utils.update_bn({x}, net)
    expect.close(net[1].running_mean, x:mean(1), 1e-6)
  end)
end)

describe("prune", function()
  it("takes options", function()
    local layer = nn.Linear(4, 2)
    nn.utils.prune.l1_unstructured(layer, {name = "weight", amount = 0.5})
    expect.equal(layer.weight:eq(0):sum():item(), 4)
    nn.utils.prune.remove(layer, {name = "weight"})
  end)
end)

describe("custom_op", function()
  it("takes its name first", function()
    local double = lg.custom_op("double", {forward = function(_, x) return x * 2 end, backward = function(_, g) return g * 2 end})
    expect.equal(double(lg.ones(2)):tolist(), {2., 2.})
    expect.raises("as lg.custom_op{name = \"square\"", function() lg.custom_op("double") end)
  end)
end)

describe("a table of PyTorch that is elsewhere", function()
  it("says what to write for each of its fields", function()
    for code, said in pairs {
      ["lg.autograd.grad(1)"] = "torch.autograd.grad is lg.grad",
      ["lg.autograd.functional.jacobian(1)"] = "is lg.grad.jacobian",
      ["lg.autograd.no_such"] = "torch.autograd.grad is lg.grad",
      ["lg.cuda.is_available()"] = "write lg.devices()[2] ~= nil",
      ["lg.cuda.max_memory_allocated()"] = "lg.memory().peak",
      ["lg.cuda.manual_seed_all(0)"] = "lg.manual_seed(1) seeds every device",
      ["lg.cuda.amp.GradScaler()"] = "is lg.GradScaler",
      ["lg.utils.data.DataLoader()"] = "write lg.data.DataLoader",
      ["lg.utils.tensorboard.SummaryWriter()"] = "write lg.run.log",
      ["lg.random.manual_seed(0)"] = "lg.manual_seed(1)",
      ["lg.nn.init.xavier_uniform(1)"] = "write lg.nn.init.xavier_uniform_",
      ["lg.func.make_functional(1)"] = "write lg.func.functional_call",
      ["lg.linalg.qr(lg.eye(2)).Q"] = "local Q, R = lg.linalg.qr(x)",
    } do
      local ok, message = pcall(load("local lg = require 'lunagrad'; return " .. code))
      assert(not ok and message:find(said, 1, true), message)
    end
    assert(not lg.has(lg, "cuda") and not lg.has(lg, "utils"))
    lg.backends.cudnn.benchmark = true
    expect.raises("there is nothing to set", function() lg.backends.cudnn() end)
  end)
end)

describe("the sizes of a tensor", function()
  local x = lg.ones(2, 3)
  it("are a plain list to what takes lists", function()
    local samples = setmetatable({}, {__len = function() return 4 end, __index = function(_, i)
      return math.type(i) == "integer" and i <= 4 and {x = x, sizes = x:size()} or nil
    end})
    for batch in lg.data.DataLoader(samples, {batch_size = 2}) do
      expect.equal(batch.x:size(), {2, 2, 3})
      expect.equal(batch.sizes[2]:tolist(), {3, 3})
    end
    expect.equal(lg.func.vmap(function(y) return y:reshape(y:size()) end)(x):size(), {2, 3})
    expect.equal(lg.zeros(x:size()):size(), {2, 3})
    local kept = lg.nn.Sequential(lg.nn.Linear(3, 2))
    kept.sizes = x.shape
    expect.equal(lg.nn.utils.parameters_to_vector(kept:parameters()):size(), {8})
  end)
end)
