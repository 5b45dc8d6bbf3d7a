-- Calls every function that a script can reach with hostile arguments: no call may end the process, hang, or leave the state
-- broken. Errors are right answers.
--
--   lunagrad run tests/fuzz/hostile_calls.lua -- SEED FIRST COUNT LOG     calls FIRST … FIRST + COUNT - 1 of a seed
--
-- The calls are drawn from SEED and FIRST alone, so the same command makes the same calls. Each is written to LOG before it is
-- made. tests/fuzz/hostile_calls starts this script again and again, in folders of its own.
-- Calls may replace what they reach, so this script keeps what it needs.
local lg = require "lunagrad"
local pcall, type, tostring, error, select, pairs = pcall, type, tostring, error, select, pairs
local unpack, pack, concat = table.unpack, table.pack, table.concat
local create, resume, status, close = coroutine.create, coroutine.resume, coroutine.status, coroutine.close
local sethook, getinfo, collect = debug and debug.sethook, debug and debug.getinfo, collectgarbage
local walk, make = require "hostile.walk", require "hostile.arguments"

local seed, first, count = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3])
local log = arg[4] and assert(io.open(arg[4], "w"))
local print, write, flush = print, log and log.write, log and log.flush
local function note(...)
  if not log then return print(concat {...}) end  -- a sandbox has no files
  write(log, ...)
  write(log, "\n")
  flush(log)
end

-- splitmix64: draw(n) is a number of 1 … n.
local state = seed * 0xBF58476D1CE4E5B9 ~ first * 0xD1B54A32D192ED03
local function draw(n)
  state = state + 0x9E3779B97F4A7C15
  local z = state
  z = (z ~ z >> 30) * 0xBF58476D1CE4E5B9
  z = (z ~ z >> 27) * 0x94D049BB133111EB
  return (z ~ z >> 31 >> 1) % n + 1
end

