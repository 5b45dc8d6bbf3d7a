-- Lines that are translated one by one from PyTorch scripts: they work, or the error says what to write.
local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

describe("nn.init", function()
  it("takes PyTorch's names of its arguments", function()
    local w = lg.empty(64, 32)
    nn.init.normal_(w, {mean = 3.0, std = 0.1})
    expect.close(w:mean():item(), 3, 0.02)
    expect.close(w:std():item(), 0.1, 0.02)
    nn.init.uniform_(w, {a = 2, b = 3})
    assert(w:min():item() >= 2 and w:max():item() <= 3)
    expect.equal(nn.init.constant_(lg.empty(2), {val = 5}), lg.tensor {5., 5.})
    lg.manual_seed(1)
    nn.init.kaiming_normal_(w, {mode = "fan_out", nonlinearity = "relu"})
    lg.manual_seed(1)
    expect.equal(w, nn.init.kaiming_normal_(lg.empty(64, 32), 0, "fan_out", "relu"))
    expect.close(w:std():item(), math.sqrt(2 / 64), 0.02)
    nn.init.xavier_uniform_(w, {gain = 2})
    assert(w:abs():max():item() <= 2 * math.sqrt(6 / 96))
    nn.init.orthogonal_(w, {gain = 3})
    expect.close(w:t():matmul(w):diagonal(), lg.full({32}, 9.), 1e-4)
    nn.init.trunc_normal_(w, {std = 2, a = -1, b = 1})
    assert(w:abs():max():item() <= 1)
  end)
  it("names a wrong option and a module in place of its weight", function()
    expect.raises("unknown option 'deviation' (known: tensor, mean, std)",
      function() nn.init.normal_(lg.empty(2), {deviation = 1}) end)
    expect.raises("nn.init.zeros_: a tensor expected, as model.weight (got a table)",
      function() nn.init.zeros_(nn.Linear(2, 2)) end)
  end)
end)

