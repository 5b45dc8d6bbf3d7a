-- The U-Net of a diffusion model, with attention at its lowest resolution. Ho, Jain, Abbeel, "Denoising diffusion
-- probabilistic models", 2020.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local ResBlock = nn.class("ResBlock")
function ResBlock:init(inplanes, planes, time)
  self.norm1, self.conv1 = nn.GroupNorm(8, inplanes), nn.Conv2d(inplanes, planes, 3, {padding = 1})
  self.time = nn.Linear(time, planes)
  self.norm2, self.conv2 = nn.GroupNorm(8, planes), nn.Conv2d(planes, planes, 3, {padding = 1})
  self.skip = inplanes ~= planes and nn.Conv2d(inplanes, planes, 1) or nn.Identity()
end
function ResBlock:forward(x, t)
  local h = self.conv1(F.silu(self.norm1(x)))
  h = h + self.time(F.silu(t)):unsqueeze(-1):unsqueeze(-1)
  return self.skip(x) + self.conv2(F.silu(self.norm2(h)))
end

local Attention = nn.class("Attention")
function Attention:init(planes)
  self.norm, self.qkv, self.out = nn.GroupNorm(8, planes), nn.Conv2d(planes, 3 * planes, 1), nn.Conv2d(planes, planes, 1)
end
function Attention:forward(x)
  local B, C, H, W = table.unpack(x.shape)
  local q, k, v = table.unpack(self.qkv(self.norm(x)):view(B, 3, 1, C, H * W):transpose(-2, -1):unbind(2))
  local y = F.scaled_dot_product_attention(q, k, v)
  return x + self.out(y:transpose(-2, -1):reshape(B, C, H, W))
end

local UNet = nn.class("UNet")
function UNet:init(s)
  local w, time = s.width, 4 * s.width
  self:register_buffer("rates", lg.exp(lg.arange(w // 2) * (-math.log(10000) / (w // 2 - 1))))
  self.time_mlp = nn.Sequential(nn.Linear(w, time), nn.SiLU(), nn.Linear(time, time))
  self.first = nn.Conv2d(3, w, 3, {padding = 1})
  self.down, self.shrink, self.up, self.grow = nn.ModuleList(), nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
  local planes, skips = w, {w}
  for i, factor in ipairs(s.factors) do
    for _ = 1, s.blocks do
      self.down:append(ResBlock(planes, w * factor, time))
      planes = w * factor
      skips[#skips + 1] = planes
    end
    if i < #s.factors then self.shrink:append(nn.Conv2d(planes, planes, 3, {stride = 2, padding = 1})) end
  end
  self.middle1, self.attention, self.middle2 = ResBlock(planes, planes, time), Attention(planes), ResBlock(planes, planes, time)
  for i = #s.factors, 1, -1 do
    for _ = 1, s.blocks do
      self.up:append(ResBlock(planes + table.remove(skips), w * s.factors[i], time))
      planes = w * s.factors[i]
    end
    if i > 1 then self.grow:append(nn.Conv2d(planes, planes, 3, {padding = 1})) end
  end
  self.norm, self.last = nn.GroupNorm(8, planes), nn.Conv2d(planes, 3, 3, {padding = 1})
  self.blocks, self.levels = s.blocks, #s.factors
end
function UNet:forward(x, t)
  local angles = t:float():unsqueeze(2) * self.rates
  t = self.time_mlp(lg.cat({angles:sin(), angles:cos()}, -1))
  x = self.first(x)
  local skips = {}
  for i, block in ipairs(self.down) do
    x = block(x, t)
    skips[i] = x
    if i % self.blocks == 0 and i < #self.down then x = self.shrink[i // self.blocks](x) end
  end
  x = self.middle2(self.attention(self.middle1(x, t)), t)
  for i, block in ipairs(self.up) do
    x = block(lg.cat({x, table.remove(skips)}, 2), t)
    if i % self.blocks == 0 and i < #self.up then
      x = self.grow[i // self.blocks](F.interpolate(x, {scale_factor = 2, mode = "nearest"}))
    end
  end
  return self.last(F.silu(self.norm(x)))
end

return function(zoo)
  local s = zoo.sizes
  local model = UNet(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 2e-4})
  local shape = {s.batch, 3, s.image, s.image}
  local x, t = zoo.wave(shape), zoo.ids({s.batch}, 1000)
  local alphas = lg.cumprod(1 - lg.linspace(1e-4, 0.02, 1000), 1):to(zoo.device)
  local function loss()
    local noise, a = zoo.noise(shape), alphas[t]:view(-1, 1, 1, 1)
    return F.mse_loss(model(a:sqrt() * x + (1 - a):sqrt() * noise, t), noise)
  end
  return zoo.training(model, optimizer, loss, function() return model(x, t) end)
end
