-- A DCGAN of the digits: two networks, two optimizers, detach, an average of the generator's weights.
-- Radford, Metz, Chintala, "Unsupervised representation learning with deep convolutional GANs", 2016.
local lg = require "lunagrad"
local nn, optim = lg.nn, lg.optim
local nz, ngf, ndf, nc = 8, 8, 8, 1

local function weights_init(m)
  local classname = m.__name
  if classname:find("Conv") then
    nn.init.normal_(m.weight.data, 0.0, 0.02)
  elseif classname:find("BatchNorm") then
    nn.init.normal_(m.weight.data, 1.0, 0.02)
    nn.init.constant_(m.bias.data, 0)
  end
end

local Generator = nn.class("Generator")
function Generator:init()
  self.main = nn.Sequential(
    nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, {bias = false}),
    nn.BatchNorm2d(ngf * 2),
    nn.ReLU(true),
    nn.ConvTranspose2d(ngf * 2, nc, 4, 2, 1, {bias = false}),
    nn.Tanh())
end
function Generator:forward(input) return self.main(input) end

local Discriminator = nn.class("Discriminator")
function Discriminator:init()
  self.main = nn.Sequential(
    nn.Conv2d(nc, ndf, 4, 2, 1, {bias = false}),
    nn.LeakyReLU(0.2, {inplace = true}),
    nn.Dropout2d(0.1),
    nn.utils.spectral_norm(nn.Conv2d(ndf, 1, 4, 1, 0, {bias = false})))
end
function Discriminator:forward(input) return self.main(input):view(-1, 1):squeeze(2) end

local netG, netD = Generator(), Discriminator()
netG:apply(weights_init)
netD:apply(weights_init)
local criterion = nn.BCEWithLogitsLoss()
local real_label, fake_label = 1., 0.
local optimizerD = optim.Adam(netD:parameters(), {lr = 5e-3, betas = {0.5, 0.999}})
local optimizerG = optim.Adam(netG:parameters(), {lr = 5e-3, betas = {0.5, 0.999}})
local ema = optim.EMA(netG, {decay = 0.9})

local folder = arg[0]:match("^(.*)/") or "."
local images = (lg.data.csv(folder .. "/../../assets/data/digits.csv")[{{}, {1, 64}}] / 8 - 1):reshape(-1, 1, 8, 8)
local dataset = lg.data.TensorDataset(images)
local sampler = lg.data.RandomSampler(dataset, {replacement = true, num_samples = 64 * 40})
local dataloader = lg.data.DataLoader(dataset, {batch_size = 64, sampler = sampler, drop_last = true})

local sizes = {}
local hook = netD.main[1]:register_forward_hook(function(_, _, output) sizes[#sizes + 1] = output:size(3) end)
local D_x, D_G_z, errG
for real in dataloader do
  -- maximize log D(x) + log(1 - D(G(z)))
  netD:zero_grad()
  local b_size = real:size(1)
  local label = lg.full({b_size}, real_label, {dtype = lg.float})
  local output = netD(real):view(-1)
  local errD_real = criterion(output, label)
  errD_real:backward()
  D_x = output:sigmoid():mean():item()
  local fake = netG(lg.randn(b_size, nz, 1, 1))
  label:fill_(fake_label)
  output = netD(fake:detach()):view(-1)
  local errD_fake = criterion(output, label)
  errD_fake:backward()
  D_G_z = output:sigmoid():mean():item()
  optimizerD:step()
  -- maximize log D(G(z))
  netG:zero_grad()
  label:fill_(real_label)
  errG = criterion(netD(fake):view(-1), label)
  errG:backward()
  optimizerG:step()
  ema:update()
end
hook:remove()
print(("D(x) %.3f, D(G(z)) %.3f, loss of G %.3f"):format(D_x, D_G_z, errG:item()))

assert(#sizes == 3 * #dataloader and sizes[1] == 4)
netG:eval()
lg.no_grad(function()
  ema:average(function()
    local drawn = netG(lg.randn(64, nz, 1, 1))
    -- The border of a digit is dark at the sides, and its middle is brighter: the generator has learned where.
    local mean = drawn:mean({1, 2})
    local middle, side = mean[{{3, 6}, {3, 6}}]:mean():item(), mean[{{}, {1, 1}}]:mean():item()
    print(("brightness of the middle %.2f, of the left side %.2f"):format(middle, side))
    assert(middle > side + 0.3)
  end)
end)
