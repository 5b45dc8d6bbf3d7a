-- An autoencoder of images whose latents are entries of a codebook. Van den Oord, Vinyals, Kavukcuoglu, "Neural discrete
-- representation learning", 2017.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Residual = nn.class("Residual")
function Residual:init(planes, hidden)
  self.conv1 = nn.Conv2d(planes, hidden, 3, {padding = 1, bias = false})
  self.conv2 = nn.Conv2d(hidden, planes, 1, {bias = false})
end
function Residual:forward(x) return x + self.conv2(F.relu(self.conv1(F.relu(x)))) end

local function residuals(planes, hidden, count)
  local layers = {}
  for i = 1, count do layers[i] = Residual(planes, hidden) end
  layers[#layers + 1] = nn.ReLU()
  return nn.Sequential(table.unpack(layers))
end

local Quantizer = nn.class("Quantizer")
function Quantizer:init(codes, features)
  self.codebook = nn.Embedding(codes, features)
  nn.init.uniform_(self.codebook.weight, -1 / codes, 1 / codes)
end
-- The nearest codes, with the gradient of z, and the loss that brings both together.
function Quantizer:forward(z)
  local B, C, H, W = table.unpack(z.shape)
  local flat = z:permute(1, 3, 4, 2):reshape(-1, C)
  local nearest = lg.cdist(flat, self.codebook.weight):argmin(2)
  local q = self.codebook(nearest):view(B, H, W, C):permute(1, 4, 2, 3)
  local loss = F.mse_loss(q, z:detach()) + 0.25 * F.mse_loss(z, q:detach())
  return z + (q - z):detach(), loss
end

local VQVAE = nn.class("VQVAE")
function VQVAE:init(s)
  local w, hidden = s.width, s.width // 4
  local halved = {stride = 2, padding = 1}
  self.encoder = nn.Sequential(nn.Conv2d(3, w // 2, 4, halved), nn.ReLU(), nn.Conv2d(w // 2, w, 4, halved), nn.ReLU(),
    nn.Conv2d(w, w, 3, {padding = 1}), residuals(w, hidden, s.blocks), nn.Conv2d(w, s.features, 1))
  self.quantizer = Quantizer(s.codes, s.features)
  self.decoder = nn.Sequential(nn.Conv2d(s.features, w, 3, {padding = 1}), residuals(w, hidden, s.blocks),
    nn.ConvTranspose2d(w, w // 2, 4, halved), nn.ReLU(), nn.ConvTranspose2d(w // 2, 3, 4, halved))
end
function VQVAE:forward(x)
  local q, loss = self.quantizer(self.encoder(x))
  return self.decoder(q), loss
end

return function(zoo)
  local s = zoo.sizes
  local model = VQVAE(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 3e-4})
  local x = zoo.wave({s.batch, 3, s.image, s.image}):tanh()
  local function loss()
    local y, commitment = model(x)
    return F.mse_loss(y, x) + commitment
  end
  return zoo.training(model, optimizer, loss, function() return (model(x)) end)
end
