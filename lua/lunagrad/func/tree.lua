-- Trees of tensors: a tensor, or a plain table of trees. Fields are visited in a fixed order: positions, then names.
local core = require "lunagrad.core"

local is_tensor, is_branch = core.is_tensor, require("lunagrad.arguments").is_plain

local tree = {is_branch = is_branch}

local function keys_of(branch)
  local keys = {}
  for key in pairs(branch) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if type(a) == type(b) then return a < b end
    return type(a) == "number"
  end)
  return keys
end

-- A tree of the same form with f(leaf, path) in place of each leaf. A table may occur several times, but not inside
-- itself.
function tree.map(value, f, path, depth)
  path, depth = path or "", depth or 0
  if not is_branch(value) then return f(value, path) end
  if depth > 64 then core._fail("func: a table contains itself, or tables are nested deeper than 64") end
  local mapped = {}
  for _, key in ipairs(keys_of(value)) do
    mapped[key] = tree.map(value[key], f, path == "" and tostring(key) or path .. "." .. key, depth + 1)
  end
  return mapped
end

-- The tensors of a tree in order, and a function that makes a tree of the same form from a list. `owner` and `what`
-- name the tree in errors: every leaf must be a tensor.
function tree.flatten(owner, value, what)
  local list = {}
  local form = tree.map(value, function(leaf, path)
    if not is_tensor(leaf) then
      core._fail(("%s: %s must be a tensor or a table of tensors (got a %s%s)"):format(owner, what, type(leaf),
        path == "" and "" or " at " .. path))
    end
    list[#list + 1] = leaf
    return #list
  end)
  return list, function(values)
    return tree.map(form, function(position) return values[position] end)
  end
end

return tree
