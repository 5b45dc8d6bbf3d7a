-- The hooks of a module: self._hooks is false, or a table from the kind of hook to the list of hooks, in calling order.
local core = require "lunagrad.core"

local hook_list = {}

local owners = setmetatable({}, {__mode = "k"})  -- hook -> the modules that have it

local function drop(owner, kind, entry)
  local hooks = owner._hooks
  local list = hooks and hooks[kind]
  if not list then return end
  for i, other in ipairs(list) do
    if other == entry then
      table.remove(list, i)
      break
    end
  end
  if #list == 0 then hooks[kind] = nil end
  if next(hooks) == nil then rawset(owner, "_hooks", false) end
end

-- Adds a hook; handle:remove() removes it. The option `prepend` puts it before the others.
function hook_list.add(self, kind, hook, options)
  local name = ("register_%s_hook"):format(kind)
  if type(hook) ~= "function" and not (type(hook) == "table" and getmetatable(hook)) then
    core._fail(("%s: a function expected (got %s)"):format(name, type(hook)))
  end
  for option, value in pairs(options or {}) do
    if option == "with_kwargs" and value then
      core._fail(name .. ": with_kwargs is not taken: Lua has no keyword arguments; a table of options is the last input")
    elseif option ~= "prepend" and option ~= "with_kwargs" then
      core._fail(("%s: unknown option '%s' (known: prepend)"):format(name, tostring(option)))
    end
  end
  local hooks = self._hooks or {}
  rawset(self, "_hooks", hooks)
  local list = hooks[kind] or {}
  hooks[kind] = list
  local entry = {hook = hook}
  owners[entry] = {self}
  table.insert(list, options and options.prepend and 1 or #list + 1, entry)
  function entry.remove()
    for _, owner in ipairs(owners[entry]) do drop(owner, kind, entry) end
  end
  return entry
end

-- Adds the hooks of `from` to `to`, behind the hooks of `to`; their handles remove them from both. Hooks that compute a
-- field of their module (`fixed`) are left out.
function hook_list.carry(from, to)
  for kind, list in pairs(from._hooks or {}) do
    for _, entry in ipairs(list) do
      if not entry.fixed and owners[entry] then
        local hooks = to._hooks or {}
        rawset(to, "_hooks", hooks)
        hooks[kind] = hooks[kind] or {}
        table.insert(hooks[kind], entry)
        table.insert(owners[entry], to)
      end
    end
  end
end

-- for i, hook in hook_list.each(module, kind): the hooks that existed when the loop began.
function hook_list.each(self, kind)
  local hooks = self._hooks
  local list = hooks and hooks[kind]
  if not list then return ipairs {} end
  local copy = {}
  for i, entry in ipairs(list) do copy[i] = entry.hook end
  return ipairs(copy)
end

return hook_list
