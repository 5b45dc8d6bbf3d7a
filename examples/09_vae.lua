-- A variational autoencoder: learns to generate digits from normally distributed random numbers.
-- D. P. Kingma, M. Welling, "Auto-Encoding Variational Bayes", 2013.
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

local epochs = lg.run.param("epochs", 150, {min = 1, max = 1000})
local latent = lg.run.param("latent", 6, {min = 1, max = 64})
local lr = lg.run.live("lr", 2e-3, {min = 1e-5, max = 1, log = true})

local folder = arg[0]:match("^(.*)/") or "."
local pixels = data.csv(folder .. "/../assets/data/digits.csv"):narrow(2, 1, 64) / 16
local loader = lg.run.state("loader", function()
  return data.DataLoader(data.TensorDataset(pixels), {batch_size = 64, shuffle = true, drop_last = true})
end)

local Vae = nn.class("Vae")

function Vae:init(size)
  self.encoder = nn.Sequential(nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 2 * size))
  self.decoder = nn.Sequential(nn.Linear(size, 256), nn.SiLU(), nn.Linear(256, 64))
end

-- The reparameterization trick: z = mean + noise * deviation is differentiable in mean and deviation; sampling z is not.
function Vae:forward(x)
  local mean, log_variance = table.unpack(self.encoder(x):chunk(2, 2))
  local z = mean + lg.randn_like(mean) * (log_variance / 2):exp()
  return self.decoder(z), mean, log_variance
end

local model = lg.run.state("model", function() return Vae(latent) end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = lr}) end)

local next_batch = loader:cycle()
for step in lg.run.steps(epochs * #loader) do
  local x = next_batch()
  optimizer:zero_grad()
  local logits, mean, log_variance = model(x)
  -- The negative evidence lower bound per image: reconstruction error plus KL divergence of q(z|x) from a standard normal.
  local back = F.binary_cross_entropy_with_logits(logits, x, {reduction = "sum"}) / #x
  local divergence = (mean:square() + log_variance:exp() - log_variance - 1):sum() / (2 * #x)
  local loss = back + divergence
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss, reconstruction = back, divergence = divergence}
end

lg.no_grad(function()
  local count = 6
  local drawn = model.decoder(lg.randn(count, latent)):sigmoid():view(count, 8, 8):tolist()
  for y = 1, 8 do
    local line = {}
    for k = 1, count do
      for x = 1, 8 do
        local shade = math.floor(drawn[k][y][x] * 4 + 0.5)
        line[#line + 1] = (" .+#@"):sub(shade + 1, shade + 1):rep(2)
      end
      line[#line + 1] = "   "
    end
    print(table.concat(line))
  end
end)
