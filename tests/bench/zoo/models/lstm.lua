-- A language model of words with a large vocabulary. Zaremba, Sutskever, Vinyals, "Recurrent neural network
-- regularization", 2014.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local LanguageModel = nn.class("LanguageModel")
function LanguageModel:init(s)
  self.drop, self.encoder = nn.Dropout(s.dropout), nn.Embedding(s.vocabulary, s.width)
  self.rnn = nn.LSTM(s.width, s.width, {num_layers = s.layers, dropout = s.dropout})
  self.decoder = nn.Linear(s.width, s.vocabulary)
  for _, layer in ipairs {self.encoder, self.decoder} do nn.init.uniform_(layer.weight, -0.1, 0.1) end
end
function LanguageModel:forward(ids, h, c)
  local out
  out, h, c = self.rnn(self.drop(self.encoder(ids)), h, c)
  return self.decoder(self.drop(out)), h, c
end

return function(zoo)
  local s = zoo.sizes
  local model = LanguageModel(s):to(zoo.device)
  local optimizer = lg.optim.SGD(model:parameters(), {lr = 1.0})
  local data = zoo.ids({s.length + 1, s.batch}, s.vocabulary)
  local x, y = data[{{1, -2}}], data[{{2, -1}}]:reshape(-1)
  local h0 = lg.zeros(s.layers, s.batch, s.width, {device = zoo.device})
  local h, c = h0, h0
  local function step()
    h, c = h:detach(), c:detach()
    model:zero_grad()
    local loss = zoo.autocast(function()
      local out
      out, h, c = model(x, h, c)
      return F.cross_entropy(out:view(-1, s.vocabulary), y)
    end)
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 0.25)
    optimizer:step()
    return loss
  end
  local function infer() return zoo.autocast(function() return (model(x, h0, h0)) end) end
  return {module = model, step = step, infer = infer}
end
