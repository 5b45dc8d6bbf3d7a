-- A line search for the strong Wolfe conditions: Nocedal, Wright, "Numerical Optimization" (2006), algorithms 3.5 and
-- 3.6, with cubic interpolation and the safeguards of Schmidt's minFunc, which PyTorch uses as well.
local kDecrease, kCurvature = 1e-4, 0.9  -- c1 and c2
local kMostSteps = 25

-- The minimizer within [low, high] of the cubic that interpolates the values and slopes of two points.
local function cubic_minimum(a, b, low, high)
  if a.t > b.t then a, b = b, a end
  low, high = low or a.t, high or b.t
  local d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
  local square = d1 * d1 - a.slope * b.slope
  if not (square >= 0) then return (low + high) / 2 end
  local d2 = math.sqrt(square)
  local t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
  return math.min(math.max(t, low), high)
end

-- Searches from the start (t = 0) for a point {t, f, slope, g} that satisfies the conditions. evaluate(t) computes a point;
-- `largest` is the largest magnitude in the direction. Returns the point and the number of evaluations.
return function(start, first, largest, tolerance, evaluate)
  local evaluations, steps = 0, 0
  local function at(t)
    evaluations = evaluations + 1
    return evaluate(t)
  end
  local function too_high(point) return point.f > start.f + kDecrease * point.t * start.slope end
  local function flat(point) return math.abs(point.slope) <= -kCurvature * start.slope end

  -- Bracketing: extend the interval until it contains a minimum.
  local before, point, other = start, at(first), nil
  while steps < kMostSteps do
    if too_high(point) or steps > 1 and point.f >= before.f then
      other = before
      break
    elseif flat(point) then
      return point, evaluations
    elseif point.slope >= 0 then
      other = before
      break
    end
    local next = cubic_minimum(before, point, point.t + 0.01 * (point.t - before.t), 10 * point.t)
    before, point = point, at(next)
    steps = steps + 1
  end
  other = other or start

  -- Zoom: narrow the bracket. `best` is the end with the lower value.
  local best, worst = other, point
  if not (other.f <= point.f) then best, worst = point, other end
  local stuck = false
  while steps < kMostSteps and math.abs(worst.t - best.t) * largest >= tolerance do
    local low, high = math.min(best.t, worst.t), math.max(best.t, worst.t)
    local t, margin = cubic_minimum(best, worst), 0.1 * (high - low)
    if math.min(high - t, t - low) < margin then
      if stuck or t >= high or t <= low then
        t = math.abs(t - high) < math.abs(t - low) and high - margin or low + margin
        stuck = false
      else
        stuck = true
      end
    else
      stuck = false
    end
    local new = at(t)
    steps = steps + 1
    if too_high(new) or new.f >= best.f then
      worst = new
      if not (best.f <= worst.f) then best, worst = worst, best end
    else
      if flat(new) then return new, evaluations end
      if new.slope * (worst.t - best.t) >= 0 then worst = best end
      best = new
    end
  end
  return best, evaluations
end
