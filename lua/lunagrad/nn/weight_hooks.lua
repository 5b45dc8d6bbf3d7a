-- nn.utils.weight_norm and spectral_norm in PyTorch's older form: a hook computes the weight before each forward, from
-- other parameters of the module (weight_g and weight_v, or weight_orig). The newer form is nn.utils.parametrizations.
local core = require "lunagrad.core"
local parametrizations = require "lunagrad.nn.parametrizations"
local spectral = require "lunagrad.nn.spectral"
local reader = require("lunagrad.arguments").reader

local weights = {}
local kinds = {weight_norm = "weight_norm", spectral_norm = "spectral_norm"}

-- The computed weight is a plain field: it is neither trained nor stored.
local function set_plain(module, name, value)
  module._kinds[name] = "field"
  rawset(module, name, value)
end

local function attach(module, name, kind, compute)
  local applied = rawget(module, "_weight_hooks") or {}
  rawset(module, "_weight_hooks", applied)
  if applied[name] then core._fail(("%s: '%s' has a %s already"):format(kind, name, applied[name].kind)) end
  applied[name] = {
    kind = kind, compute = compute,
    handle = module:register_forward_pre_hook(function() set_plain(module, name, compute()) end),
  }
  applied[name].handle.fixed = true
  set_plain(module, name, compute())
  return module
end

local function detach(module, name, kind, names)
  local applied = type(module) == "table" and rawget(module, "_weight_hooks")
  local found = applied and applied[name]
  if not found or found.kind ~= kind then
    core._fail(("remove_%s: '%s' has no %s"):format(kind, tostring(name), kinds[kind]))
  end
  local value = core.no_grad(found.compute):detach():clone()
  found.handle:remove()
  applied[name] = nil
  for _, extra in ipairs(names) do
    module._kinds[extra] = "field"
    rawset(module, extra, nil)
  end
  rawset(module, name, value:requires_grad_())
  module._kinds[name] = "parameter"
  return module
end

local read_weight = reader("weight_norm", "module", {"name", "weight"}, {"dim"})

function weights.weight_norm(...)
  local a = read_weight(...)
  local module, name = a.module, a.name
  local weight = spectral.check_weight("weight_norm", module, name)
  local dim = spectral.check_dim("weight_norm", a.dim, weight, 1)
  local _ <close> = core.enable_grad()
  local g = spectral.slice_norms(weight:detach(), dim):clone()
  module:register_parameter(name .. "_g", g:requires_grad_(weight.requires_grad))
  module:register_parameter(name .. "_v", weight)  -- stays the same parameter
  return attach(module, name, "weight_norm", function()
    local v = module[name .. "_v"]
    return v * (module[name .. "_g"] / spectral.slice_norms(v, dim))
  end)
end

function weights.remove_weight_norm(module, name)
  name = name or "weight"
  return detach(module, name, "weight_norm", {name .. "_g", name .. "_v"})
end

function weights.spectral_norm(...)
  local a, weight = parametrizations._read_spectral(...)
  local module, name = a.module, a.name
  do
    local _ <close> = core.no_grad()
    local matrix = spectral.matrix(weight:detach(), a.dim)
    local u, v = spectral.start(matrix, a.eps)
    u, v = spectral.iterate(matrix, u, v, 15, a.eps)
    module:register_buffer(name .. "_u", u)
    module:register_buffer(name .. "_v", v)
  end
  module:register_parameter(name .. "_orig", weight)  -- stays the same parameter
  return attach(module, name, "spectral_norm", function()
    local original, u, v = module[name .. "_orig"], module[name .. "_u"], module[name .. "_v"]
    local matrix = spectral.matrix(original, a.dim)
    if module.training then
      local _ <close> = core.no_grad()
      local next_u, next_v = spectral.iterate(matrix:detach(), u, v, a.n_power_iterations, a.eps)
      u:copy_(next_u)
      v:copy_(next_v)
    end
    return original / spectral.sigma(matrix, u:clone(), v:clone())
  end)
end

function weights.remove_spectral_norm(module, name)
  name = name or "weight"
  return detach(module, name, "spectral_norm", {name .. "_orig", name .. "_u", name .. "_v"})
end

return weights
