-- lg.surgery: every kind of change on every kind of model, its undo and redo bit for bit, and training after it.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local nn, optim, surgery = lg.nn, lg.optim, lg.surgery

-- --- models: {build() -> model, batch() -> inputs, target}, and a place for each kind of change ---

local Tied = nn.class "Tied"
function Tied:init()
  self.embed, self.mid, self.head = nn.Embedding(11, 8), nn.Linear(8, 8), nn.Linear(8, 11, {bias = false})
  self.head.weight = self.embed.weight
end
function Tied:forward(ids) return self.head(self.mid(self.embed(ids)):tanh()) end

local Recurrent = nn.class "RecurrentNet"
function Recurrent:init()
  self.lstm, self.norm, self.head = nn.LSTM(5, 8, {batch_first = true}), nn.LayerNorm(8), nn.Linear(8, 3)
end
function Recurrent:forward(x) return self.head(self.norm((self.lstm(x)))[{{}, -1}]) end

local Nested = nn.class "Nested"
function Nested:init()
  self.blocks = nn.ModuleList()
  for i = 1, 3 do self.blocks:append(nn.Sequential(nn.Linear(6, 6), nn.ReLU())) end
  self.parts = nn.ModuleDict {{"mix", nn.Linear(6, 6)}, {"out", nn.Linear(6, 3)}}
end
function Nested:forward(x)
  for i = 1, #self.blocks do x = self.blocks[i](x) end
  return self.parts.out(self.parts.mix(x):relu())
end

local Encoder = nn.class "EncoderNet"
function Encoder:init()
  self.embed = nn.Linear(4, 8)
  self.layers = nn.ModuleList {
    nn.TransformerEncoderLayer(8, 2, {dim_feedforward = 16, batch_first = true}),
    nn.TransformerEncoderLayer(8, 2, {dim_feedforward = 16, batch_first = true}),
  }
  self.head = nn.Linear(8, 3)
end
function Encoder:forward(x)
  x = self.embed(x)
  for i = 1, #self.layers do x = self.layers[i](x) end
  return self.head(x:mean(2))
end

local function classes(count, most) return lg.randint(0, most, {count}) end

local kinds = {
  MLP = {
    build = function() return nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)) end,
    batch = function() return lg.randn(7, 6), classes(7, 3) end,
    replace = {"1", function() return nn.Sequential(nn.Linear(8, 4), nn.GELU(), nn.Linear(4, 8)) end},
    insert = {"0", function() return nn.LayerNorm(8) end}, remove = "2", values = "1", tensor = "0.weight",
    wrong = function() return nn.Linear(8, 9) end,
  },
  CNN = {
    build = function()
      return nn.Sequential {
        {"conv", nn.Conv2d(1, 4, 3, {padding = 1})}, {"norm", nn.BatchNorm2d(4)}, {"act", nn.ReLU()},
        {"pool", nn.MaxPool2d(2)}, {"flat", nn.Flatten()}, {"fc", nn.Linear(64, 3)},
      }
    end,
    batch = function() return lg.randn(5, 1, 8, 8), classes(5, 3) end,
    replace = {"conv", function() return nn.Conv2d(1, 4, 5, {padding = 2}) end},
    insert = {"act", function() return nn.Conv2d(4, 4, 1) end}, remove = "norm", values = "norm", tensor = "norm.running_mean",
    wrong = function() return nn.Conv2d(1, 4, 5) end,
  },
  transformer = {
    build = Encoder, batch = function() return lg.randn(3, 5, 4), classes(3, 3) end,
    replace = {"layers.0", function() return nn.TransformerEncoderLayer(8, 4, {dim_feedforward = 8, batch_first = true}) end},
    insert = {"layers.1", function() return nn.Linear(8, 8) end}, remove = "layers.1", values = "layers.0.self_attn",
    tensor = "layers.0.linear1.weight", wrong = function() return nn.Linear(8, 7) end,
  },
  LSTM = {
    build = Recurrent, batch = function() return lg.randn(4, 6, 5), classes(4, 3) end,
    replace = {"lstm", function() return nn.LSTM(5, 8, {batch_first = true, bias = false}) end},
    insert = {"norm", function() return nn.Linear(8, 8) end}, remove = "norm", values = "lstm", tensor = "lstm.weight_ih_l0",
    wrong = function() return nn.LSTM(5, 9, {batch_first = true}) end,
  },
  tied = {
    build = Tied, batch = function() return classes(9, 11), classes(9, 11) end,
    replace = {"head", function() return nn.Linear(8, 11) end},
    insert = {"mid", function() return nn.Tanh() end}, remove = "mid", values = "head", tensor = "embed.weight",
    wrong = function() return nn.Linear(8, 10) end,
  },
  nested = {
    build = Nested, batch = function() return lg.randn(4, 6), classes(4, 3) end,
    replace = {"blocks.1.0", function() return nn.Linear(6, 6, {bias = false}) end},
    insert = {"parts.mix", function() return nn.LayerNorm(6) end}, remove = "blocks.2", values = "blocks.0", tensor = "parts.mix.bias",
    wrong = function() return nn.Linear(6, 5) end,
  },
}

