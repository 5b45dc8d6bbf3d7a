-- The names in the documents exist; those that docs/pytorch.md calls missing do not.
local lg = require "lunagrad"

local prefixes = {
  {"torch.optim.", "lg.optim."}, {"torch.utils.data.", "lg.data."}, {"torch.", "lg."}, {"nn.", "lg.nn."},
  {"F.", "lg.nn.functional."}, {"Tensor.", "x:"},
}

-- The Lunagrad name that corresponds to a PyTorch name, or nil.
local function counterpart(name)
  for _, pair in ipairs(prefixes) do
    if name:sub(1, #pair[1]) == pair[1] then return pair[2] .. name:sub(#pair[1] + 1) end
  end
end

local function field(holder, name)
  if type(holder) ~= "table" then return nil end
  local found = rawget(holder, name)
  if found ~= nil then return found end
  local ok, value = pcall(function() return holder[name] end)
  return ok and value or nil
end

local roots = {x = lg.methods, Module = lg.nn.Module, Optimizer = lg.optim.Optimizer}

-- Whether "lg.nn.Linear", "x:size" or "Module:parameters" exists.
local function exists(name)
  local class, method = name:match("^(%a+):([%w_]+)$")
  if class then return field(roots[class], method) ~= nil end
  local value = lg
  for part in name:sub(4):gmatch("[%w_]+") do
    value = field(value, part)
    if value == nil then return false end
  end
  return true
end
assert(exists "lg.nn.Linear" and exists "x:size" and exists "Module:parameters" and not exists "lg.nn.Liner")

local root = arg[0]:match("^(.*)tests/lua/")
local file = assert(io.open(root .. "docs/pytorch.md"))
local same, missing, given, faults = 0, 0, 0, {}
local function check(good, line, name)
  if not good then faults[#faults + 1] = ("%s: %s"):format(name, line) end
end
for line in file:lines() do
  local left, right = line:match("^| (.-) | (.-) |")
  if left then
    for name in (right == "same" or right == "missing") and left:gmatch("`([%w_.]+)`") or function() end do
      local ours = counterpart(name)
      if right == "same" then
        check(ours and exists(ours), line:sub(1, 60), name)
        same = same + 1
      elseif ours then
        check(not exists(ours), line:sub(1, 60), name)
        missing = missing + 1
      end
    end
    for name in right:gmatch("`([%a]+[.:][%w_.]+)") do
      if name:sub(1, 3) == "lg." or roots[name:match("^%a+")] and name:find(":", 1, true) then
        check(exists(name), line, name)
        given = given + 1
      end
    end
  end
end
file:close()

-- Inline code that begins with a name of lg.
local placeholders = {["lg.x"] = true, ["lg.nn.x"] = true, ["lg.nn.functional.x"] = true, ["lg.zeroes"] = true,
  ["lg.host.target"] = true, ["lg.host.found"] = true}
local named = 0
for _, path in ipairs {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guide.md", "docs/tutorial.md",
  "docs/window.md", "docs/reference.md", "docs/troubleshooting.md", "docs/pytorch.md"} do
  for line in io.lines(root .. path) do
    for name in line:gmatch("`(lg%.[%w_.]*[%w_])") do
      check(placeholders[name] or exists(name), path, name)
      named = named + 1
    end
  end
end
assert(named > 100, named)
assert(#faults == 0, table.concat(faults, "\n"))
assert(same > 300 and missing > 10 and given > 60, ("%d same, %d missing, %d given"):format(same, missing, given))
