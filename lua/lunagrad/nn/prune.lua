-- nn.utils.prune: sets elements of a parameter to zero with a mask. As in PyTorch, the parameter becomes name_orig, the
-- mask becomes the buffer name_mask, and a hook computes their product before each forward; remove() makes the product
-- the parameter again.
local core = require "lunagrad.core"
local tree = require "lunagrad.nn.tree"
local reader = require("lunagrad.arguments").reader

local fail = core._fail
local prune = {}

local function set_plain(module, name)
  module._kinds[name] = "field"
  rawset(module, name, module[name .. "_orig"] * module[name .. "_mask"])
end

local function check(owner, module, name)
  if not tree.is_module(module) then fail(("%s: a module expected (got %s)"):format(owner, type(module))) end
  local parameter = rawget(module, tostring(name) .. "_orig") or rawget(module, name)
  local kind = rawget(module, tostring(name) .. "_orig") and "parameter" or module._kinds[name]
  if not core.is_tensor(parameter) or kind ~= "parameter" then
    fail(("%s: %s has no parameter '%s'"):format(owner, module.__name, tostring(name)))
  end
  return parameter
end

-- The number of elements for `amount`, which is a count or a share of `total`.
local function count_of(owner, amount, total)
  if math.type(amount) == "integer" and amount >= 0 and amount <= total then return amount end
  if math.type(amount) == "float" and amount >= 0 and amount <= 1 then return math.floor(amount * total + 0.5) end
  fail(("%s: amount is an integer from 0 to %d or a share from 0.0 to 1.0 (got %s)"):format(owner, total, tostring(amount)))
end

local read_custom_from_mask = reader("custom_from_mask", "module", "name", "mask")
-- Applies a mask of zeros and ones; masks multiply.
function prune.custom_from_mask(...)
  local a = read_custom_from_mask(...)
  local module, name, mask = a.module, a.name, a.mask
  local parameter = check("custom_from_mask", module, name)
  if not core.is_tensor(mask) or table.concat(mask:size(), ",") ~= table.concat(parameter:size(), ",") then
    fail(("custom_from_mask: a mask of shape [%s] expected"):format(table.concat(parameter:size(), ", ")))
  end
  mask = mask:to(parameter:dtype()):to(parameter:device())
  local before = rawget(module, name .. "_mask")
  if before then
    core.no_grad(function() before:copy_(before * mask) end)
  else
    module:register_parameter(name .. "_orig", parameter)  -- stays the same parameter
    module:register_buffer(name .. "_mask", mask:clone())
    local hooks = rawget(module, "_prune_hooks") or {}
    rawset(module, "_prune_hooks", hooks)
    hooks[name] = module:register_forward_pre_hook(function() set_plain(module, name) end)
    hooks[name].fixed = true
  end
  set_plain(module, name)
  return module
end

-- Zeroes the `count` elements with the lowest `score` among the elements that are not pruned yet.
local function apply(module, name, parameter, score, amount, owner)
  local _ <close> = core.no_grad()
  local mask = rawget(module, name .. "_mask")
  local flat = mask and mask:reshape(-1) or core.ones({parameter:numel()}, {device = parameter:device()})
  local count = count_of(owner, amount, math.tointeger(flat:sum():item()) or math.floor(flat:sum():item() + 0.5))
  local kept = flat:to("f32")
  if count > 0 then
    local order = core.where(flat:gt(0), score:to("f32"), core.full_like(score:to("f32"), math.huge)):argsort()
    kept = kept:index_fill(1, order:narrow(1, 1, count), 0)
  end
  local made = kept:reshape(parameter:size())
  do
    local _ <close> = core.enable_grad()
    prune.custom_from_mask(module, name, made)
  end
  return module
end

local read_l1_unstructured = reader("l1_unstructured", "module", "name", "amount", {"importance_scores"})
-- Zeroes the elements of least absolute value.
function prune.l1_unstructured(...)
  local a = read_l1_unstructured(...)
  local module, name, amount, importance_scores = a.module, a.name, a.amount, a.importance_scores
  local parameter = check("l1_unstructured", module, name)
  local score = (importance_scores or parameter):detach():abs():reshape(-1)
  return apply(module, name, parameter, score, amount, "l1_unstructured")
end

local read_random_unstructured = reader("random_unstructured", "module", "name", "amount")
-- Zeroes elements at random.
function prune.random_unstructured(...)
  local a = read_random_unstructured(...)
  local module, name, amount = a.module, a.name, a.amount
  local parameter = check("random_unstructured", module, name)
  local score = core.rand({parameter:numel()}, {device = "cpu"}):to(parameter:device())
  return apply(module, name, parameter, score, amount, "random_unstructured")
end

local read_identity = reader("identity", "module", "name")
-- Adds a mask of ones, which prepares the names for later masks.
function prune.identity(...)
  local a = read_identity(...)
  local module, name = a.module, a.name
  local parameter = check("identity", module, name)
  return prune.custom_from_mask(module, name, core.ones_like(parameter:detach()))
end

-- Whether a module, or one inside it, is pruned.
function prune.is_pruned(module)
  for _, inner in ipairs(module:modules()) do
    local hooks = rawget(inner, "_prune_hooks")
    if hooks and next(hooks) then return true end
  end
  return false
end

local read_remove = reader("remove", "module", "name")
-- Makes the product of parameter and mask the parameter, which stays the same tensor.
function prune.remove(...)
  local a = read_remove(...)
  local module, name = a.module, a.name
  check("remove", module, name)
  local hooks = rawget(module, "_prune_hooks")
  if not hooks or not hooks[name] then fail(("remove: '%s' of %s is not pruned"):format(tostring(name), module.__name)) end
  hooks[name]:remove()
  hooks[name] = nil
  local parameter = module[name .. "_orig"]
  core.no_grad(function() parameter:copy_(parameter * module[name .. "_mask"]) end)
  for _, extra in ipairs {name .. "_orig", name .. "_mask"} do
    module._kinds[extra] = "field"
    rawset(module, extra, nil)
  end
  rawset(module, name, parameter)
  module._kinds[name] = "parameter"
  return module
end

return prune
