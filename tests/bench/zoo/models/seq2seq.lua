-- A translator: a GRU reads, another writes one word at a time with attention over what was read. Bahdanau, Cho, Bengio,
-- "Neural machine translation by jointly learning to align and translate", 2015.
local lg = require "lunagrad"
local nn, F, optim = lg.nn, lg.nn.functional, lg.optim

local Decoder = nn.class("Decoder")
function Decoder:init(vocabulary, width)
  self.embedding = nn.Embedding(vocabulary, width)
  self.query, self.key, self.score = nn.Linear(width, width), nn.Linear(2 * width, width), nn.Linear(width, 1)
  self.cell = nn.GRUCell(3 * width, width)
  self.out = nn.Linear(4 * width, vocabulary)
end
function Decoder:forward(words, read, h)
  local keys, x, outputs = self.key(read), self.embedding(words), {}
  for t = 1, words:size(2) do
    local weights = F.softmax(self.score(lg.tanh(self.query(h):unsqueeze(2) + keys)):squeeze(-1), -1)
    local context = lg.bmm(weights:unsqueeze(2), read):squeeze(2)
    h = self.cell(lg.cat({x[{{}, t}], context}, 2), h)
    outputs[t] = lg.cat({h, context, x[{{}, t}]}, 2)
  end
  return self.out(lg.stack(outputs, 2))
end

local Translator = nn.class("Translator")
function Translator:init(s)
  self.embedding = nn.Embedding(s.vocabulary, s.width)
  self.encoder = nn.GRU(s.width, s.width, {batch_first = true, bidirectional = true})
  self.bridge = nn.Linear(2 * s.width, s.width)
  self.decoder = Decoder(s.vocabulary, s.width)
end
function Translator:forward(source, words)
  local read, last = self.encoder(self.embedding(source))
  local h = lg.tanh(self.bridge(lg.cat({last[1], last[2]}, 2)))
  return self.decoder(words, read, h)
end

return function(zoo)
  local s = zoo.sizes
  local model = Translator(s):to(zoo.device)
  local optimizer = optim.Adam(model:parameters(), {lr = 1e-3})
  local source, target = zoo.ids({s.batch, s.length}, s.vocabulary), zoo.ids({s.batch, s.length + 1}, s.vocabulary, 1)
  local x, y = target[{{}, {1, -2}}], target[{{}, {2, -1}}]
  local function loss() return F.cross_entropy(model(source, x):transpose(2, 3), y) end
  return zoo.training(model, optimizer, loss, function() return model(source, x) end)
end
