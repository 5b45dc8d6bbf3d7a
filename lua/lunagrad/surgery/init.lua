-- lg.surgery: changes of a running model that can be undone. Each function checks everything first, so a change is made
-- completely or not at all. The history keeps the state for undo and the Lua line that makes the same change.
local core = require "lunagrad.core"
local history = require "lunagrad.surgery.history"
local parts = require "lunagrad.surgery.parts"
local places = require "lunagrad.surgery.places"
local structure = require "lunagrad.surgery.structure"
local tree = require "lunagrad.nn.tree"
local values = require "lunagrad.surgery.values"

local surgery = {}

local longest_list = 16  -- elements of the longest tensor that a line writes out

-- The call that makes a layer of the library, from its printed arguments; in "4, 4, bias = false" the options begin at
-- `bias`.
local function construction(module)
  local text = module:extra_repr()
  local options = text:find "%f[%w_][%a_][%w_]* = "
  if options then text = text:sub(1, options - 1) .. "{" .. text:sub(options) .. "}" end
  return ("lg.nn.%s(%s)"):format(module.__name, text)
end

-- A value as Lua text.
local function literal(value)
  local kind = math.type(value) or type(value)
  if kind == "float" then
    if value ~= value then return "0/0" end
    if value == math.huge or value == -math.huge then return value > 0 and "math.huge" or "-math.huge" end
    local text
    for digits = 15, 17 do
      text = ("%." .. digits .. "g"):format(value)
      if tonumber(text) == value then break end
    end
    return text:find "[.e]" and text or text .. ".0"
  elseif kind == "string" then
    return ("%q"):format(value)
  elseif core.is_tensor(value) then
    if value:numel() > longest_list then return ("tensor --[[ %s ]]"):format(table.concat(value:size(), " x ")) end
    return ("lg.tensor(%s, {dtype = %q})"):format(value:dim() == 0 and literal(value:item()) or literal(value:tolist()),
      value:dtype())
  elseif tree.is_module(value) then
    local known = rawget(require("lunagrad.nn"), value.__name) == getmetatable(value) and not value:named_children()()
    return known and construction(value) or ("module --[[ %s ]]"):format(value.__name)
  elseif kind == "table" then
    local texts = {}
    for i = 1, #value do texts[i] = literal(value[i]) end
    return "{" .. table.concat(texts, ", ") .. "}"
  elseif kind == "function" then
    return "init"
  end
  return tostring(value)
end

local function line(name, ...)
  local texts = table.pack(...)
  for i = 1, texts.n do texts[i] = literal(texts[i]) end
  return ("lg.surgery.%s(%s)"):format(name, table.concat(texts, ", "))
end

-- The line of a change. For an object that no variable leads to, the path `nil` becomes `object`.
local function named(place, change_line)
  return place.path and change_line or (change_line:gsub("nil", "object", 1))
end

local function make(title, place, change_line, change)
  history.make(title:format(places.name(place)), named(place, change_line), change)
end

function surgery.get(path) return places.find("get", path).value end

function surgery.replace(path, module)
  local change = structure.replace(path, module)
  make("replace %s by " .. module.__name, change.place, line("replace", change.place.path, module), change)
end

function surgery.insert(path, module, where)
  local change, side = structure.insert(path, module, where)
  make(("insert %s %s %%s"):format(module.__name, side), change.place, line("insert", change.place.path, module, side), change)
end

function surgery.remove(path)
  local change = structure.remove(path)
  make("remove %s", change.place, line("remove", change.place.path), change)
end

function surgery.freeze(path)
  local change = values.freeze(path)
  make("freeze %s", change.place, line("freeze", change.place.path), change)
end

function surgery.unfreeze(path)
  local change = values.unfreeze(path)
  make("unfreeze %s", change.place, line("unfreeze", change.place.path), change)
end

function surgery.reinit(path, init)
  local change = values.reinit(path, init)
  local text = init == nil and line("reinit", change.place.path) or line("reinit", change.place.path, init)
  make("re-initialise %s", change.place, text, change)
end

function surgery.rescale(path, factor)
  local change = values.rescale(path, factor)
  make("rescale %s by " .. literal(factor), change.place, line("rescale", change.place.path, factor), change)
end

function surgery.edit(what, index, value)
  local change = values.edit(what, index, value)
  local at = literal(index):gsub("^{(.*)}$", "%1"):gsub("%%", "%%%%")
  make(("edit %%s[%s]"):format(at), change.place, line("edit", change.place.path, index, value), change)
end

function surgery.optimizer(optimizer, path, key, value)
  local change = values.optimizer(optimizer, path, key, value)
  local inner = change.inner and places.name(change.inner)
  make(("set %s of %s%%.0s"):format(key, inner or "all groups"), change.place,
    line("optimizer", change.place.path, change.inner and change.inner.path, key, value), change)
end

surgery.undo, surgery.redo, surgery.go_to = history.undo, history.redo, history.go_to
surgery.history, surgery.budget, surgery.hash = history.list, history.budget, parts.hash

return surgery