assert(#table.concat({("x"):rep(9999), ("y"):rep(9999)}, ",") > 0)  -- Lua makes the metatable of its buffers
local boxes = debug and debug.getregistry()["_UBOX*"]

-- Not called, and why.
local EXCLUDED = {
  {os.exit, "ends the process"},
  {os.execute, "starts other programs"}, {io and io.popen, "starts other programs"},
  {debug and debug.setmetatable, "gives objects of C++ the events of others"},
  {debug and debug.setuservalue, "replaces what objects of C++ hold"},
  {debug and debug.setupvalue, "replaces what functions of C++ hold"},
  {debug and debug.upvaluejoin, "the same"},
  {debug and debug.setlocal, "replaces the library's own variables while it runs"},
  {package and package.loadlib, "runs machine code"},
  {debug and debug.getregistry()._CLIBS, "Lua's own list, whose finalizer trusts its argument"},
  {boxes and boxes.__gc, "frees the memory of Lua's own buffers, and trusts its argument"},
}

local roots = {}
for _, entry in ipairs(make.objects) do
  local made, value = pcall(entry[2], draw)
  if made then roots[#roots + 1] = {"<" .. entry[1] .. ">", value} end
end
local own = #roots
local seen = {}
for _, entry in ipairs(EXCLUDED) do
  if entry[1] then seen[entry[1]] = true end
end
for _, value in pairs {walk, make, note, draw} do seen[value] = true end
if log then seen[log] = true end
roots[#roots + 1] = {"_G", _G}
roots[#roots + 1] = {"<text>#", (debug or _G).getmetatable ""}
if package then roots[#roots + 1] = {"loaded", package.loaded} end
if debug then roots[#roots + 1] = {"registry", debug.getregistry()} end
local functions = {}
seen[_G.arg] = true
walk(roots, functions, seen)
local natives = {}
for _, entry in ipairs(functions) do
  if entry.native then natives[#natives + 1] = entry end
end

-- A small computation with a known result, in the modes in which a script begins.
local device = lg.get_default_device()
local function probe()
  lg.set_default_dtype "f32"
  lg.set_default_device(device)
  lg.set_grad_enabled(true)
  local x = lg.tensor({1.0, 2.0, 3.0}):requires_grad_()
  local y = (x * x + lg.ones(3)):sum()
  assert(y:item() == 17, "a sum is " .. tostring(y:item()))
  y:backward()
  local g = x.grad:tolist()
  assert(g[1] == 2 and g[2] == 4 and g[3] == 6, "a gradient is wrong")
  local s = x:detach():softmax(1):sum():item()
  assert(math.abs(s - 1) < 1e-5, "a softmax is wrong")
end
local checked, why = pcall(probe)
assert(checked, why)

local recent, places = {}, 0
local function keep(value)
  local kind = type(value)
  if kind == "userdata" or kind == "function" or kind == "thread" then
    places = places % 12 + 1
    recent[places] = value
  end
end

-- Functions of Lua itself loop as often as a number tells them.
local function is_of_lua(name)
  return name:find "^_G%.[%a_]+$" or name:find "^_G%.%l+[48]?%.[%a_]+$" and not name:find "^_G%.lg"
end

local tally = {returned = 0, raised = 0, yielded = 0, long = 0}
for index = first, first + count - 1 do
  local entry
  if draw(10) == 1 and places > 0 and type(recent[draw(places)]) == "function" then
    for i = 1, places do
      if type(recent[i]) == "function" then entry = {name = "<result>", f = recent[i], native = true} end
    end
  else
    local from = draw(10) <= 6 and natives or functions
    entry = from[draw(#from)]
  end
  local arguments, texts, n = {}, {}, draw(6) - 1
  if n == 0 and draw(3) > 1 then n = 1 end
  local lua_own = is_of_lua(entry.name)
  local nearly_right = draw(2) == 1
  for i = 1, n do
    local value, text
    if i == 1 and entry.owner and entry.owner <= own and draw(10) <= 7 then
      local name = roots[entry.owner][1]:sub(2, -2)
      local made
      made, value, text = pcall(make.of, name, draw)
      if not made then value = nil end
      text = text or "<" .. name .. ">"
    elseif places > 0 and draw(10) == 1 then
      local at = draw(places)
      value, text = recent[at], "<result " .. type(recent[at]) .. ">"
    else
      local usual = nearly_right and draw(4) > 1 and make.usual or make.value
      local made
      made, value, text = pcall(usual, draw, lua_own)
      if not made then value, text = nil, "nil" end
    end
    arguments[i], texts[i] = value, text
  end
  note(index, " ", entry.name, "(", concat(texts, ", "), ")")

  local co = create(entry.f)
  local steps, watched = 0, draw(8) == 1
  if sethook then
    sethook(co, function(event)
      if event == "count" then
        steps = steps + 1
        if steps > 200 then error("too long", 0) end
      else  -- C++ functions that are no values of the library
        local f = getinfo(2, "f").func
        if not seen[f] then
          seen[f] = true
          if getinfo(f, "S").what == "C" then
            local name = ("<running %s>"):format(getinfo(2, "n").name or "?")
            natives[#natives + 1] = {name = name, f = f, native = true}
          end
        end
      end
    end, watched and "c" or "", 100000)
  end
  for i = 1, n do
    if type(arguments[i]) == "userdata" and draw(4) == 1 then keep(arguments[i]) end
  end
  local results = pack(resume(co, unpack(arguments, 1, n)))
  for _ = 1, 3 do
    if status(co) ~= "suspended" then break end
    tally.yielded = tally.yielded + 1
    results = pack(resume(co, make.value(draw)))
  end
  if status(co) == "suspended" or not results[1] then pcall(close, co) end
  if steps > 200 then tally.long = tally.long + 1 end
  if results[1] then
    tally.returned = tally.returned + 1
    for i = 2, results.n < 5 and results.n or 5 do keep(results[i]) end
  else
    tally.raised = tally.raised + 1
  end
  lg.set_grad_enabled(true)
  lg.run.assert_finite "off"  -- ends the run at the next NaN
  lg.set_detect_anomaly "off"
  if make.running then  -- C++ functions that called back
    for i = 1, #make.running do
      if getinfo(make.running[i], "S").what == "C" then keep(make.running[i]) end
    end
    make.running = nil
  end
  if index % 40 == 39 then collect() end
  if index % 10 == 9 or index == first + count - 1 then
    note "probe"
    pcall(lg.synchronize)  -- a GPU reports wrong indices later
    checked, why = pcall(probe)
    if not checked then
      note("broken: ", tostring(why))
      error("the state is broken after call " .. index .. ": " .. tostring(why))
    end
  end
end
note(("end: %d functions, %d of C++; %d returned, %d raised, %d yielded, %d long"):format(#functions, #natives,
  tally.returned, tally.raised, tally.yielded, tally.long))
