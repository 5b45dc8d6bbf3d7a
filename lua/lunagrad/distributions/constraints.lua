-- The sets of values that parameters and samples may have. check(x) returns a bool tensor; event_dim counts the dims of
-- one value. The text is for errors.
local core = require "lunagrad.core"

local function simplex_sum_is_one(x)
  return x:sum(-1):sub(1):abs():lt(1e-5):logical_and(x:ge(0):all(-1))
end

local function is_whole(x) return x:eq(x:floor()) end

local constraints = {
  real = {words = "be a real number", check = function(x) return x:eq(x) end},
  positive = {words = "be positive", check = function(x) return x:gt(0) end},
  nonnegative = {words = "be at least 0", check = function(x) return x:ge(0) end},
  unit_interval = {words = "lie in [0, 1]", check = function(x) return x:ge(0):logical_and(x:le(1)) end},
  open_below_one = {words = "lie in (0, 1]", check = function(x) return x:gt(0):logical_and(x:le(1)) end},
  boolean = {words = "be 0 or 1", check = function(x) return x:eq(0):logical_or(x:eq(1)) end},
  nonnegative_integer = {words = "be a whole number of at least 0",
    check = function(x) return x:ge(0):logical_and(is_whole(x)) end},
  simplex = {words = "be at least 0 and add up to 1 along the last dim", event_dim = 1, check = simplex_sum_is_one},
  nonnegative_vector = {words = "be at least 0 and not all 0 along the last dim", event_dim = 1,
    check = function(x) return x:ge(0):all(-1):logical_and(x:sum(-1):gt(0)) end},
  real_vector = {words = "be a vector of real numbers", event_dim = 1, check = function(x) return x:eq(x):all(-1) end},
  positive_vector = {words = "be a vector of positive numbers", event_dim = 1,
    check = function(x) return x:gt(0):all(-1) end},
  one_hot = {words = "be 1 at one position of the last dim and 0 elsewhere", event_dim = 1, check = function(x)
    return x:eq(0):logical_or(x:eq(1)):all(-1):logical_and(x:sum(-1):eq(1))
  end},
  lower_triangular = {words = "be lower triangular with a positive diagonal", event_dim = 2, check = function(x)
    return x:eq(core.tril(x)):all({-2, -1}):logical_and(core.diagonal(x, 0, -2, -1):gt(0):all(-1))
  end},
  symmetric = {words = "be symmetric", event_dim = 2, check = function(x)
    return x:sub(x:transpose(-2, -1)):abs():le(x:abs():amax({-2, -1}, true):mul(1e-5)):all({-2, -1})
  end},
}

-- Integers from 0 to `last`, a number or a tensor.
function constraints.integers_to(last)
  local most = type(last) == "number" and tostring(last) or "total_count"
  return {words = "be a whole number from 0 to " .. most,
    check = function(x) return x:ge(0):logical_and(x:le(last)):logical_and(is_whole(x)) end}
end

function constraints.between(low, high)
  return {words = "lie in [low, high]", check = function(x) return x:ge(low):logical_and(x:le(high)) end}
end

-- Counts along the last dim whose sum is `total`.
function constraints.counts(total)
  return {words = ("be whole numbers of at least 0 that add up to %d along the last dim"):format(total), event_dim = 1,
    check = function(x) return x:ge(0):logical_and(is_whole(x)):all(-1):logical_and(x:sum(-1):eq(total)) end}
end

return constraints