describe("a Sequential", function()
  it("may have named items", function()
    local seq = nn.Sequential {{"fc1", nn.Linear(2, 3)}, {"act", nn.ReLU()}, {"fc2", nn.Linear(3, 1)}}
    local x = lg.randn(4, 2)
    expect.equal(seq(x), seq.fc2(seq.fc1(x):relu()))
    expect.equal(#seq, 3)
    assert(seq[1] == seq.fc1 and seq[4] == nil)
    local names = {}
    for name in seq:named_parameters() do names[#names + 1] = name end
    expect.equal(names, {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"})
    seq.fc1, seq[3] = nn.Linear(2, 3), nn.Linear(3, 5)
    expect.equal(seq(x):size(), {4, 5})
    local part = nn.Sequential {{"fc1", nn.Linear(2, 3)}, {"act", nn.ReLU()}, {"fc2", nn.Linear(3, 1)}}[{2, -1}]
    assert(#part == 2 and part.act == part[1] and part.fc2 == part[2] and part:state_dict()["fc2.weight"])
    local mixed = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    mixed:add_module("last", nn.Linear(1, 1))
    assert(mixed[{1, 3}]:state_dict()["0.bias"] and mixed[{2, 3}].last == mixed.last and mixed[{1, 3}](lg.ones(1)):numel() == 1)
    assert(#part[{2, 1}] == 0 and part:append(nn.ReLU())[{3, 3}][1] == part[3])
    expect.raises("write Sequential{{\"fc\", …}, …}", function() nn.Sequential {fc = nn.Linear(2, 3)} end)
    expect.raises("item 2 is no {name, module}", function() nn.Sequential {{"a", nn.ReLU()}, nn.ReLU()} end)
    expect.raises("item 1 is the class ReLU", function() nn.Sequential {{"a", nn.ReLU}} end)
  end)
  it("runs an item that is added by name", function()
    local seq = nn.Sequential(nn.Linear(2, 3))
    seq:add_module("head", nn.Linear(3, 1))
    seq.last = nn.Sigmoid()
    expect.equal(seq(lg.zeros(4, 2)):size(), {4, 1})
    seq:append(nn.Linear(1, 7))
    expect.equal(seq(lg.zeros(4, 2)):size(), {4, 7})
    local keys = {}
    for key in pairs(seq:state_dict()) do keys[key] = true end
    expect.equal(keys, {["0.weight"] = true, ["0.bias"] = true, ["head.weight"] = true, ["head.bias"] = true,
      ["3.weight"] = true, ["3.bias"] = true})
    expect.equal(lg.nn.utils.deepcopy(seq)(lg.zeros(4, 2)), seq(lg.zeros(4, 2)))
  end)
end)

describe("nn.isinstance", function()
  it("asks for a class of modules", function()
    local Net = nn.class("Net", nn.Linear)
    local net = Net(2, 2)
    assert(nn.isinstance(net, nn.Linear) and nn.isinstance(net, nn.Module) and nn.isinstance(net, {nn.Conv2d, Net}))
    assert(not nn.isinstance(nn.ReLU(), nn.Linear) and not nn.isinstance(lg.ones(1), nn.Linear))
    expect.raises("a class, as nn.Linear", function() nn.isinstance(net, "Linear") end)
  end)
end)

describe("a field that a module never had", function()
  it("is an error with the nearest name in the library's classes", function()
    expect.raises("Linear has no field or method 'wieght'; did you mean 'weight'?", function() return nn.Linear(3, 4).wieght end)
    expect.raises("Linear has no field or method 'forwrd'; did you mean 'forward'?", function() nn.Linear(3, 4):forwrd() end)
    expect.raises("BatchNorm1d has no field or method 'running_men'; did you mean 'running_mean'?",
      function() return nn.BatchNorm1d(3).running_men end)
    assert(nn.Linear(2, 2, {bias = false}).bias == nil and nn.ReLU().weight == nil)
    assert(nn.BatchNorm1d(3, {track_running_stats = false}).running_mean == nil)
  end)
  it("is nil in the classes of scripts", function()
    local Net = nn.class("Net")
    function Net:init(block)
      self.fc1 = nn.Linear(2, 2)
      self.block = block
    end
    function Net:forward(x) return self.fc2(x) end
    assert(Net().fc2 == nil)
    expect.raises("attempt to call a nil value (field 'fc2')", function() Net()(lg.ones(1, 2)) end)
    assert(Net().block == nil)
    assert(not lg.has(Net(), "fc2") and lg.has(Net(), "fc1") and rawget(Net(), "fc2") == nil)
    local List = nn.class("List", nn.Sequential)
    local list = List(nn.Linear(2, 2), nn.ReLU())
    assert(list.missing == nil and list[-1] == list[2] and list[3] == nil and list.appned == nil)
    local Wide = nn.class("Wide", nn.Linear)
    assert(Wide(2, 2).missing == nil and Wide(2, 2).weight:size(1) == 2)
  end)
  it("is found in the class, where Python's names are errors", function()
    local Net = nn.class("Net")
    expect.raises("class Net: __init__ is Python's; write function Net:init(…)", function() function Net:__init__() end end)
    expect.raises("write function Net:forward(…)", function() function Net:__call__() end end)
  end)
end)

describe("losses, activations and optimizers", function()
  it("take the forms of PyTorch, or name ours", function()
    local x = lg.tensor {-1., 1.}
    expect.equal(F.relu(x, true), lg.tensor {0., 1.})
    expect.equal(F.relu(x, {inplace = true}), lg.tensor {0., 1.})
    expect.equal(F.leaky_relu(x, 0.5, true), lg.tensor {-0.5, 1.})
    expect.equal(F.leaky_relu(x, {negative_slope = 0.5, inplace = true}), lg.tensor {-0.5, 1.})
    expect.equal(F.dropout(x, 0.5, false, true), x)
    expect.equal(F.hardtanh(x, -0.5, 0.5, false), lg.tensor {-0.5, 0.5})
    expect.raises("unknown option 'inplaces'", function() F.relu(x, {inplaces = true}) end)
    expect.raises("write nn.CrossEntropyLoss()(input, target) or F.cross_entropy(input, target)",
      function() nn.CrossEntropyLoss(lg.ones(2, 3), lg.tensor {0, 1}) end)
    local model = nn.Linear(2, 2)
    expect.raises("write model:parameters()", function() lg.optim.SGD(model.parameters, {lr = 1}) end)
    local optimizer = lg.optim.SGD(model:parameters(), {lr = 1})
    expect.raises("param_groups counts from 1; write optimizer.param_groups[1]", function() return optimizer.param_groups[0].lr end)
    local schedule = lg.optim.lr_scheduler.StepLR(optimizer, 1)
    expect.raises("get_last_lr(), a table", function() schedule:get_lr() end)
  end)
end)

describe("tensors", function()
  it("take & | ~ << >> of booleans and integers", function()
    local a, b = lg.tensor {true, true, false}, lg.tensor {true, false, false}
    expect.equal(a & b, lg.tensor {true, false, false})
    expect.equal(a | b, lg.tensor {true, true, false})
    expect.equal(a ~ b, lg.tensor {false, true, false})
    expect.equal(~a, lg.tensor {false, false, true})
    local n = lg.tensor {1, 2, 12}
    expect.equal(n & 6, lg.tensor {0, 2, 4})
    expect.equal(7 & n, lg.tensor {1, 2, 4})
    expect.equal(n << 1, lg.tensor {2, 4, 24})
    expect.equal(n >> 1, lg.tensor {0, 1, 6})
    expect.raises("integers or booleans are needed", function() return lg.ones(2) & lg.ones(2) end)
  end)
  it("end in ipairs", function()
    local rows = {}
    for i, row in ipairs(lg.tensor {{1, 2}, {3, 4}}) do rows[i] = row:tolist() end
    expect.equal(rows, {{1, 2}, {3, 4}})
    for _ in ipairs(lg.zeros(0, 2)) do error("a row of none") end
    expect.raises("position 3 is out of range", function() return lg.zeros(2)[3] end)
    expect.raises("a scalar tensor", function() for _ in ipairs(lg.tensor(1)) do end end)
  end)
  it("have data, which shares memory and records nothing", function()
    local w = lg.ones(2, {requires_grad = true})
    w.data:mul_(3)
    expect.equal(w:detach(), lg.tensor {3., 3.})
    assert(not w.data.requires_grad)
    w.data = w.data - 1
    expect.equal(w:detach(), lg.tensor {2., 2.})
    assert(w.requires_grad and w.is_leaf)
    w:square():sum():backward()
    expect.equal(w.grad, lg.tensor {4., 4.})
    expect.raises("shape", function() w.data = lg.ones(3) end)
    expect.raises("Tensor expected", function() w.data = 1 end)
  end)
  it("take a row for each true element of a mask", function()
    local x = lg.zeros(4, 2)
    x[lg.tensor {true, false, true, false}] = lg.tensor {{1., 2.}, {3., 4.}}
    expect.equal(x, lg.tensor {{1., 2.}, {0., 0.}, {3., 4.}, {0., 0.}})
    x[x:eq(0)] = lg.tensor {5, 6, 7, 8}
    expect.equal(x, lg.tensor {{1., 2.}, {5., 6.}, {3., 4.}, {7., 8.}})
    x[x:gt(4)] = 0
    x[lg.tensor {false, true, false, true}] = lg.tensor {9., 10.}
    x[lg.tensor {true, false, false, false}] = lg.tensor {{-1., -2.}}
    expect.equal(x, lg.tensor {{-1., -2.}, {9., 10.}, {3., 4.}, {9., 10.}})
    x[x:lt(-5)] = lg.zeros(0)
    expect.raises("the mask selects elements of shape [2], the value has shape [3]",
      function() x[x:lt(0)] = lg.ones(3) end)
    expect.raises("write x[mask] = v[mask]", function() x[x:lt(0)] = lg.ones(4, 2) end)
    local w = lg.ones(3, {requires_grad = true, dtype = "f64"})
    local v = lg.tensor({2., 3.}, {requires_grad = true, dtype = "f64"})
    local y = w * 1
    y[lg.tensor {true, false, true}] = v
    local loss = (y * lg.tensor {1., 10., 100.}):sum()
    loss:backward()
    expect.equal(w.grad, lg.tensor({0., 10., 0.}, {dtype = "f64"}))
    expect.equal(v.grad, lg.tensor({1., 100.}, {dtype = "f64"}))
  end)
  it("take NumPy's names of dims", function()
    local x = lg.ones(2, 3)
    expect.equal(x:sum {axis = 1, keepdims = true}, lg.tensor {{2., 2., 2.}})
    expect.equal(x:cumsum {axis = 2}, x:cumsum(2))
    expect.raises("'axis' is given twice", function() x:sum(1, {axis = 1}) end)
  end)
  it("name what a wrong dim of max stands for", function()
    expect.raises("it is lg.minimum(x, 0.5)", function() lg.min(lg.ones(2), 0.5) end)
    expect.raises("a new dim is lg.newaxis", function() return lg.ones(2, 2)[{{}, nil, {}}] end)
  end)
end)

describe("devices and contexts", function()
  it("are named as PyTorch names them, or say how", function()
    expect.equal(lg.device("cpu"), "cpu")
    expect.equal(lg.device(lg.device()), lg.device())
    expect.raises("a GPU is \"vulkan\"", function() lg.device("cuda") end)
    expect.raises("a GPU is \"vulkan\"", function() lg.ones(2):to("cuda") end)
    expect.raises("lg.autocast(\"bf16\", function() … end)", function() lg.autocast("cuda", {dtype = "bf16"}, print) end)
    expect.raises("lg.autocast(\"bf16\", function() … end)", function() lg.autocast({dtype = "bf16"}, print) end)
  end)
  it("of a custom op save and give a list", function()
    local cube = lg.custom_op {
      name = "cube",
      forward = function(ctx, x)
        ctx:save_for_backward(x)
        return x ^ 3
      end,
      backward = function(ctx, g)
        local x = table.unpack(ctx.saved_tensors)
        return 3 * x ^ 2 * g
      end,
    }
    assert(lg.grad.check(cube, {lg.randn(3, {dtype = "f64", requires_grad = true})}))
  end)
end)

describe("data", function()
  it("has PyTorch's default_collate, and functions among transforms", function()
    local x, y = lg.data.default_collate {{lg.ones(2), 1}, {lg.zeros(2), 2}}
    expect.equal(x, lg.tensor {{1., 1.}, {0., 0.}})
    expect.equal(y, lg.tensor {1, 2})
    local twice = lg.data.transform.compose {function(images) return images * 2 end, lg.data.transform.normalize({1}, {1})}
    expect.equal(twice(lg.ones(1, 2, 2)), lg.ones(1, 2, 2))
    expect.equal(twice(lg.ones(3, 1, 2, 2)):size(), {3, 1, 2, 2})
    expect.raises("entry 1 is a number", function() lg.data.transform.compose {3} end)
  end)
end)

describe("an index or a value of other dims", function()
  it("gives the dims of the index", function()
    local x = lg.tensor {10., 11., 12.}
    local i = lg.tensor {{0, 2}, {1, 1}}
    expect.equal(x[i], lg.tensor {{10., 12.}, {11., 11.}})
    expect.equal(lg.eye(3)[i]:size(), {2, 2, 3})
    expect.equal(lg.zeros(2, 3, 4)[{{}, i}]:size(), {2, 2, 2, 4})
    expect.equal(lg.eye(3)[lg.tensor(1)], lg.tensor {0., 1., 0.})
    x[i] = lg.tensor {{1., 2.}, {3., 4.}}
    expect.equal(x, lg.tensor {1., 4., 2.})
    x[i] = 7
    expect.equal(x, lg.tensor {7., 7., 7.})
    expect.raises("does not fit indices of shape [2, 2]", function() x[i] = lg.ones(3) end)
    assert(lg.grad.check(function(a) return a[i] ^ 2 end, {lg.randn(3, {dtype = "f64", requires_grad = true})}))
  end)
  it("may have leading dims of 1", function()
    local x = lg.zeros(2, 3)
    x[1] = lg.ones(1, 3)
    x[{2, 1}] = lg.tensor {{5.}}
    expect.equal(x, lg.tensor {{1., 1., 1.}, {5., 0., 0.}})
    expect.raises("does not fit", function() x[1] = lg.ones(2, 3) end)
  end)
  it("to() takes non_blocking and copy", function()
    local x = lg.ones(2)
    assert(x:to(lg.device(), {non_blocking = true}) == x and x:to(lg.device(), nil, true) == x)
    assert(x:to("f32", {copy = true}) ~= x)
    expect.equal(x:to("cpu", "f64", {non_blocking = true}):dtype(), "f64")
    expect.equal(x:to {dtype = "f16"}:dtype(), "f16")
    expect.raises("unknown option 'blocking'", function() x:to("cpu", {blocking = true}) end)
  end)
end)
