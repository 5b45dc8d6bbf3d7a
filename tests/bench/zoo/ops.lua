-- Our side of tests/bench/zoo/ops: `lunagrad run ops.lua --device D -- BATCH SECONDS CLOCK DTYPE`. Calls of BATCH
-- seconds together run between two waits for the device. CLOCK is "wall" or "processor". A line "row" with fields
-- between tabs sets up a call (op_lines.py writes them); "forward" and "both" answer "<seconds of the best call>". A
-- line that fails is answered by "error <text>".
local lg = require "lunagrad"
local bench = require "lunagrad.bench"
local nn = lg.nn
local batch, seconds = tonumber(arg[1]), tonumber(arg[2])
local clock = arg[3] == "processor" and os.clock or lg.clock
local dtype = arg[4]  -- of real operands and parameters

local makers = {
  real = function(shape, low, high) return lg.rand(shape) * (high - low) + low end,
  given = function(shape, low, high) return lg.rand(shape) * (high - low) + low end,
  index = function(shape, low, high) return lg.randint(low // 1 | 0, high // 1 | 0, shape, {dtype = lg.long}) end,
  boolean = function(shape) return lg.rand(shape):gt(0.5) end,
  complex = function(shape) return lg.randn(shape, {dtype = "c64"}) end,
  sign = function(shape) return lg.randn(shape):sign() end,
  sorted = function(shape) return (lg.sort(lg.rand(shape))) end,
  permutation = function(shape) return lg.randperm(shape[1]) end,
  definite = function(shape)
    local x = lg.rand(shape)
    return x:matmul(x:t()) / shape[1] + lg.eye(shape[1])
  end,
}

local function list_of(text)
  local list = {}
  for item in text:gmatch("[^,]+") do list[#list + 1] = math.tointeger(item) or tonumber(item) end
  return list
end

local inputs
local function value_of(text)
  local kind, rest = text:sub(1, 1), text:sub(2)
  if kind == "n" then return nil end
  if kind == "i" then return math.tointeger(rest) end
  if kind == "f" then return tonumber(rest) end
  if kind == "b" then return rest == "1" end
  if kind == "s" then return rest end
  if kind == "l" then return list_of(rest) end
  local name, shape, low, high = rest:match("^(%a+):([%d,]*):(%S+):(%S+)$")
  local x = makers[name](list_of(shape), tonumber(low), tonumber(high))
  if x:is_floating_point() then x = x:to(dtype) end
  if name ~= "given" then inputs[#inputs + 1] = x end
  return x
end

local function find(name)
  local place, field = name:match("^([%w_]+)%.([%w_]+)$")
  if place then return lg[place][field] end
  for _, holder in ipairs {lg, nn.functional, lg.special} do
    if lg.has(holder, name) then return holder[name] end
  end
  local method = lg.ones(1)
  if lg.has(method, name) then return method[name] end
  error("no function is called " .. name, 0)
end

local real_creators = {zeros = true, ones = true, rand = true, randn = true, full = true, linspace = true, eye = true}

local call, both
local commands = {}
function commands.row(fields)
  call, both, inputs = nil, nil, {}
  collectgarbage()
  local positional, count, options, op, module, as_list = {}, 0, nil, nil, nil, false
  for field in fields:gmatch("[^\t]+") do
    local kind, rest = field:match("^(%a+)=(.*)$")
    if kind == "op" then
      op = rest
    elseif kind == "module" then
      module = rest
    elseif kind == "list" then
      as_list = true
    elseif kind == "p" then
      count = count + 1
      positional[count] = value_of(rest)
    else
      local name, value = rest:match("^([^:]+):(.*)$")
      options = options or {}
      options[name] = value_of(value)
    end
  end
  local f
  if module then
    positional[count + 1] = options
    local layer = nn[module](table.unpack(positional, 2, count + 1)):to(dtype)
    positional, count, options, f = {positional[1]}, 1, nil, layer
    for _, p in ipairs(layer:parameters()) do inputs[#inputs + 1] = p end
  else
    f = find(op)
  end
  if as_list then positional, count = {positional}, 1 end
  if real_creators[op] then
    options = options or {}
    options.dtype = dtype
  end
  if options then
    count = count + 1
    positional[count] = options
  end
  local function run() return f(table.unpack(positional, 1, count)) end
  call = function() return lg.no_grad(run) end
  call()
  local leaves = {}
  for _, x in ipairs(inputs) do
    if x:is_floating_point() or x:is_complex() then leaves[#leaves + 1] = x:requires_grad_() end
  end
  local function result()
    for _, y in ipairs(table.pack(run())) do
      if lg.is_tensor(y) and y.requires_grad then return y end
    end
  end
  local y = #leaves > 0 and result()
  if not y then return "none" end
  local seed = lg.ones_like(y)
  local function step()
    for _, x in ipairs(leaves) do x.grad = nil end
    result():backward(seed)
  end
  local ok, text = pcall(step)
  if not ok then return "none " .. tostring(text):gsub("%s*\n%s*", " ") end
  both = step
  return "grad"
end

local function timed(f)
  local calls = math.max(1, math.min(1000, batch / bench.time(f, 0, 1, false, clock))) // 1 | 0
  return ("%.9g"):format((bench.time(f, seconds, calls, false, clock)))
end
function commands.forward() return timed(call) end
function commands.both() return timed(both) end

for line in io.lines() do
  local command, rest = line:match("^(%S+)\t?(.*)$")
  local ok, text = pcall(commands[command], rest)
  io.stdout:write(ok and text or "error " .. tostring(text):gsub("%s*\n%s*", " "), "\n")
  io.stdout:flush()
end