local optimizers = {
  SGD = function(params) return optim.SGD(params, {lr = 0.05, momentum = 0.9, weight_decay = 0.01}) end,
  AdamW = function(params) return optim.AdamW(params, {lr = 0.01}) end,
}

-- The changes by name: fn(kind, path of the model, its new modules), which are made before, since they draw random numbers.
local changes = {
  replace = function(kind, name, made) surgery.replace(name .. "." .. kind.replace[1], made.replace) end,
  ["insert after"] = function(kind, name, made) surgery.insert(name .. "." .. kind.insert[1], made.insert) end,
  ["insert before"] = function(kind, name) surgery.insert(name .. "." .. kind.remove, nn.Dropout(0.1), "before") end,
  remove = function(kind, name) surgery.remove(name .. "." .. kind.remove) end,
  freeze = function(kind, name) surgery.freeze(name .. "." .. kind.values) end,
  reinit = function(kind, name) surgery.reinit(name .. "." .. kind.values) end,
  ["reinit by name"] = function(_, name) surgery.reinit(name, "xavier_uniform") end,
  rescale = function(kind, name) surgery.rescale(name .. "." .. kind.values, 0.5) end,
  edit = function(kind, name)
    local x = kind.tensor:find "running" or kind.tensor:find "bias"
    surgery.edit(name .. "." .. kind.tensor, x and 2 or {{1, 2}, {}}, 0.25)
  end,
  ["setting of an optimizer"] = function() surgery.optimizer("optimizer", nil, "lr", 0.125) end,
  ["state of an optimizer"] = function(kind, name)
    surgery.optimizer("optimizer", name .. "." .. kind.values, "step", 77)
  end,
}

local function new_modules(kind) return {replace = kind.replace[2](), insert = kind.insert[2]()} end

