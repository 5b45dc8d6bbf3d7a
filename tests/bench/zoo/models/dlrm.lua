-- A recommender: large embedding tables and two MLPs, with products of all pairs of features. Naumov and others, "Deep learning
-- recommendation model for personalization and recommendation systems", 2019.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function mlp(sizes)
  local layers = {}
  for i = 1, #sizes - 1 do
    layers[#layers + 1] = nn.Linear(sizes[i], sizes[i + 1])
    if i < #sizes - 1 then layers[#layers + 1] = nn.ReLU() end
  end
  return nn.Sequential(table.unpack(layers))
end

local DLRM = nn.class("DLRM")
function DLRM:init(s)
  self.tables = nn.ModuleList()
  for _ = 1, s.tables do self.tables:append(nn.EmbeddingBag(s.rows, s.features, {mode = "sum"})) end
  self.bottom = mlp {s.dense, s.hidden, s.hidden // 2, s.features}
  local fields = s.tables + 1
  self.top = mlp {s.features + fields * (fields - 1) // 2, s.hidden, s.hidden // 2, 1}
  self.pairs = lg.tril_indices(fields, fields, -1)
end
function DLRM:forward(dense, sparse)
  local x = self.bottom(dense)
  local fields = {x}
  for i, bag in ipairs(self.tables) do fields[i + 1] = bag(sparse[i]) end
  local all = lg.stack(fields, 2)
  local products = lg.bmm(all, all:transpose(2, 3))
  local pairs = products[{{}, self.pairs[1], self.pairs[2]}]
  return self.top(lg.cat({x, pairs}, 2)):squeeze(-1)
end

return function(zoo)
  local s = zoo.sizes
  local model = DLRM(s):to(zoo.device)
  local optimizer = lg.optim.SGD(model:parameters(), {lr = 0.1})
  local dense, sparse = zoo.wave({s.batch, s.dense}), zoo.ids({s.tables, s.batch, s.bag}, s.rows)
  local clicked = zoo.ids({s.batch}, 2, 2):float()
  local function loss() return F.binary_cross_entropy_with_logits(model(dense, sparse), clicked) end
  return zoo.training(model, optimizer, loss, function() return model(dense, sparse) end)
end
