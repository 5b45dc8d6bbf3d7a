-- Random numbers that depend only on a seed: for samplers, and for transforms that run in Lua. draws(seed, …) returns a
-- source whose methods draw one number after another. Steele, Lea, Flood, "Fast splittable pseudorandom number
-- generators", OOPSLA 2014 (SplitMix64).
local Draws = {}
Draws.__index = Draws

local function mixed(z)
  z = (z ~ z >> 30) * -4658895280553007687
  z = (z ~ z >> 27) * -7723592293110705685
  return z ~ z >> 31
end

-- 64 random bits.
function Draws:bits()
  self.state = self.state + -7046029254386353131
  return mixed(self.state)
end

-- A number in [low, high).
function Draws:uniform(low, high)
  low, high = low or 0, high or 1
  return low + (self:bits() >> 11) * (1 / (1 << 53)) * (high - low)
end

-- An integer from `low` to `high`, both included.
function Draws:integer(low, high) return low + (self:bits() >> 1) % (high - low + 1) end

function Draws:normal()
  return math.sqrt(-2 * math.log(1 - self:uniform())) * math.cos(2 * math.pi * self:uniform())
end

-- Gamma of shape a: Marsaglia, Tsang, "A simple method for generating gamma variables", 2000.
function Draws:gamma(a)
  if a < 1 then return self:gamma(a + 1) * (1 - self:uniform()) ^ (1 / a) end
  local d = a - 1 / 3
  local c = 1 / math.sqrt(9 * d)
  while true do
    local x = self:normal()
    local v = (1 + c * x) ^ 3
    if v > 0 and math.log(1 - self:uniform()) < 0.5 * x * x + d - d * v + d * math.log(v) then return d * v end
  end
end

function Draws:beta(a, b)
  local x, y = self:gamma(a), self:gamma(b)
  return x + y > 0 and x / (x + y) or 0.5
end

-- A seed for another source.
function Draws:seed() return self:bits() >> 11 end

return function(...)
  local state = 0
  for i = 1, select("#", ...) do state = mixed(state + mixed(select(i, ...) + i * -7046029254386353131)) end
  return setmetatable({state = state}, Draws)
end
