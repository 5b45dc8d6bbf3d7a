-- ConvNeXt-T. Liu and others, "A ConvNet for the 2020s", 2022.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

-- Norm over the channels of [N, C, H, W].
local LayerNorm2d = nn.class("LayerNorm2d")
function LayerNorm2d:init(channels) self.norm = nn.LayerNorm(channels, {eps = 1e-6}) end
function LayerNorm2d:forward(x) return self.norm(x:permute(1, 3, 4, 2)):permute(1, 4, 2, 3) end

local Block = nn.class("Block")
function Block:init(dim)
  self.dwconv = nn.Conv2d(dim, dim, 7, {padding = 3, groups = dim})
  self.norm = nn.LayerNorm(dim, {eps = 1e-6})
  self.pwconv1 = nn.Linear(dim, 4 * dim)
  self.pwconv2 = nn.Linear(4 * dim, dim)
  self.gamma = nn.Parameter(lg.full({dim}, 0.1))
end
function Block:forward(x)
  local y = self.dwconv(x):permute(1, 3, 4, 2)
  y = self.pwconv2(F.gelu(self.pwconv1(self.norm(y))))
  return x + (self.gamma * y):permute(1, 4, 2, 3)
end

local ConvNeXt = nn.class("ConvNeXt")
function ConvNeXt:init(depths, dims, classes)
  local stages = {nn.Conv2d(3, dims[1], 4, {stride = 4}), LayerNorm2d(dims[1])}
  for i, depth in ipairs(depths) do
    if i > 1 then
      stages[#stages + 1] = LayerNorm2d(dims[i - 1])
      stages[#stages + 1] = nn.Conv2d(dims[i - 1], dims[i], 2, {stride = 2})
    end
    for _ = 1, depth do stages[#stages + 1] = Block(dims[i]) end
  end
  self.stages = nn.Sequential(table.unpack(stages))
  self.norm = nn.LayerNorm(dims[#dims], {eps = 1e-6})
  self.head = nn.Linear(dims[#dims], classes)
end
function ConvNeXt:forward(x) return self.head(self.norm(self.stages(x):mean({-2, -1}))) end

return function(zoo)
  local s = zoo.sizes
  local model = ConvNeXt(s.depths, s.dims, s.classes):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 1e-3, weight_decay = 0.05})
  local x, y = zoo.wave({s.batch, 3, s.image, s.image}), zoo.ids({s.batch}, s.classes)
  local function loss() return F.cross_entropy(model(x), y, {label_smoothing = 0.1}) end
  return zoo.training(model, optimizer, loss, function() return model(x) end)
end
