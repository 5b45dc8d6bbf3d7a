-- lg.test: tests of user code. `lunagrad test FILES` makes describe, it, before_each, after_each and expect
-- global; elsewhere they are fields of this module, and a failure is an error.
--   describe("softmax", function()
--     it("adds up to one", function() expect.close(lg.randn(3, 4):softmax(2):sum(2), lg.ones(3)) end)
--   end)
local core = require "lunagrad.core"
local is_plain = require("lunagrad.arguments").is_plain

local is_tensor = core.is_tensor

local test = {}

local around = {}  -- the enclosing describes: {name=, before = {…}, after = {…}}
local filter = ""  -- from `lunagrad test --filter`: tests without it in their name are left out
local report       -- from `lunagrad test`: report(name, message or nil, seconds)

local function traced(message)
  if type(message) ~= "string" then
    message = getmetatable(message) and getmetatable(message).__tostring and tostring(message)
      or ("error object is a %s value"):format(type(message))
  end
  return message
end

-- The message of a failed test, with advice.
local function advised(message) return core._advised(traced(message)) end

local function full_name(name)
  local names = {}
  for i, group in ipairs(around) do names[i] = group.name end
  names[#names + 1] = name
  return table.concat(names, " ")
end

local function call_all(which)
  for _, group in ipairs(around) do
    for _, f in ipairs(group[which]) do f() end
  end
end

local function check_arguments(who, name, f)
  if type(name) ~= "string" or type(f) ~= "function" then
    error(("%s: a name and a function expected"):format(who), 3)
  end
end

-- it(name, f): a test. It fails if f raises an error. The random generator is seeded with 0 before each test.
function test.it(name, f)
  check_arguments("it", name, f)
  if not full_name(name):find(filter, 1, true) then return end
  local start = core.clock()
  core.manual_seed(0)
  local ok, message = xpcall(function()
    call_all("before")
    f()
  end, advised)
  local after_ok, after_message = xpcall(call_all, traced, "after")
  if ok then ok, message = after_ok, after_message end
  if report then
    report(full_name(name), not ok and message or nil, core.clock() - start)
  elseif not ok then
    error(message, 0)
  end
end

-- describe(name, body): groups tests under a name.
function test.describe(name, body)
  check_arguments("describe", name, body)
  around[#around + 1] = {name = name, before = {}, after = {}}
  local ok, message = xpcall(body, advised)
  if not ok and report then report(full_name("(outside a test)"), message, 0) end
  around[#around] = nil
  if not ok and not report then error(message, 0) end
end

local function add_hook(who, which, f)
  if type(f) ~= "function" then error(who .. ": a function expected", 3) end
  if #around == 0 then around[1] = {before = {}, after = {}} end
  table.insert(around[#around][which], f)
end

-- Functions called before and after each test of the enclosing describe, nested ones included.
function test.before_each(f) add_hook("before_each", "before", f) end
function test.after_each(f) add_hook("after_each", "after", f) end

local expect = {}
test.expect = expect

local function shown(value)
  if type(value) == "string" then return ("%q"):format(value) end
  return tostring(value)
end

local function shape_text(x) return "[" .. table.concat(x:size(), ", ") .. "]" end

local function same_shape(found, wanted, fail)
  if shape_text(found) ~= shape_text(wanted) then
    fail(("shape %s instead of %s"):format(shape_text(found), shape_text(wanted)))
  end
end

-- Describes the largest difference: "3 of 12 elements differ, most at [2, 1]: 0.5 instead of 0.25".
local function difference(found, wanted, wrong)
  local distance = (found:double() - wanted:double()):abs():nan_to_num(math.huge)
  local at = distance:masked_fill(wrong:logical_not(), -1):reshape(-1):argmax():item()
  local index, rest = {}, at
  local shape = found:size()
  for d = #shape, 1, -1 do
    index[d] = rest % shape[d] + 1
    rest = rest // shape[d]
  end
  local function element(x)
    local value = x:reshape(-1)[at + 1]:double():item()
    return value ~= value and "nan" or ("%.9g"):format(value)
  end
  return ("%d of %d elements differ, most at [%s]: %s instead of %s"):format(wrong:long():sum():item(), found:numel(),
    table.concat(index, ", "), element(found), element(wanted))
end

local function compare(found, wanted, where, fail)
  if is_tensor(wanted) then
    if not is_tensor(found) then fail(("%s is %s, no tensor"):format(where, shown(found))) end
    same_shape(found, wanted, fail)
    if found:dtype() ~= wanted:dtype() then fail(("%s is %s instead of %s"):format(where, found:dtype(), wanted:dtype())) end
    local wrong = found:ne(wanted)
    if wrong:any():item() then fail(where .. ": " .. difference(found, wanted, wrong)) end
  elseif is_plain(wanted) and type(found) == "table" then
    for key, value in pairs(wanted) do compare(found[key], value, ("%s[%s]"):format(where, shown(key)), fail) end
    for key, value in pairs(found) do
      if wanted[key] == nil then fail(("%s[%s] is %s, not expected"):format(where, shown(key), shown(value))) end
    end
  elseif found ~= wanted and not (found ~= found and wanted ~= wanted) then
    fail(("%s is %s instead of %s"):format(where, shown(found), shown(wanted)))
  end
end

-- Assertion errors name the line of the test.
local function failing(level)
  return function(message) error(message, level) end
end

-- Equality of numbers and strings, of tables entry by entry, and of tensors in shape, dtype and every element (NaN is
-- unequal to NaN).
function expect.equal(found, wanted)
  local ok, message = pcall(compare, found, wanted, "value", failing(0))
  if not ok then error(message, 2) end
end

-- |found - wanted| <= atol + rtol |wanted|, for numbers, lists or tensors, with PyTorch's defaults 1e-5 and
-- 1e-8. NaN is close to NaN only with {equal_nan = true}.
function expect.close(found, wanted, options)
  local rtol, atol = options and options.rtol or 1e-5, options and options.atol or 1e-8
  local x = is_tensor(found) and found:detach() or core.tensor(found, {dtype = "f64"})
  local y = is_tensor(wanted) and wanted:detach():to(x:device()) or core.tensor(wanted, {dtype = "f64"}):to(x:device())
  same_shape(x, y, failing(3))
  local a, b = x:double(), y:double()
  local close = (a - b):abs():le(b:abs() * rtol + atol):logical_or(a:eq(b))
  if options and options.equal_nan then close = close:logical_or(a:isnan():logical_and(b:isnan())) end
  local wrong = close:logical_not()
  if wrong:any():item() then
    error(("%s (rtol %g, atol %g)"):format(difference(x, y, wrong), rtol, atol), 2)
  end
end

-- f must raise an error whose message contains `part`; returns the message.
function expect.raises(f, part)
  local ok, message = pcall(f)
  if ok then error("no error was raised", 2) end
  message = traced(message)
  if part and not message:find(part, 1, true) then error(("%q does not contain %q"):format(message, part), 2) end
  return message
end

-- Called by `lunagrad test` before each file.
function test.install(globals, sink, only)
  report, filter = sink, only
  for _, name in ipairs {"describe", "it", "before_each", "after_each", "expect"} do globals[name] = test[name] end
end

return test
