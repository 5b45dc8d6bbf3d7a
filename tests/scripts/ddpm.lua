-- A diffusion model of the digits: embedded time, a small UNet with attention, averaged weights.
-- Ho, Jain, Abbeel, "Denoising diffusion probabilistic models", 2020.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local timesteps = 40

local betas = lg.linspace(1e-3, 0.2, timesteps)
local alphas = 1. - betas
local alphas_cumprod = lg.cumprod(alphas, {axis = 1})
local alphas_cumprod_prev = F.pad(alphas_cumprod[{{1, -2}}], {1, 0}, {value = 1.0})
local sqrt_recip_alphas, sqrt_one_minus = lg.sqrt(1.0 / alphas), lg.sqrt(1. - alphas_cumprod)
local sqrt_alphas_cumprod = lg.sqrt(alphas_cumprod)
local posterior_variance = betas * (1. - alphas_cumprod_prev) / (1. - alphas_cumprod)

local function extract(a, t, x_shape)
  local shape = {t:size(1)}
  for i = 2, #x_shape do shape[i] = 1 end
  return a:gather(-1, t):reshape(shape)
end

local TimeEmbedding = nn.class("TimeEmbedding")
function TimeEmbedding:init(dim) self.dim = dim end
function TimeEmbedding:forward(time)
  local half = self.dim // 2
  local rates = lg.exp(lg.arange(half, {device = time:device()}) * -(math.log(10000) / (half - 1)))
  local angles = time:unsqueeze(2) * rates:unsqueeze(1)
  return lg.cat({angles:sin(), angles:cos()}, {dim = -1})
end

local Block = nn.class("Block")
function Block:init(in_ch, out_ch, time_dim)
  self.time_mlp = nn.Linear(time_dim, out_ch)
  self.act, self.norm1 = nn.SiLU(), nn.GroupNorm(4, out_ch)
  self.conv1 = nn.Conv2d(in_ch, out_ch, 3, {padding = 1})
  self.conv2 = nn.Conv2d(out_ch, out_ch, 3, {padding = 1})
  self.norm2 = nn.GroupNorm {num_groups = 4, num_channels = out_ch}
end
function Block:forward(x, t)
  local h = self.norm1(self.act(self.conv1(x)))
  h = h + self.act(self.time_mlp(t)):unsqueeze(-1):unsqueeze(-1)
  return self.norm2(self.act(self.conv2(h)))
end

local UNet = nn.class("UNet")
function UNet:init()
  local time_dim = 16
  self.time_mlp = nn.Sequential(TimeEmbedding(time_dim), nn.Linear(time_dim, time_dim), nn.ReLU())
  self.down1, self.down2 = Block(1, 8, time_dim), Block(8, 16, time_dim)
  self.attn = nn.MultiheadAttention(16, 2, {batch_first = true})
  self.up1 = Block(16 + 8, 8, time_dim)
  self.out = nn.Conv2d(8, 1, 1)
end
function UNet:forward(x, timestep)
  local t = self.time_mlp(timestep)
  local d1 = self.down1(x, t)
  local d2 = self.down2(F.max_pool2d(d1, 2), t)
  local B, C, H, W = table.unpack(d2:size())
  local s = d2:flatten(3):transpose(2, 3)
  local a = self.attn(s, s, s, {need_weights = false})
  d2 = d2 + a:transpose(2, 3):reshape(B, C, H, W)
  local u = F.interpolate(d2, {scale_factor = 2, mode = "nearest"})
  return self.out(self.up1(lg.cat({u, d1}, 2), t))
end

local folder = arg[0]:match("^(.*)/") or "."
local images = (lg.data.csv(folder .. "/../../assets/data/digits.csv"):narrow(2, 1, 64) / 8 - 1):view(-1, 1, 8, 8)
local model = UNet()
local optimizer, ema = lg.optim.AdamW(model:parameters(), {lr = 3e-3}), lg.optim.EMA(model, {decay = 0.95})
local loader = lg.data.DataLoader(lg.data.TensorDataset(images), {batch_size = 64, shuffle = true})
local losses = {}
for _ = 1, 3 do
  for x in loader do
    optimizer:zero_grad()
    local t = lg.randint(0, timesteps, {x:size(1)}):long()
    local noise = lg.randn_like(x)
    local x_noisy = extract(sqrt_alphas_cumprod, t, x:size()) * x + extract(sqrt_one_minus, t, x:size()) * noise
    local loss = F.smooth_l1_loss(noise, model(x_noisy, t))
    loss:backward()
    optimizer:step()
    ema:update()
    losses[#losses + 1] = loss:item()
  end
end
local drawn = ema:average(function()
  local _ <close> = lg.no_grad()
  local img = lg.randn(16, 1, 8, 8)
  for i = timesteps - 1, 0, -1 do
    local t = lg.full({16}, i, {dtype = lg.long})
    local mean = extract(sqrt_recip_alphas, t, img:size())
      * (img - extract(betas, t, img:size()) * model(img, t) / extract(sqrt_one_minus, t, img:size()))
    img = i == 0 and mean or mean + lg.sqrt(extract(posterior_variance, t, img:size())) * lg.randn_like(img)
  end
  return img:clamp(-1, 1)
end)
-- The drawn digits are bright where digits are: the correlation of their mean with the data's mean.
local both = lg.stack({drawn:mean(1):flatten(), images:mean(1):flatten()})
both = F.normalize(both - both:mean(2, {keepdim = true}), {dim = 2})
local correlation = both[1]:dot(both[2]):item()
print(("loss %.3f at first, %.3f at the end; correlation %.2f"):format(losses[1], losses[#losses], correlation))
assert(losses[#losses] < 0.5 * losses[1] and correlation > 0.8)
