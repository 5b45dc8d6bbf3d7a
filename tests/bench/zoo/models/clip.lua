-- CLIP: a tower for images and one for texts learn which belong together. Radford and others, "Learning transferable visual
-- models from natural language supervision", 2021.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function transformer(width, heads, layers)
  local layer = nn.TransformerEncoderLayer(width, heads, {
    dim_feedforward = 4 * width, dropout = 0, activation = "gelu", batch_first = true, norm_first = true,
  })
  return nn.TransformerEncoder(layer, layers)
end

local Images = nn.class("Images")
function Images:init(s)
  local width = s.image_width
  self.patches = nn.Conv2d(3, width, s.patch, {stride = s.patch, bias = false})
  self.class_token = nn.Parameter(lg.randn(width) * width ^ -0.5)
  self.positions = nn.Parameter(lg.randn((s.image // s.patch) ^ 2 // 1 + 1, width) * width ^ -0.5)
  self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
  self.transformer = transformer(width, s.image_heads, s.layers)
  self.projection = nn.Linear(width, s.features, {bias = false})
end
function Images:forward(x)
  x = self.patches(x):flatten(3):transpose(2, 3)
  x = lg.cat({self.class_token:expand(x:size(1), 1, -1), x}, 2) + self.positions
  return self.projection(self.after(self.transformer(self.before(x))[{{}, 1}]))
end

local Texts = nn.class("Texts")
function Texts:init(s)
  local width = s.text_width
  self.tokens = nn.Embedding(s.vocabulary, width)
  self.positions = nn.Parameter(lg.randn(s.length, width) * 0.01)
  self.transformer = transformer(width, s.text_heads, s.layers)
  self.after, self.projection = nn.LayerNorm(width), nn.Linear(width, s.features, {bias = false})
  self:register_buffer("mask", lg.full({s.length, s.length}, -math.huge):triu(1), {persistent = false})
end
function Texts:forward(ids)
  local x = self.transformer(self.tokens(ids) + self.positions, {mask = self.mask})
  local last = ids:argmax(-1) -- the end of a text has the highest number
  return self.projection(self.after(x)[{lg.arange(ids:size(1), {device = ids:device()}), last}])
end

local CLIP = nn.class("CLIP")
function CLIP:init(s)
  self.images, self.texts = Images(s), Texts(s)
  self.logit_scale = nn.Parameter(lg.tensor(math.log(1 / 0.07)))
end
function CLIP:forward(images, texts)
  local a, b = F.normalize(self.images(images), {dim = -1}), F.normalize(self.texts(texts), {dim = -1})
  return (self.logit_scale:exp() * a):matmul(b:t())
end

return function(zoo)
  local s = zoo.sizes
  local model = CLIP(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 5e-4, betas = {0.9, 0.98}, eps = 1e-6, weight_decay = 0.2})
  local images = zoo.wave({s.batch, 3, s.image, s.image})
  local texts, labels = zoo.ids({s.batch, s.length}, s.vocabulary), lg.arange(s.batch, {device = zoo.device})
  local function loss()
    local logits = model(images, texts)
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits:t(), labels)) / 2
  end
  return zoo.training(model, optimizer, loss, function() return model(images, texts) end)
end
