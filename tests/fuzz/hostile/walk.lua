-- Finds every function that Lua code can reach: from globals, loaded modules, the registry and given objects, through fields,
-- metatables, upvalues and user values. Without `debug`, as in a sandbox, it sees fields and open metatables.
local debug, type, next, rawget, tostring, math = debug, type, next, rawget, tostring, math
local getmetatable = debug and debug.getmetatable or getmetatable

-- The keys of a table in an order that does not depend on addresses.
local function ordered_keys(t)
  local numbers, strings = {}, {}
  for key in next, t do
    if math.type(key) == "integer" then
      numbers[#numbers + 1] = key
    elseif type(key) == "string" then
      strings[#strings + 1] = key
    end
  end
  table.sort(numbers)
  table.sort(strings)
  return table.move(strings, 1, #strings, #numbers + 1, numbers)
end

-- Adds the functions that `roots`, a list of {name, value}, reach to `found`, a list of {name =, f =, native =, owner =}: `owner`
-- is the index of the root. `seen` holds what was visited before; `skipped` maps values that are not entered.
local function walk(roots, found, seen)
  local queue = {}
  local function add(name, value, owner)
    local kind = type(value)
    if kind ~= "table" and kind ~= "function" and kind ~= "userdata" or seen[value] then return end
    seen[value] = true
    queue[#queue + 1] = {name, value, owner}
    if kind == "function" then
      local native = not debug or debug.getinfo(value, "S").what == "C"
      found[#found + 1] = {name = name, f = value, native = native, owner = owner}
    end
  end
  for i, root in ipairs(roots) do add(root[1], root[2], i) end
  local at = 1
  while queue[at] do
    local name, value, owner = table.unpack(queue[at])
    at = at + 1
    if type(value) == "table" then
      local keys = ordered_keys(value)
      for i = 1, math.min(#keys, 2000) do add(name .. "." .. tostring(keys[i]), rawget(value, keys[i]), owner) end
    elseif type(value) == "function" and debug then
      for i = 1, 255 do
        local upvalue, its = debug.getupvalue(value, i)
        if not upvalue then break end
        add(name .. "^" .. (upvalue == "" and i or upvalue), its, owner)
      end
    elseif type(value) == "userdata" and debug then
      for i = 1, 8 do
        local its, exists = debug.getuservalue(value, i)
        if not exists then break end
        add(name .. "^" .. i, its, owner)
      end
    end
    if type(value) ~= "function" then add(name .. "#", getmetatable(value), owner) end
  end
end

return walk
