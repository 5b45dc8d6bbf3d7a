-- Assertions of the Lua tests: local expect = require "expect".
local lg = require "lunagrad"

local expect = {}

-- Numbers, strings, tables (entry by entry) or tensors (shape, dtype, elements) are equal.
function expect.equal(found, wanted, where)
  where = where or "value"
  if lg.is_tensor(wanted) then
    assert(lg.is_tensor(found), where .. " is no tensor")
    assert(found:dtype() == wanted:dtype(), ("%s is %s, not %s"):format(where, found:dtype(), wanted:dtype()))
    expect.equal(found:size(), wanted:size(), where .. ":size()")
    expect.equal(found:tolist(), wanted:tolist(), where)
  elseif type(wanted) == "table" and type(found) == "table" and getmetatable(wanted) == nil then
    for key, value in pairs(wanted) do expect.equal(found[key], value, where .. "." .. tostring(key)) end
    for key in pairs(found) do
      assert(wanted[key] ~= nil, ("%s.%s was not expected"):format(where, tostring(key)))
    end
  else
    local both_nan = found ~= found and wanted ~= wanted
    assert(both_nan or found == wanted and math.type(found) == math.type(wanted),
      ("%s is %s; %s expected"):format(where, tostring(found), tostring(wanted)))
  end
end

-- Numbers, lists of numbers or tensors differ by at most `tolerance`.
function expect.close(found, wanted, tolerance, where)
  where = where or "value"
  if lg.is_tensor(found) then found = found:tolist() end
  if lg.is_tensor(wanted) then wanted = wanted:tolist() end
  if type(wanted) == "table" then
    assert(#found == #wanted, ("%s has %d entries; %d expected"):format(where, #found, #wanted))
    for i, value in ipairs(wanted) do expect.close(found[i], value, tolerance, ("%s[%d]"):format(where, i)) end
  else
    assert(math.abs(found - wanted) <= (tolerance or 1e-6),
      ("%s is %.9g; %.9g expected"):format(where, found, wanted))
  end
end

local function raises(part, file, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error, where one was expected: " .. part)
  assert(type(message) == "string", "the error is a " .. type(message))
  assert(message:find(part, 1, true), ("%q does not contain %q"):format(message, part))
  assert(message:find("^[^\n]-" .. file .. "%.lua:%d+: "), ("%q has no line of the caller"):format(message))
  return message
end

-- f raises an error whose message contains `part` and starts with a line of the test.
function expect.raises(part, f, ...) return raises(part, "test_[%w_]+", f, ...) end

-- The same for a library function that is called from here: the message may also start with a line of this file.
function expect.call_raises(part, f, ...)
  local arguments = table.pack(...)
  return raises(part, "[%w_]+", function()
    local result = f(table.unpack(arguments, 1, arguments.n))
    return result
  end)
end

return expect
