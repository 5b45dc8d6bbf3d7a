-- Our side of tests/bench/zoo/run: one model on the default device.
--
--   lunagrad run server.lua --device D -- MODEL DTYPE FIXED NAME=VALUE…
--
-- First it prints "ready <parameters> <bytes of memory before the model>"; then each line on standard input is answered by one line, "error <text>" if it fails:
--   step, infer     "<seconds of the best call> <calls>", one timed round
--   load FILE       "ok"; weights of a .pt file
--   loss            "<loss>" of one more step
--   output          "<mean of the absolute values>" of what infer returns
--   memory          "<bytes>", the most memory of this process
local lg = require "lunagrad"
local bench = require "lunagrad.bench"

local folder = arg[0]:match("^(.*)/") or "."
package.path = folder .. "/?.lua;" .. package.path

local name, dtype, fixed = arg[1], arg[2], arg[3] == "fixed"
local sizes = {}
for i = 4, #arg do
  local key, value = arg[i]:match("^(.-)=(.*)$")
  local list = {}
  for item in value:gmatch("[^,]+") do list[#list + 1] = math.tointeger(item) or tonumber(item) end
  sizes[key] = value:find(",") and list or list[1]
end

if dtype == "high" then lg.set_matmul_precision("high") end
local zoo = {sizes = sizes, device = lg.device(), fixed = fixed}

-- Runs fn as a user of mixed precision does.
function zoo.autocast(fn)
  if dtype == "bf16" then return lg.autocast("bf16", fn) end
  return fn()
end

-- Data that both sides make alike: numbers of mean 0 and variance 1, and numbers from 0 to n - 1.
local function spread(count, n, k)
  local i = lg.arange(count, {device = "cpu"})
  return (i * i % 1000003 * 7919 + i * 31 + k * 104729) % 1000003 % n
end

local function count_of(shape)
  local count = 1
  for _, size in ipairs(shape) do count = count * size end
  return count
end

function zoo.wave(shape, k)
  return ((spread(count_of(shape), 2017, k or 0):float() / 1008 - 1) * 1.732):view(shape):to(zoo.device)
end

function zoo.ids(shape, n, k) return spread(count_of(shape), n, k or 0):view(shape):to(zoo.device) end

-- Noise inside of a step: random, except where two sides are compared.
function zoo.noise(shape)
  if fixed then return zoo.wave(shape, 5) end
  return lg.randn(shape)
end

-- The same from 0 to 1.
function zoo.uniform(shape)
  if fixed then return zoo.ids(shape, 2017, 5):float() / 2017 end
  return lg.rand(shape)
end

-- What most models return: a step with a loss, and inference.
function zoo.training(module, optimizer, loss_of, infer)
  local function step()
    optimizer:zero_grad()
    local loss = zoo.autocast(loss_of)
    loss:backward()
    optimizer:step()
    return loss
  end
  return {module = module, step = step, infer = function() return zoo.autocast(infer) end}
end

local function answer(fn, ...)
  local ok, text = pcall(fn, ...)
  io.stdout:write(ok and text or "error " .. tostring(text):gsub("%s*\n%s*", " "), "\n")
  io.stdout:flush()
  return ok
end

local model
local timed = {}
local function timed_round(call, mode)
  return function()
    local calls = sizes.calls or 1
    local function run()
      model.module:train(mode == "step")
      return bench.time(call, 0.25, calls)
    end
    if not timed[mode] then
      for _ = 1, 2 do call() end
      lg.synchronize()
      timed[mode] = true
    end
    local best, _, rounds = run()
    return ("%.9g %d"):format(best, rounds * calls)
  end
end

local function peak()
  for line in io.lines("/proc/self/status") do
    local kib = line:match("^VmHWM:%s*(%d+) kB")
    if kib then return ("%d"):format(kib * 1024) end
  end
  return "0"
end

local commands, base = nil, peak()
local begun = answer(function()
  lg.manual_seed(1)
  model = require("models." .. name)(zoo)
  if sizes.deferred then model.step, model.infer = lg.compile(model.step), lg.compile(model.infer) end
  if sizes.captured then model.step = lg.compile(model.step, {capture_graph = true}) end
  local count = 0
  for _, p in ipairs(model.module:parameters()) do count = count + p:numel() end
  commands = {
    step = timed_round(model.step, "step"),
    infer = timed_round(function() return lg.no_grad(model.infer) end, "infer"),
    memory = peak,
    load = function(path)
      model.module:load_state_dict(lg.io.pt.load(path))
      return "ok"
    end,
    loss = function()
      model.module:train()
      return ("%.9g"):format(model.step():item())
    end,
    output = function()
      model.module:eval()
      return ("%.9g"):format(lg.no_grad(model.infer):float():abs():mean():item())
    end,
  }
  return ("ready %d %s"):format(count, base)
end)

if begun then
  for line in io.lines() do
    local command, argument = line:match("^(%S+)%s*(.*)$")
    answer(commands[command], argument)
  end
end
