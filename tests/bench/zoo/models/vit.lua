-- ViT-B/16. Dosovitskiy and others, "An image is worth 16x16 words: transformers for image recognition at scale", 2021.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local ViT = nn.class("ViT")
function ViT:init(s)
  self.patches = nn.Conv2d(3, s.width, s.patch, {stride = s.patch})
  self.class_token = nn.Parameter(lg.zeros(1, 1, s.width))
  self.positions = nn.Parameter(lg.randn(1, (s.image // s.patch) ^ 2 // 1 + 1, s.width) * 0.02)
  local layer = nn.TransformerEncoderLayer(s.width, s.heads, {
    dim_feedforward = 4 * s.width, dropout = s.dropout, activation = "gelu", batch_first = true, norm_first = true,
  })
  self.encoder = nn.TransformerEncoder(layer, s.layers, {norm = nn.LayerNorm(s.width)})
  self.head = nn.Linear(s.width, s.classes)
end
function ViT:forward(x)
  local tokens = self.patches(x):flatten(3):transpose(2, 3)
  local first = self.class_token:expand(x:size(1), -1, -1)
  x = self.encoder(lg.cat({first, tokens}, 2) + self.positions)
  return self.head(x[{{}, 1}])
end

return function(zoo)
  local s = zoo.sizes
  local model = ViT(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 3e-4, weight_decay = 0.1})
  local x, y = zoo.wave({s.batch, 3, s.image, s.image}), zoo.ids({s.batch}, s.classes)
  return zoo.training(model, optimizer, function() return F.cross_entropy(model(x), y) end, function() return model(x) end)
end
