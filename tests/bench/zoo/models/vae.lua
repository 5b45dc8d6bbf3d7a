-- A variational autoencoder of images. Kingma, Welling, "Auto-encoding variational Bayes", 2014.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local VAE = nn.class("VAE")
function VAE:init(s)
  self.fc1 = nn.Linear(s.pixels, s.hidden)
  self.fc21, self.fc22 = nn.Linear(s.hidden, s.latent), nn.Linear(s.hidden, s.latent)
  self.fc3, self.fc4 = nn.Linear(s.latent, s.hidden), nn.Linear(s.hidden, s.pixels)
end
function VAE:encode(x)
  local h = F.relu(self.fc1(x))
  return self.fc21(h), self.fc22(h)
end
function VAE:decode(z) return self.fc4(F.relu(self.fc3(z))) end
function VAE:forward(x, noise)
  local mu, logvar = self:encode(x)
  local z = mu + noise * lg.exp(0.5 * logvar)
  return self:decode(z), mu, logvar
end

return function(zoo)
  local s = zoo.sizes
  local model = VAE(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-3})
  local x, z = zoo.wave({s.batch, s.pixels}):sigmoid(), zoo.wave({s.batch, s.latent}, 3)
  local function loss()
    local recon, mu, logvar = model(x, zoo.noise({s.batch, s.latent}))
    local bce = F.binary_cross_entropy_with_logits(recon, x, {reduction = "sum"})
    local kld = -0.5 * lg.sum(1 + logvar - mu:pow(2) - logvar:exp())
    return (bce + kld) / s.batch
  end
  return zoo.training(model, optimizer, loss, function() return model:decode(z):sigmoid() end)
end
