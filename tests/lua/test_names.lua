-- Models are named by what the script calls them (nn/names.lua): on the tape, in errors and in lg.surgery.
local lg = require "lunagrad"
local expect = require "expect"
local names = require "lunagrad.nn.names"
local nn = lg.nn

-- The modules of the ops and the names of the parameters on the tape of a result: op or name -> module or true.
local function on_tape(result)
  local modules, parameters = {}, {}
  for _, node in ipairs(lg.tape(result)) do
    if node.op == "leaf" then
      if node.name then parameters[node.name] = true end
    else
      modules[node.module or ""] = true
    end
  end
  return modules, parameters
end

local function listed(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- Two networks of one class.
local G = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
local D = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
do
  local modules, parameters = on_tape(D(G(lg.ones(5, 2))):mean())
  expect.equal(listed(modules), {"", "D.0", "D.1", "D.2", "G.0", "G.1", "G.2"})
  expect.equal(listed(parameters), {"D.0.bias", "D.0.weight", "D.2.bias", "D.2.weight", "G.0.bias", "G.0.weight", "G.2.bias",
    "G.2.weight"})
  -- A list of the parameters of a part keeps the names; state dicts have no variable in theirs.
  assert(#G[1]:parameters() == 2 and G:state_dict()["0.weight"])
  local _, again = on_tape(G(lg.ones(5, 2)):mean())
  assert(again["G.0.weight"] and not again["weight"])
end

-- An optimizer that is made before the first call names the parameters, too.
do
  local early = nn.Sequential(nn.Linear(2, 2))
  lg.optim.SGD(early:parameters(), {lr = 0.1})
  local _, parameters = on_tape((early[1].weight * 2):sum())
  expect.equal(listed(parameters), {"early.0.weight"})
end

-- Blocks in a table, models in a table, and an object of the script.
local blocks = {}
for i = 1, 3 do blocks[i] = nn.Linear(2, 2) end
local models = {encoder = nn.Sequential(nn.Linear(2, 2)), decoder = nn.Linear(2, 2)}
local Agent = {}
Agent.__index = Agent
function Agent:act(x)
  local result = self.policy(x)
  return result
end
local agent = setmetatable({policy = nn.Linear(2, 1)}, Agent)
do
  local x = lg.ones(1, 2)
  for _, block in ipairs(blocks) do x = block(x) end
  expect.equal(listed((on_tape(x))), {"blocks.1", "blocks.2", "blocks.3"})
  expect.equal(listed((on_tape(models.decoder(models.encoder(lg.ones(1, 2)))))), {"models.decoder", "models.encoder.0"})
  expect.equal(listed((on_tape(agent:act(lg.ones(1, 2))))), {"agent.policy"})
end

-- A function's parameter is another name of what the caller holds.
do
  local function apply(net, x)
    local y = net(x)
    return y
  end
  local inner = nn.Linear(2, 2)
  expect.equal(listed((on_tape(apply(inner, lg.ones(1, 2))))), {"inner"})
end

-- Parts of a model that the script calls itself; a plain table of modules in a model.
do
  local Net = nn.class "Net"
  function Net:init()
    self.encoder = nn.Sequential(nn.Linear(2, 2))
    self.heads = {nn.Linear(2, 1), nn.Linear(2, 1)}
  end
  function Net:forward(x)
    local sum = 0
    for _, head in ipairs(self.heads) do sum = sum + head(x) end
    return sum
  end
  local net = Net()
  expect.equal(listed((on_tape(net.encoder(lg.ones(1, 2))))), {"net.encoder.0"})
  local modules = on_tape(net(lg.ones(1, 2)))
  assert(modules["net.heads.1"] and modules["net.heads.2"], table.concat(listed(modules), " "))
end

-- A shared module: its calls have the path by which they were called, and it keeps all its names.
do
  local Twice = nn.class "Twice"
  function Twice:init()
    self.first = nn.Linear(2, 2)
    self.second = self.first
    self.list = nn.Sequential(self.first, nn.Tanh(), self.first)
  end
  function Twice:forward(x)
    local one = self.first(x):exp()
    local two = self.second(one):sin()
    return self.list(two)
  end
  local twice = Twice()
  for _ = 1, 2 do
    expect.equal(listed((on_tape(twice(lg.ones(1, 2))))),
      {"twice", "twice.first", "twice.list.0", "twice.list.1", "twice.list.2", "twice.second"})
  end
end

-- Models without a variable have the names of their classes; no two have one name.
do
  local x = lg.ones(1, 2)
  local one, two = on_tape(nn.Linear(2, 2)(x)), on_tape(nn.Linear(2, 2)(x))
  expect.equal({listed(one)[1], listed(two)[1]}, {"Linear", "Linear_2"})
  local function maker()
    local hidden = nn.Linear(2, 2)
    return function(input)
      local result = hidden(input)
      return result
    end
  end
  local first, second = maker(), maker()
  for _ = 1, 2 do
    expect.equal({listed((on_tape(first(x))))[1], listed((on_tape(second(x))))[1]}, {"hidden", "hidden_2"})
  end
end

-- A model that is made in every step keeps its name.
do
  for _ = 1, 3 do
    local fresh = nn.Linear(2, 2)
    local loss = fresh(lg.ones(1, 2)):sum()
    expect.equal(listed((on_tape(loss))), {"", "fresh"})
    loss:backward()
  end
end

-- A state is named by the variable that holds it afterwards, not by a local variable of the function that builds it.
do
  local kept = lg.run.state("kept", function()
    local made = nn.Linear(2, 2)
    made(lg.ones(1, 2))
    return made
  end)
  expect.equal(listed((on_tape(kept(lg.ones(1, 2))))), {"kept"})
end

-- Items of a list get their new names when one is inserted; a copy is a model of its own.
do
  local list = nn.ModuleList {nn.ReLU(), nn.Tanh()}
  local Holder = nn.class "Holder"
  function Holder:init() self.list = list end
  function Holder:forward(x)
    for i = 1, #self.list do x = self.list[i](x) end
    return x
  end
  local holder = Holder()
  local x = lg.ones(2, {requires_grad = true})
  expect.equal(listed((on_tape(holder(x)))), {"holder.list.0", "holder.list.1"})
  list:insert(1, nn.Sigmoid())
  local places = {}
  for _, node in ipairs(lg.tape(holder(x))) do places[node.op] = node.module end
  expect.equal({places.sigmoid, places.relu, places.tanh}, {"holder.list.0", "holder.list.1", "holder.list.2"})
  local copy = nn.utils.deepcopy(holder)
  assert(on_tape(copy(x))["copy.list.0"])
end

-- Without modules there are no names, and nothing fails.
do
  local w = lg.ones(2, 2, {requires_grad = true})
  expect.equal(listed((on_tape(lg.ones(1, 2):matmul(w):relu():sum()))), {""})
end
