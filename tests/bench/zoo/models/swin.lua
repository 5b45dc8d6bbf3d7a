-- Swin-T: attention inside of windows, which every second block shifts. Liu and others, "Swin transformer: hierarchical vision
-- transformer using shifted windows", 2021.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local WINDOW, FEATURES = 7, 32

-- [B, H, W, C] as [B times windows, positions, C].
local function windows_of(x)
  local B, H, W, C = table.unpack(x.shape)
  x = x:view(B, H // WINDOW, WINDOW, W // WINDOW, WINDOW, C)
  return x:permute(1, 2, 4, 3, 5, 6):reshape(-1, WINDOW * WINDOW, C)
end

local function joined(windows, side)
  local x = windows:view(-1, side // WINDOW, side // WINDOW, WINDOW, WINDOW, windows:size(-1))
  return x:permute(1, 2, 4, 3, 5, 6):reshape(-1, side, side, windows:size(-1))
end

local function relative_positions()
  local coords = lg.stack({lg.meshgrid({lg.arange(WINDOW), lg.arange(WINDOW)}, "ij")}):flatten(2)
  local relative = coords:unsqueeze(3) - coords:unsqueeze(2) + WINDOW - 1
  return (relative[1] * (2 * WINDOW - 1) + relative[2]):view(-1)
end

-- Hides positions that the shift brought into one window from different borders.
local function mask_of(side, shift)
  local regions, count = lg.zeros(1, side, side, 1), 0
  local ranges = {{1, side - WINDOW}, {side - WINDOW + 1, side - shift}, {side - shift + 1, side}}
  for _, rows in ipairs(ranges) do
    for _, columns in ipairs(ranges) do
      regions[{1, rows, columns}] = count
      count = count + 1
    end
  end
  regions = windows_of(regions):squeeze(-1)
  local different = regions:unsqueeze(2) - regions:unsqueeze(3)
  return lg.zeros_like(different):masked_fill(different:ne(0), -100.0)
end

local WindowAttention = nn.class("WindowAttention")
function WindowAttention:init(dim)
  self.heads = dim // FEATURES
  self.biases = nn.Parameter(nn.init.trunc_normal_(lg.empty((2 * WINDOW - 1) ^ 2 // 1 | 0, self.heads), 0, 0.02))
  self:register_buffer("index", relative_positions(), {persistent = false})
  self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
end
function WindowAttention:forward(x, mask)
  local B, N, C = table.unpack(x.shape)
  local q, k, v = table.unpack(self.qkv(x):view(B, N, 3, self.heads, FEATURES):permute(3, 1, 4, 2, 5):unbind(1))
  local scores = (q * FEATURES ^ -0.5):matmul(k:transpose(-2, -1))
  scores = scores + self.biases[self.index]:view(N, N, self.heads):permute(3, 1, 2)
  if mask then
    scores = scores:view(-1, mask:size(1), self.heads, N, N) + mask:unsqueeze(2)
    scores = scores:view(-1, self.heads, N, N)
  end
  return self.proj(F.softmax(scores, -1):matmul(v):transpose(2, 3):reshape(B, N, C))
end

local Block = nn.class("Block")
function Block:init(dim, side, shift)
  self.side, self.shift = side, shift
  self.norm1, self.attention, self.norm2 = nn.LayerNorm(dim), WindowAttention(dim), nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
  self:register_buffer("mask", shift > 0 and mask_of(side, shift) or nil, {persistent = false})
end
function Block:forward(x)
  local y = self.norm1(x)
  if self.shift > 0 then y = lg.roll(y, {-self.shift, -self.shift}, {2, 3}) end
  y = joined(self.attention(windows_of(y), self.mask), self.side)
  if self.shift > 0 then y = lg.roll(y, {self.shift, self.shift}, {2, 3}) end
  x = x + y
  return x + self.mlp(self.norm2(x))
end

local PatchMerging = nn.class("PatchMerging")
function PatchMerging:init(dim)
  self.norm, self.reduction = nn.LayerNorm(4 * dim), nn.Linear(4 * dim, 2 * dim, {bias = false})
end
function PatchMerging:forward(x)
  local odd, even = {1, -1, 2}, {2, -1, 2}
  x = lg.cat({x[{{}, odd, odd}], x[{{}, even, odd}], x[{{}, odd, even}], x[{{}, even, even}]}, -1)
  return self.reduction(self.norm(x))
end

local Swin = nn.class("Swin")
function Swin:init(s)
  local dim, side, stages = s.width, s.image // 4, {}
  self.patches, self.first = nn.Conv2d(3, dim, 4, {stride = 4}), nn.LayerNorm(dim)
  for i, depth in ipairs(s.depths) do
    if i > 1 then
      stages[#stages + 1] = PatchMerging(dim)
      dim, side = 2 * dim, side // 2
    end
    for j = 1, depth do stages[#stages + 1] = Block(dim, side, j % 2 == 0 and side > WINDOW and WINDOW // 2 or 0) end
  end
  self.stages = nn.Sequential(table.unpack(stages))
  self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, s.classes)
end
function Swin:forward(x)
  x = self.first(self.patches(x):permute(1, 3, 4, 2))
  return self.head(self.norm(self.stages(x)):mean({2, 3}))
end

return function(zoo)
  local s = zoo.sizes
  local model = Swin(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 1e-3, weight_decay = 0.05})
  local x, y = zoo.wave({s.batch, 3, s.image, s.image}), zoo.ids({s.batch}, s.classes)
  local function loss() return F.cross_entropy(model(x), y, {label_smoothing = 0.1}) end
  return zoo.training(model, optimizer, loss, function() return model(x) end)
end
