-- BERT-base, masked language modelling. Devlin and others, "BERT: pre-training of deep bidirectional transformers for
-- language understanding", 2019.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Bert = nn.class("Bert")
function Bert:init(s)
  self.word, self.position = nn.Embedding(s.vocabulary, s.width), nn.Embedding(s.length, s.width)
  self.segment = nn.Embedding(2, s.width)
  self.norm, self.dropout = nn.LayerNorm(s.width, {eps = 1e-12}), nn.Dropout(s.dropout)
  self.layers = nn.ModuleList()
  for _ = 1, s.layers do
    self.layers:append(nn.TransformerEncoderLayer(s.width, s.heads, {
      dim_feedforward = 4 * s.width, dropout = s.dropout, activation = "gelu", batch_first = true,
    }))
  end
  self.transform, self.transform_norm = nn.Linear(s.width, s.width), nn.LayerNorm(s.width, {eps = 1e-12})
  self.decoder = nn.Linear(s.width, s.vocabulary)
  self.decoder.weight = self.word.weight
  for _, m in ipairs(self:modules()) do
    if nn.isinstance(m, {nn.Linear, nn.Embedding}) then nn.init.normal_(m.weight, 0, 0.02) end
  end
end
function Bert:forward(ids, segments, padding)
  local positions = lg.arange(ids:size(2), {device = ids:device()})
  local x = self.dropout(self.norm(self.word(ids) + self.position(positions) + self.segment(segments)))
  for _, layer in ipairs(self.layers) do x = layer(x, {src_key_padding_mask = padding}) end
  return self.decoder(self.transform_norm(F.gelu(self.transform(x))))
end

return function(zoo)
  local s = zoo.sizes
  local model = Bert(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 1e-4, weight_decay = 0.01})
  local ids = zoo.ids({s.batch, s.length}, s.vocabulary)
  local segments = zoo.ids({s.batch, s.length}, 2, 1)
  -- The last eighth is padding; every seventh word is to be guessed.
  local position = lg.arange(s.length, {device = zoo.device}):expand(s.batch, s.length)
  local padding = position:ge(s.length - s.length // 8)
  local masked = (position % 7):eq(3) & ~padding
  local labels = ids:masked_fill(~masked, -100)
  local input = ids:masked_fill(masked, 103)
  local function loss()
    return F.cross_entropy(model(input, segments, padding):view(-1, s.vocabulary), labels:view(-1))
  end
  return zoo.training(model, optimizer, loss, function() return model(input, segments, padding) end)
end
