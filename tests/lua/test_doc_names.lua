-- The names in the documents exist; the names that docs/pytorch.md and lua/pytorch/ call missing do not.
local lg = require "lunagrad"

local root = arg[0]:match("^(.*)tests/lua/")
local names = dofile(root .. "tests/lua/pytorch_names.lua")
local exists = names.exists
assert(exists "lg.nn.Linear" and exists "x:size" and exists "x.grad" and exists "Module:parameters" and not exists "lg.nn.Liner")

-- Every name of PyTorch exists or has a note, and no note is left over.
do
  local faults, shares = names.check(root .. "lua/pytorch")
  assert(#faults == 0, table.concat(faults, "\n"))
  for group, wanted in pairs {torch = 85, Tensor = 85, nn = 90, ["nn.functional"] = 90, optim = 90, linalg = 90, fft = 90, func = 90} do
    assert(shares[group] >= wanted / 100, ("%s: %.3f"):format(group, shares[group]))
  end
end

-- The tables of docs/pytorch.md.
local roots = {x = true, Module = true, Optimizer = true}
local given, faults = 0, {}
local function check(good, line, name)
  if not good then faults[#faults + 1] = ("%s: %s"):format(name, line) end
end
for line in io.lines(root .. "docs/pytorch.md") do
  local left, right = line:match("^| (.-) | (.-) |")
  if left and right == "missing" then
    for name in left:gmatch "`torch%.([%w_.]+)`" do check(not exists("lg." .. name), line:sub(1, 60), name) end
  elseif left then
    for name in right:gmatch("`([%a]+[.:][%w_.]+)") do
      if name:sub(1, 3) == "lg." or roots[name:match("^%a+")] and name:find(":", 1, true) then
        check(exists(name), line, name)
        given = given + 1
      end
    end
  end
end

-- Inline code that begins with a name of lg.
local placeholders = {["lg.x"] = true, ["lg.nn.x"] = true, ["lg.nn.functional.x"] = true, ["lg.zeroes"] = true,
  ["lg.host.target"] = true, ["lg.host.found"] = true, ["lg.host.count"] = true}
local named = 0
for _, path in ipairs {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guide.md", "docs/tutorial.md", "docs/find-the-bug.md",
  "docs/window.md", "docs/reference.md", "docs/troubleshooting.md", "docs/pytorch.md", "docs/distributed.md"} do
  for line in io.lines(root .. path) do
    for name in line:gmatch("`(lg%.[%w_.]*[%w_])") do
      check(placeholders[name] or exists(name), path, name)
      named = named + 1
    end
  end
end
assert(named > 100, named)
assert(#faults == 0, table.concat(faults, "\n"))
assert(given > 40, given)
