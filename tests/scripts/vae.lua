-- A convolutional variational autoencoder of the digits. Kingma, Welling, "Auto-encoding variational Bayes", 2013.
local lg = require "lunagrad"
local nn, F, optim, D = lg.nn, lg.nn.functional, lg.optim, lg.distributions

local VAE = nn.class("VAE")
function VAE:init(latent_dim)
  self.encoder = nn.Sequential {
    {"conv", nn.Conv2d(1, 8, 3, {stride = 2, padding = 1})},
    {"act", nn.ReLU(true)},
    {"flat", nn.Flatten()},
  }
  self.fc_mu = nn.Linear(8 * 4 * 4, latent_dim)
  self.fc_var = nn.Linear(8 * 4 * 4, latent_dim)
  self.decoder = nn.Sequential(
    nn.Linear(latent_dim, 8 * 4 * 4),
    nn.LeakyReLU(0.2, true),
    nn.Unflatten(2, {8, 4, 4}),
    nn.ConvTranspose2d(8, 8, 3, {stride = 2, padding = 1, output_padding = 1}),
    nn.BatchNorm2d(8),
    nn.LeakyReLU(0.2, {inplace = true}),
    nn.Conv2d(8, 1, 3, {padding = "same"}))
end
function VAE:encode(x)
  local h = self.encoder(x)
  return self.fc_mu(h), self.fc_var(h)
end
function VAE:reparameterize(mu, logvar)
  local std = lg.exp(0.5 * logvar)
  local eps = lg.randn_like(std)
  return eps:mul(std):add_(mu)
end
function VAE:forward(x)
  local mu, logvar = self:encode(x)
  return self.decoder(self:reparameterize(mu, logvar)), mu, logvar
end

local function loss_function(recon_x, x, mu, logvar)
  local BCE = F.binary_cross_entropy_with_logits(recon_x, x, {reduction = "sum"})
  local KLD = -0.5 * lg.sum(1 + logvar - mu:pow(2) - logvar:exp())
  return BCE + KLD
end

local folder = arg[0]:match("^(.*)/") or "."
local images = (lg.data.csv(folder .. "/../../assets/data/digits.csv")[{{}, {1, 64}}] / 16):reshape(-1, 1, 8, 8)
local loader = lg.data.DataLoader(lg.data.TensorDataset(images), {batch_size = 128, shuffle = true, pin_memory = true})
local model = VAE(4)
local optimizer = optim.Adam(model:parameters(), {lr = 5e-3})
local scheduler = optim.lr_scheduler.ExponentialLR(optimizer, {gamma = 0.9})
local losses = {}
for epoch = 1, 4 do
  model:train()
  local train_loss = 0
  for data in loader do
    optimizer:zero_grad()
    local recon, mu, logvar = model(data)
    local loss = loss_function(recon, data, mu, logvar)
    loss:backward()
    train_loss = train_loss + loss:item()
    optimizer:step()
  end
  scheduler:step()
  losses[epoch] = train_loss / #images
  print(("epoch %d: loss %.2f"):format(epoch, losses[epoch]))
end
assert(losses[4] < 30 and losses[4] < losses[1] - 5, losses[4])

model:eval()
lg.no_grad(function()
  local mu, logvar = model:encode(images[{{1, 4}}])
  local q = D.Normal(mu, (0.5 * logvar):exp())
  local p = D.Normal(lg.zeros_like(mu), lg.ones_like(mu))
  assert(lg.allclose(D.kl_divergence(q, p), -0.5 * (1 + logvar - mu:pow(2) - logvar:exp()), {atol = 1e-4}))
  local sample = lg.sigmoid(model.decoder(lg.randn(16, 4)))
  assert(sample:size(3) == 8 and math.abs(sample:mean():item() - images:mean():item()) < 0.1, sample:mean())
end)
