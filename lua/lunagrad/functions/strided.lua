-- Views by strides of a tensor's memory.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"

local read = arguments.reader("as_strided", "input", "size", "stride", {"storage_offset"})
local functions, methods = {}, {}

local function checked(...)
  local a = read(...)
  if not core.is_tensor(a.input) then core._fail(("as_strided: input must be a Tensor (got %s)"):format(type(a.input))) end
  for _, name in ipairs {"size", "stride"} do
    if type(a[name]) ~= "table" then
      core._fail(("as_strided: %s must be a list of integers (got %s)"):format(name, type(a[name])))
    end
  end
  return a
end

-- A view with this size and stride, from the tensor's first element or from element storage_offset of its storage (from
-- 0). Under vmap a sample has no storage of its own: the elements of a contiguous sample are copied.
function functions.as_strided(...)
  local a = checked(...)
  local x = a.input
  if not core._is_batched(x) then return core._as_strided(x, a.size, a.stride, a.storage_offset, false) end
  local places = core._as_strided(core.arange(x:numel(), {device = x:device()}), a.size, a.stride, a.storage_offset or 0, false)
  return x:reshape(-1):index_select(1, places:reshape(-1)):reshape(a.size)
end
methods.as_strided = functions.as_strided

-- The tensor becomes the view.
function methods.as_strided_(...)
  local a = checked(...)
  return core._as_strided(a.input, a.size, a.stride, a.storage_offset, true)
end

return {functions = functions, methods = methods}