local function names_of(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The optimizer holds each trained parameter of the model once, has a state for it, and nothing else.
local function check_members(model, optimizer)
  local held = 0
  for _, parameter in ipairs(model:parameters()) do
    held = held + 1
    assert(optimizer:has(parameter), "a parameter is in no group")
  end
  local count = 0
  for _, group in ipairs(optimizer.param_groups) do count = count + #group.params end
  expect.equal(count, held)
end

for _, kind_name in ipairs(names_of(kinds)) do
  for i, change_name in ipairs(names_of(changes)) do
    local kind = kinds[kind_name]
    lg.manual_seed(5)
    local model = kind.build()
    local optimizer = optimizers[i % 2 == 0 and "SGD" or "AdamW"](model:named_parameters())
    local average = optim.EMA(model, {decay = 0.9})
    local fast = lg.compile(function(x) return model(x) end)
    local x, target = kind.batch()
    local function train(steps)
      local loss
      for _ = 1, steps do
        optimizer:zero_grad()
        loss = nn.functional.cross_entropy(fast(x), target)
        loss:backward()
        optimizer:step()
        average:update()
      end
      return loss:item()
    end
    train(2)
    local where, made = kind_name .. ", " .. change_name, new_modules(kind)
    local before, random = surgery.hash(), lg.get_rng_state()
    changes[change_name](kind, "model", made)
    local after = surgery.hash()
    assert(after ~= before, where .. " changed nothing")
    surgery.undo()
    expect.equal(surgery.hash(), before, where)
    expect.equal(lg.get_rng_state(), random, where)
    surgery.redo()
    expect.equal(surgery.hash(), after, where)
    -- Training continues; undo takes it back, too, and redo restores it.
    check_members(model, optimizer)
    local loss = train(5)
    assert(loss == loss and loss < math.huge, where .. " makes training fail")
    local trained = surgery.hash()
    assert(surgery.undo():find "5 steps of training are taken back", where)
    expect.equal(surgery.hash(), before, where)
    surgery.redo()
    expect.equal(surgery.hash(), trained, where)
    surgery.undo()
    check_members(model, optimizer)
    assert(train(3) < math.huge)
  end
end

-- Undo and redo, 100 times.
do
  lg.manual_seed(6)
  local model = kinds.CNN.build()
  local optimizer = optimizers.AdamW(model:parameters())
  local x, target = kinds.CNN.batch()
  local function train()
    optimizer:zero_grad()
    nn.functional.cross_entropy(model(x), target):backward()
    optimizer:step()
  end
  train()
  local made = new_modules(kinds.CNN)
  local hashes = {surgery.hash()}
  for _, name in ipairs {"replace", "insert after", "freeze", "reinit", "rescale", "edit"} do
    changes[name](kinds.CNN, "model", made)
    hashes[#hashes + 1] = surgery.hash()
  end
  for _ = 1, 100 do
    for i = #hashes - 1, 1, -1 do
      surgery.undo()
      assert(surgery.hash() == hashes[i])
    end
    for i = 2, #hashes do
      surgery.redo()
      assert(surgery.hash() == hashes[i])
    end
  end
  surgery.go_to(#surgery.history() - 4)
  expect.equal(surgery.hash(), hashes[3])
  surgery.go_to(#surgery.history())
  expect.equal(surgery.hash(), hashes[#hashes])
end

-- --- what changes do ---

-- An error changes nothing, and names what is expected.
do
  for _, kind_name in ipairs(names_of(kinds)) do
    local kind = kinds[kind_name]
    local model = kind.build()
    local optimizer = optimizers.SGD(model:parameters())
    nn.functional.cross_entropy(model((kind.batch())), (select(2, kind.batch()))):backward()
    optimizer:step()
    local wrong, class = kind.wrong(), nn.Linear
    local before, entries = surgery.hash(), #surgery.history()
    local function refuses(part, f, ...)
      local message = expect.call_raises(part, f, ...)
      assert(surgery.hash() == before, message)
      expect.equal(#surgery.history(), entries)
    end
    refuses("'model." .. kind.replace[1] .. "' gets [", surgery.replace, "model." .. kind.replace[1], wrong)
    refuses("there is no 'model.nothing'", surgery.freeze, "model.nothing")
    refuses("begins with no state of lg.run.state and no variable that holds a model; did you mean 'model'?",
      surgery.freeze, "modle.0")
    refuses("Linear is a class; make a module of it", surgery.replace, "model." .. kind.replace[1], class)
    refuses("a module expected", surgery.insert, "model." .. kind.insert[1], 3)
    refuses("'model' is a variable of the script", surgery.remove, "model")
    refuses("the third argument is", surgery.insert, "model." .. kind.insert[1], wrong, "above")
    refuses("there is no initialization 'xavier'", surgery.reinit, "model", "xavier")
    refuses("a finite number expected", surgery.rescale, "model", 0 / 0)
    refuses("a number expected as the factor", surgery.rescale, "model", "2")
    refuses("out of range", surgery.edit, "model." .. kind.tensor, 99, 1)
    refuses("an index as in", surgery.edit, "model." .. kind.tensor, "a", 1)
    refuses("is no optimizer", surgery.optimizer, "model", nil, "lr", 1)
    refuses("has no setting 'lrr'; did you mean 'lr'", surgery.optimizer, "optimizer", nil, "lrr", 1)
    refuses("must not be negative", surgery.optimizer, "optimizer", nil, "lr", -1)
    refuses("lr of SGD is a number", surgery.optimizer, "optimizer", nil, "lr", "a")
    refuses("a path as 'model.fc1', a module or a tensor expected", surgery.freeze, 3)
    refuses("a path as 'model.fc1', a module or a tensor expected", surgery.freeze)
  end
end

-- An init that is a function fills the tensor, or returns another.
do
  local model = nn.Sequential(nn.Linear(2, 2))
  surgery.reinit("model.0.bias", function(x) return lg.full(x:size(), 3) end)
  expect.equal(model[1].bias:tolist(), {3.0, 3.0})
  expect.equal(model[1].bias.requires_grad, true)
  surgery.reinit("model.0.weight", function(x) x:fill_(4) end)
  expect.equal(model[1].weight:sum():item(), 16.0)
  local before = surgery.hash()
  expect.call_raises("gives [7]; it fills the tensor", surgery.reinit, "model.0.bias", function() return lg.ones(7) end)
  expect.call_raises("gives a string", surgery.reinit, "model.0.bias", function() return "a" end)
  expect.call_raises("stopped", surgery.reinit, "model", function() error("stopped") end)
  expect.call_raises("has an empty name", surgery.freeze, "model..0")
  expect.equal(surgery.hash(), before)
end

-- Before its first call, a model is compared by the sizes that its layers declare.
do
  local model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
  expect.call_raises("has 4 features in, 8 out; Linear(4, 7) has 4 features in, 7 out", surgery.replace, "model.0", nn.Linear(4, 7))
  expect.call_raises("so what follows would not fit", surgery.remove, "model.2")
  expect.call_raises("which must stay", surgery.insert, "model.0", nn.LayerNorm(4))
  surgery.insert("model.0", nn.LayerNorm(8))
  expect.equal(model(lg.ones(1, 4)):size(), {1, 2})
  surgery.undo()
  expect.equal(#model, 3)
end

-- A frozen layer stays as it is while the others are trained, by an optimizer with momentum and weight decay, too.
do
  local model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
  local optimizer = optimizers.SGD(model:parameters())
  local function train() model(lg.ones(2, 3)):sum():backward() optimizer:step() end
  train()
  surgery.freeze(model[1])  -- between two steps, with gradients of the last one
  local frozen, other = model[1].weight:clone(), model[2].weight:clone()
  train()
  assert(lg.equal(frozen, model[1].weight) and not lg.equal(other, model[2].weight))
  expect.equal(model[1].weight.requires_grad, false)
  surgery.unfreeze("model.0")
  train()
  assert(not lg.equal(frozen, model[1].weight))
  -- Changes of frozen parameters keep them frozen.
  surgery.freeze "model.0"
  surgery.rescale("model.0", 2)
  surgery.reinit "model.0"
  surgery.edit("model.0.weight", {1, 1}, 3)
  expect.equal(model[1].weight.requires_grad, false)
  expect.equal(model[1].weight[{1, 1}]:item(), 3.0)
end

-- Groups: new parameters join the groups of the parameters that they replace, by their names.
do
  local model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))
  local weights, biases = {}, {}
  for name, parameter in model:named_parameters() do
    local list = name:find "weight" and weights or biases
    list[#list + 1] = {name, parameter}
  end
  local optimizer = optim.Adam {{params = weights, weight_decay = 0.1}, {params = biases, lr = 0.5}}
  local gone = model[1].weight
  surgery.replace("model.0", nn.Linear(3, 3))
  local groups = optimizer.param_groups
  assert(groups[1].params[1] == model[1].weight and groups[2].params[1] == model[1].bias)
  assert(not optimizer:has(gone))
  expect.equal(groups[1].param_names, {"0.weight", "2.weight"})
  surgery.insert("model.1", nn.LayerNorm(3))
  expect.equal(groups[1].param_names, {"0.weight", "2.weight", "2.bias", "3.weight"})
  surgery.undo()
  surgery.undo()
  assert(groups[1].params[1] == gone and optimizer:has(gone))
  expect.equal(groups[1].param_names, {"0.weight", "2.weight"})
end

-- A tied weight stays in the optimizer when one of its places is removed, and values are changed in all places.
do
  local model = Tied()
  local optimizer = optim.SGD(model:parameters(), {lr = 0.1})
  local weight = model.embed.weight
  surgery.replace("model.head", nn.Linear(8, 11))
  assert(optimizer:has(weight) and optimizer:has(model.head.weight) and model.embed.weight == weight)
  surgery.undo()
  assert(model.head.weight == weight)
  surgery.rescale("model.head", 0)
  assert(model.embed.weight == weight)
  expect.equal(model.embed.weight:abs():sum():item(), 0.0)
  surgery.undo()
end

-- In the middle of a step, between the forward and the backward pass: the gradients belong to the values that forward
-- read.
do
  local model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
  local x = lg.randn(4, 3)
  model(x):pow(2):sum():backward()
  local wanted = model[1].weight.grad:clone()
  model:zero_grad()
  local loss = model(x):pow(2):sum()
  surgery.rescale("model", 10)
  loss:backward()
  expect.equal(model[1].weight.grad, wanted)
  surgery.undo()
end

-- Hooks move to the new module, and their handles remove them there.
do
  local model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
  local calls = 0
  local handle = model[1]:register_forward_hook(function() calls = calls + 1 end)
  surgery.replace("model.0", nn.Linear(3, 3))
  model(lg.ones(1, 3))
  expect.equal(calls, 1)
  handle:remove()
  model(lg.ones(1, 3))
  expect.equal(calls, 1)
  surgery.undo()
  model(lg.ones(1, 3))
  expect.equal(calls, 1)
end

-- A module may be wrapped by its replacement: its parameters and hooks stay.
do
  local model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
  local optimizer = optim.SGD(model:parameters(), {lr = 0.1})
  local calls, inner = 0, model[1]
  inner:register_forward_hook(function() calls = calls + 1 end)
  surgery.replace("model.0", nn.Sequential(inner, nn.Linear(3, 3)))
  model(lg.ones(1, 3))
  expect.equal(calls, 1)
  check_members(model, optimizer)
  expect.call_raises("holds the module that has 'model.1'", surgery.replace, "model.1", nn.Sequential(nn.ReLU(), model))
  surgery.undo()
  check_members(model, optimizer)
end

-- A captured graph, which runs without its script, sees the change.
do
  local model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
  local fast = lg.compile(function(x) return model(x) end, {capture_graph = true})
  local x = lg.ones(2, 3)
  for _ = 1, 5 do fast(x) end
  surgery.replace("model.0", nn.Linear(3, 3))
  expect.close(fast(x), model(x))
  surgery.rescale("model.0", 3)
  expect.close(fast(x), model(x))
  surgery.undo()
  surgery.undo()
  for _ = 1, 5 do expect.close(fast(x), model(x)) end
end

-- Paths: without the variable, with the class as the tape names it, through tables; and what is in several models.
do
  local Net = nn.class "PathNet"
  function Net:init() self.only_here = nn.Linear(2, 2) end
  function Net:forward(x) return self.only_here(x) end
  local net = Net()
  local nets = {list = {nn.Linear(2, 2), nn.Linear(2, 2)}}
  surgery.rescale("only_here.weight", 2)
  expect.equal(surgery.history()[#surgery.history()].line, 'lg.surgery.rescale("net.only_here.weight", 2)')
  surgery.rescale("PathNet.only_here", 2)
  surgery.freeze(nets.list[2])
  expect.equal(surgery.history()[#surgery.history()].line, 'lg.surgery.freeze("nets.list.2")')
  surgery.insert("nets.list.1", nn.Linear(2, 2))
  expect.equal(#nets.list, 3)
  surgery.undo()
  expect.equal(#nets.list, 2)
  local twin = Net()
  expect.call_raises("is in several models: write 'net.only_here' or 'twin.only_here'", surgery.freeze, "only_here")
  surgery.freeze(twin)
  expect.equal(net.only_here.weight.requires_grad, true)
end

-- Running the line of a history entry makes the same change.
do
  local model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
  local optimizer = optim.Adam(model:parameters(), {lr = 0.01})
  model(lg.ones(1, 4)):sum():backward()
  optimizer:step()
  _G.model, _G.optimizer, _G.lg = model, optimizer, lg
  for _, change in ipairs {
    function() surgery.rescale("model.0", 1 / 3) end,
    function() surgery.edit("model.0.weight", {1, {2, 3}}, lg.tensor {5.5, -1}) end,
    function() surgery.optimizer("optimizer", "model.0.bias", "exp_avg", 0.5) end,
    function() surgery.optimizer("optimizer", nil, "betas", {0.5, 0.75}) end,
    function() surgery.freeze("model.0.bias") end,
  } do
    change()
    local hash, list = surgery.hash(), surgery.history()
    surgery.undo()
    assert(load(list[#list].line))()
    expect.equal(surgery.hash(), hash, list[#list].line)
  end
  _G.model, _G.optimizer, _G.lg = nil, nil, nil
  surgery.insert("model.0", nn.Linear(4, 4, {bias = false}))
  local list = surgery.history()
  expect.equal(list[#list].line, 'lg.surgery.insert("model.0", lg.nn.Linear(4, 4, {bias = false}), "after")')
end

-- An averaged model, a copy, gets the same change as the model.
do
  local model = Nested()
  local averaged = optim.swa_utils.AveragedModel(model)
  averaged:update_parameters(model)
  local before = surgery.hash()
  surgery.insert("model.parts.mix", nn.ReLU())
  surgery.remove("model.blocks.1")
  surgery.freeze("model.parts.out")
  averaged:update_parameters(model)
  expect.equal(#averaged.module.blocks, 2)
  expect.close(averaged(lg.ones(2, 6)), model(lg.ones(2, 6)))
  surgery.go_to(#surgery.history() - 3)
  expect.equal(surgery.hash(), before)
  averaged:update_parameters(model)
end

-- LBFGS forgets what it remembers of other parameters.
do
  local model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
  local optimizer = optim.LBFGS(model:parameters(), {max_iter = 3})
  local function train()
    return optimizer:step(function()
      optimizer:zero_grad()
      local loss = (model(lg.ones(2, 3)) - 1):pow(2):sum()
      loss:backward()
      return loss
    end)
  end
  train()
  local wide = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3))
  local before = surgery.hash()
  surgery.replace("model.0", wide)
  assert(train():item() < math.huge)
  surgery.undo()
  expect.equal(surgery.hash(), before)
  train()
end

-- The history stays within its budget: the oldest changes are dropped, and a change that exceeds the budget cannot be
-- undone.
do
  local model = nn.Linear(64, 64)
  local budget = surgery.budget()
  surgery.budget(3 * 64 * 65 * 4)
  local before = #surgery.history()
  for _ = 1, 6 do surgery.rescale(model, 1.5) end
  local bytes = 0
  for _, entry in ipairs(surgery.history()) do bytes = bytes + entry.bytes end
  assert(bytes <= surgery.budget() and #surgery.history() >= 1 and #surgery.history() < before + 6)
  surgery.budget(0)
  expect.equal(#surgery.history(), 0)
  expect.call_raises("nothing to undo", surgery.undo)
  surgery.rescale(model, 2)
  expect.call_raises("nothing to undo", surgery.undo)
  expect.call_raises("a whole number of bytes expected", surgery.budget, -1)
  surgery.budget(budget)
end

-- The hash sees every bit of the state: a value, a flag, the mode, an optimizer's setting, the random generator.
do
  local model = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))
  local optimizer = optim.SGD(model:parameters(), {lr = 0.1})
  local function changed(text, f)
    local before = surgery.hash()
    expect.equal(surgery.hash(), before)
    f()
    assert(surgery.hash() ~= before, text)
  end
  changed("an element", function() lg.no_grad(function() model[1].weight[{2, 3}] = -0.0 end) end)
  changed("its sign", function() lg.no_grad(function() model[1].weight[{2, 3}] = 0.0 end) end)
  changed("a flag", function() model[1].bias:requires_grad_(false) end)
  changed("the mode", function() model:eval() end)
  changed("a setting", function() optimizer.param_groups[1].lr = 0.2 end)
  changed("a field", function() model[2].p = 0.25 end)
  changed("the random generator", function() lg.rand(1) end)
  changed("a module", function() model:append(nn.ReLU()) end)
end

-- The value at a path, with and without the variable in front.
do
  local model = lg.run.state("got", function() return nn.Sequential(nn.Linear(3, 2), nn.ReLU()) end)
  assert(surgery.get "got.0.weight" == model[1].weight and surgery.get "got" == model)
  expect.call_raises("surgery.get: there is no 'got.0.wait'", surgery.get, "got.0.wait")
  expect.call_raises("a path as 'model.fc1'", surgery.get, 3)
end
