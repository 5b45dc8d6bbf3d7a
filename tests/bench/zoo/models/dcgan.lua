-- DCGAN: a generator of transposed convolutions against a discriminator, with two optimizers. Radford, Metz, Chintala,
-- "Unsupervised representation learning with deep convolutional generative adversarial networks", 2016.
local lg = require "lunagrad"
local nn = lg.nn

local function generator(s)
  local layers, planes = {}, s.width * 2 ^ (s.stages - 1) // 1 | 0
  layers = {nn.ConvTranspose2d(s.latent, planes, 4, 1, 0, {bias = false}), nn.BatchNorm2d(planes), nn.ReLU(true)}
  for _ = 2, s.stages do
    layers[#layers + 1] = nn.ConvTranspose2d(planes, planes // 2, 4, 2, 1, {bias = false})
    layers[#layers + 1] = nn.BatchNorm2d(planes // 2)
    layers[#layers + 1] = nn.ReLU(true)
    planes = planes // 2
  end
  layers[#layers + 1] = nn.ConvTranspose2d(planes, 3, 4, 2, 1, {bias = false})
  layers[#layers + 1] = nn.Tanh()
  return nn.Sequential(layers)
end

local function discriminator(s)
  local planes = s.width
  local layers = {nn.Conv2d(3, planes, 4, 2, 1, {bias = false}), nn.LeakyReLU(0.2, true)}
  for _ = 2, s.stages do
    layers[#layers + 1] = nn.Conv2d(planes, 2 * planes, 4, 2, 1, {bias = false})
    layers[#layers + 1] = nn.BatchNorm2d(2 * planes)
    layers[#layers + 1] = nn.LeakyReLU(0.2, true)
    planes = 2 * planes
  end
  layers[#layers + 1] = nn.Conv2d(planes, 1, 4, 1, 0, {bias = false})
  return nn.Sequential(layers)
end

return function(zoo)
  local s = zoo.sizes
  local nets = nn.ModuleDict {{"g", generator(s)}, {"d", discriminator(s)}}:to(zoo.device)
  local netG, netD = nets.g, nets.d
  nets:apply(function(m)
    if m.__name:find "Conv" then nn.init.normal_(m.weight, 0, 0.02) end
    if m.__name:find "BatchNorm" then nn.init.normal_(m.weight, 1, 0.02) end
  end)
  local criterion = nn.BCEWithLogitsLoss()
  local optimizerD = lg.optim.Adam(netD:parameters(), {lr = 2e-4, betas = {0.5, 0.999}})
  local optimizerG = lg.optim.Adam(netG:parameters(), {lr = 2e-4, betas = {0.5, 0.999}})
  local image = 4 * 2 ^ s.stages // 1 | 0
  local real = zoo.wave({s.batch, 3, image, image}):tanh()
  local ones, zeros = lg.ones(s.batch, {device = zoo.device}), lg.zeros(s.batch, {device = zoo.device})
  local latent, fixed_noise = {s.batch, s.latent, 1, 1}, zoo.wave({s.batch, s.latent, 1, 1}, 3)

  local function step()
    netD:zero_grad()
    local fake, errD = zoo.autocast(function()
      local fake = netG(zoo.noise(latent))
      return fake, criterion(netD(real):view(-1), ones) + criterion(netD(fake:detach()):view(-1), zeros)
    end)
    errD:backward()
    optimizerD:step()
    netG:zero_grad()
    local errG = zoo.autocast(function() return criterion(netD(fake):view(-1), ones) end)
    errG:backward()
    optimizerG:step()
    return errD:detach() + errG:detach()
  end
  return {module = nets, step = step, infer = function() return zoo.autocast(function() return netG(fixed_noise) end) end}
end
