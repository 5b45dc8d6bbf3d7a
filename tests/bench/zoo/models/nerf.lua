-- A field of radiance: a coarse net finds where a ray meets something, a fine one is sampled there. Mildenhall and others,
-- "NeRF: representing scenes as neural radiance fields for view synthesis", 2020.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function encoded(x, octaves)
  local parts = {x}
  for i = 0, octaves - 1 do
    parts[#parts + 1] = lg.sin(2.0 ^ i * x)
    parts[#parts + 1] = lg.cos(2.0 ^ i * x)
  end
  return lg.cat(parts, -1)
end

local Field = nn.class("Field")
function Field:init(s)
  local w, place, view = s.width, 3 + 6 * s.octaves, 3 + 6 * s.view_octaves
  self.first, self.second = nn.ModuleList(), nn.ModuleList()
  for i = 1, 5 do self.first:append(nn.Linear(i > 1 and w or place, w)) end
  for i = 1, 3 do self.second:append(nn.Linear(i > 1 and w or w + place, w)) end
  self.density, self.feature = nn.Linear(w, 1), nn.Linear(w, w)
  self.view, self.color = nn.Linear(w + view, w // 2), nn.Linear(w // 2, 3)
end
function Field:forward(place, view)
  local h = place
  for _, layer in ipairs(self.first) do h = F.relu(layer(h)) end
  h = lg.cat({place, h}, -1)
  for _, layer in ipairs(self.second) do h = F.relu(layer(h)) end
  local color = F.relu(self.view(lg.cat({self.feature(h), view}, -1)))
  return lg.sigmoid(self.color(color)), F.softplus(self.density(h)):squeeze(-1)
end

-- Colors of rays, and the weights of their samples.
local function rendered(color, density, depths)
  local far = lg.full_like(depths[{{}, {1, 1}}], 1e10)
  local alpha = 1 - lg.exp(-density * lg.cat({depths[{{}, {2, -1}}] - depths[{{}, {1, -2}}], far}, 2))
  local clear = lg.cumprod(lg.cat({lg.ones_like(far), 1 - alpha + 1e-10}, 2), 2)[{{}, {1, -2}}]
  local weights = alpha * clear
  return (weights:unsqueeze(-1) * color):sum(2), weights
end

-- Depths between edges, distributed as the weights, by the inverse of their running sums.
local function sampled(edges, weights, u)
  weights = weights + 1e-5
  local cdf = lg.cumsum(weights / weights:sum(2, {keepdim = true}), 2)
  cdf = lg.cat({lg.zeros_like(cdf[{{}, {1, 1}}]), cdf}, 2)
  local above = lg.searchsorted(cdf, u, {right = true}):clamp{max = cdf:size(2) - 1}
  local below = (above - 1):clamp{min = 0}
  local low, high = cdf:gather(2, below), cdf:gather(2, above)
  local start, finish = edges:gather(2, below), edges:gather(2, above)
  local span = high - low
  span = lg.where(span:lt(1e-5), lg.ones_like(span), span)
  return start + (u - low) / span * (finish - start)
end

local NeRF = nn.class("NeRF")
function NeRF:init(s)
  self.coarse, self.fine, self.s = Field(s), Field(s), s
end
function NeRF:colors(field, origins, directions, depths)
  local places = origins:unsqueeze(2) + directions:unsqueeze(2) * depths:unsqueeze(-1)
  local views = F.normalize(directions, {dim = -1}):unsqueeze(2):expand_as(places)
  local color, density = field(encoded(places, self.s.octaves), encoded(views, self.s.view_octaves))
  return rendered(color, density, depths)
end
function NeRF:forward(origins, directions, jitter, u)
  local n = self.s.samples
  local depths = 2 + 4 * (lg.arange(n, {device = origins:device()}) + jitter) / n
  local coarse, weights = self:colors(self.coarse, origins, directions, depths)
  local middles = 0.5 * (depths[{{}, {2, -1}}] + depths[{{}, {1, -2}}])
  local more = sampled(middles, weights[{{}, {2, -2}}]:detach(), u)
  depths = lg.sort(lg.cat({depths, more}, 2), 2)
  local fine = self:colors(self.fine, origins, directions, depths)
  return coarse, fine
end

return function(zoo)
  local s = zoo.sizes
  local model = NeRF(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 5e-4})
  local origins, directions = 0.2 * zoo.wave({s.rays, 3}), zoo.wave({s.rays, 3}, 1)
  local seen = zoo.wave({s.rays, 3}, 2):sigmoid()
  local function rays()
    return model(origins, directions, zoo.uniform({s.rays, s.samples}), zoo.uniform({s.rays, s.more}))
  end
  local function loss()
    local coarse, fine = rays()
    return F.mse_loss(coarse, seen) + F.mse_loss(fine, seen)
  end
  return zoo.training(model, optimizer, loss, function() return (select(2, rays())) end)
end
