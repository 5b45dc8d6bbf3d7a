-- Arguments for the hostile calls: values of every kind, each created from a generator of random numbers, with a text
-- that names it. `make.value(draw)` -> value, text. `make.objects` lists {name, function(draw) -> object},
-- `make.of(name, draw)` makes one.
local lg = require "lunagrad"
local setmetatable, error, coroutine, string, select, pcall = setmetatable, error, coroutine, string, select, pcall

local make = {objects = {}}
local byname = {}
local function object(name, maker)
  make.objects[#make.objects + 1] = {name, maker}
  byname[name] = maker
end
function make.of(name, draw) return byname[name](draw) end

-- Plain values, as texts of Lua.
local NUMBERS = {"0", "1", "2", "3", "-1", "-2", "7", "64", "0.5", "-0.0", "1e-30", "1e308", "0/0", "1/0", "-1/0", "1 << 31", "-(1 << 31)",
  "(1 << 32) + 1", "1 << 53", "2.0^53", "math.maxinteger", "math.mininteger", "math.mininteger + 1", "1000003", "65536", "2.0^63"}
-- For functions of Lua itself, whose loops run as often as they are told.
local SMALL = {"0", "1", "2", "3", "-1", "-2", "7", "64", "0.5", "-0.0", "0/0", "1000"}
local STRINGS = {[[""]], [["a"]], [["x"]], [["cpu"]], [["vulkan"]], [["vulkan:9"]], [["f32"]], [["f16"]], [["i64"]], [["bool"]], [["c64"]], [["float64"]],
  [["mean"]], [["sum"]], [["none"]], [["same"]], [["relu"]], [["weight"]], [["train"]], [["sgd"]], [["adam"]], [["ema"]], [["op"]], [["off"]],
  [["step"]], [["a,b->ab"]], [["ij,jk->ik"]], [["\0"]], [["a\0b"]], [["\27[2J\7"]], [["\xff\xfe\x80"]], [["%s%n%d%99s"]], [["../x"]],
  [["file.st"]], [["file.npy"]], [["file.pt"]], [["missing/file.png"]], [["1"]], [["0x10"]], [["nan"]], [["\27Lua"]], [["return 1"]],
  [["return function() error{} end"]], [["k"]], [["v"]], [["__index"]], [["__gc"]], [["mode"]], [["*a"]],
  [[("x"):rep(70000)]], [[("("):rep(5000)]], [[("{"):rep(5000)]], [[("\0"):rep(4096)]], [[("a."):rep(3000)]]}
local LISTS = {"{}", "{1}", "{2, 3}", "{0}", "{-1}", "{1, 2, 3, 4}", "{0, 3}", "{1 << 40}", "{1 << 40, 1 << 40}", "{math.mininteger, -1}", "{0/0}",
  "{nil, 2}", "{\"a\", \"b\"}", "{{1, 2}, {3, 4}}", "{{1}, {2, 3}}", "{{{}}}", "{true, false}", "{[1 << 60] = 1}", "{n = 1 << 40}",
  "{a = 1}", "{lr = 0.1}", "{lr = -1}", "{dim = 1}", "{dtype = \"f16\"}", "{dim = 1 << 40, keepdim = true}", "{size = {2, 2}}",
  "{[0/1] = 0/0}", "{[true] = 1}", "{1, 2, 3, 4, 5, 6, 7, 8, 9}", "{1, 2, 3, a = 1}", "{seed = 1, stream = 2}", "{kind = \"crop\"}",
  "{{kind = \"crop\", height = -1, width = 1 << 40, padding = -5}}", "{{kind = \"normalize\", mean = {}, std = {}}}",
  "{{title = {}, line = 1}}", "{\"x\", \"y\", {}}", "{step = 1 << 62}"}

local function evaluated(text) return load("return " .. text)() end

local function plain(list) return function(draw)
  local text = list[draw(#list)]
  return evaluated(text), text
end end
local number, small, text_, list = plain(NUMBERS), plain(SMALL), plain(STRINGS), plain(LISTS)

local TYPES = {"f32", "f32", "f32", "f64", "f16", "bf16", "i64", "i32", "u8", "bool", "c64"}
local SHAPES = {{}, {1}, {2}, {3}, {2, 3}, {3, 3}, {4, 4}, {0}, {0, 3}, {2, 0, 3}, {1, 2, 4, 4}, {2, 3, 4}, {5, 1}, {1, 1, 1, 1, 1, 2, 1, 1}, {130}, {2, 65}}

local function tensor(draw)
  local dtype, shape = TYPES[draw(#TYPES)], SHAPES[draw(#SHAPES)]
  local x = lg.zeros(shape, {dtype = dtype})
  local kind = draw(12)
  local what = ""
  if kind <= 4 and x:numel() > 0 and dtype ~= "bool" and dtype ~= "c64" then
    x = lg.arange(x:numel()):to(dtype):to(lg.get_default_device()):reshape(shape)
    what = ":arange"
  elseif kind == 5 and #shape >= 2 then
    x, what = x:transpose(1, 2), ":transpose"
  elseif kind == 6 and #shape >= 1 and #shape < 8 then
    x, what = x:expand({2, table.unpack(shape)}), ":expand"
  elseif kind == 7 then
    x, what = x:to("cpu"), ":cpu"
  elseif kind == 8 and x:numel() > 0 and (dtype == "f32" or dtype == "f64") then
    x, what = x:fill_(({0 / 0, 1 / 0, -1 / 0, 1e30})[draw(4)]), ":extreme"
  elseif kind == 9 and x:numel() > 0 and dtype == "i64" then
    x, what = x:fill_(({math.mininteger, math.maxinteger, -1})[draw(3)]), ":extreme"
  elseif kind >= 10 and (dtype == "f32" or dtype == "f64") then
    x, what = x:requires_grad_(), ":grad"
    if kind == 11 then x, what = x * 2, ":node" end
    if kind == 12 and x:numel() > 0 then
      local y = x:sum()
      y:backward()
      what = ":backward"
    end
  end
  return x, ("tensor<%s [%s]%s>"):format(dtype, table.concat(shape, ","), what)
end

local function f32(...) return lg.ones({...}) end

object("tensor", tensor)
object("matrix", function() return f32(3, 3) end)
object("freed tensor", function()
  local x = f32(2)
  if debug then debug.getmetatable(x).__gc(x) end
  return x
end)
object("gradient store", function() return (f32(2):requires_grad_() * 2):sum():gradients() end)
object("linear", function() return lg.nn.Linear(3, 3) end)
object("sequential", function() return lg.nn.Sequential(lg.nn.Linear(3, 3), lg.nn.ReLU(), lg.nn.Linear(3, 2)) end)
object("convolution", function() return lg.nn.Conv2d(2, 2, 3) end)
object("recurrent", function() return lg.nn.LSTM(3, 2) end)
object("norm", function() return lg.nn.BatchNorm1d(3) end)
object("embedding", function() return lg.nn.Embedding(4, 3) end)
object("attention", function() return lg.nn.MultiheadAttention(4, 2) end)
object("module list", function() return lg.nn.ModuleList {lg.nn.ReLU()} end)
object("parameter", function() return lg.nn.Parameter(f32(2, 2)) end)
object("sgd", function() return lg.optim.SGD(lg.nn.Linear(3, 3):parameters(), {lr = 0.1, momentum = 0.9}) end)
object("adam", function() return lg.optim.Adam(lg.nn.Linear(3, 3):parameters(), {lr = 0.1}) end)
object("lbfgs", function() return lg.optim.LBFGS(lg.nn.Linear(3, 3):parameters()) end)
object("ema", function() return lg.optim.EMA(lg.nn.Linear(3, 3), {decay = 0.9}) end)
object("scaler", function() return lg.optim.GradScaler() end)
object("scheduler", function()
  return lg.optim.lr_scheduler.StepLR(lg.optim.SGD(lg.nn.Linear(3, 3):parameters(), {lr = 0.1}), {step_size = 2})
end)
object("dataset", function() return lg.data.TensorDataset(f32(6, 2), f32(6)) end)
object("loader", function() return lg.data.DataLoader(lg.data.TensorDataset(f32(6, 2), f32(6)), {batch_size = 2, workers = 1}) end)
object("loader's iterator", function() return (lg.data.DataLoader(lg.data.TensorDataset(f32(6, 2)), {batch_size = 2}):iter()) end)
object("distribution", function() return lg.distributions.Normal(f32(2), f32(2)) end)
object("categorical", function() return lg.distributions.Categorical {logits = f32(3)} end)
object("hook", function() return f32(2):requires_grad_():register_hook(function() end) end)
object("autocast", function() return lg.autocast("bf16") end)
object("compiled", function() return lg.compile(function(x) return x * 2 + 1 end) end)
object("custom op", function()
  return lg.custom_op {name = "twice", forward = function(ctx, x)
    ctx:save_for_backward(x)
    return x * 2
  end, backward = function(_, g) return g * 2 end}
end)
object("context", function()
  local held
  lg.custom_op {name = "held", forward = function(ctx, x)
    held = ctx
    return x * 2
  end, backward = function(_, g) return g * 2 end}(f32(2))
  return held
end)
object("parameter of the run", function(draw) return lg.run.live("p" .. draw(3), 1) end)
object("kernel", function()
  return lg.kernel {name = "k", glsl = "y[i] = x[i];", inputs = {"x"}, outputs = {"y"}}
end)
object("tape", function() return lg.tape.of and lg.tape.of(f32(2):requires_grad_():sum()) or lg.tape end)
object("shape", function() return f32(2, 3):size() end)
object("step list", function()
  return package.loaded["lunagrad.core"]._step_list({f32(2)}, 0)
end)
object("plan", function() return package.loaded["lunagrad.core"]._data_plan(2, {{rows = lg.zeros({2, 3}, {device = "cpu"})}}, {}) end)
object("closed file", function()
  local file = io.open("held", "w")
  file:close()
  return file
end)
object("file", function() return io.open("held", "w+") end)
object("coroutine", function() return coroutine.create(function(...) coroutine.yield(...) end) end)
object("dead coroutine", function()
  local co = coroutine.create(function() end)
  coroutine.resume(co)
  return co
end)

-- Functions that do what a callback should not.
object("function", function() return function(...) return ... end end)
object("nothing", function() return function() end end)
object("raises", function() return function() error("hostile") end end)
object("raises a table", function() return function() error(setmetatable({}, {__tostring = function() error "twice" end})) end end)
object("raises nil", function() return function() error(nil) end end)
object("yields", function() return function(...) return coroutine.yield(...) end end)
object("recurses", function()
  local function f(...) return 1 + f(...) end
  return f
end)
object("frees its arguments", function()
  return function(...)
    for i = 1, select("#", ...) do
      local x = select(i, ...)
      local events = debug and debug.getmetatable(x)
      if type(events) == "table" and events.__gc then pcall(events.__gc, x) end
    end
    return ...
  end
end)
-- Collects the functions that are running: the engine calls them with values that it trusts.
object("sees who calls", function()
  return function(...)
    local found = {}
    for level = 0, 12 do
      local frame = debug and debug.getinfo(level, "f")
      if not frame then break end
      found[#found + 1] = frame.func
    end
    make.running = found
    return ...
  end
end)
object("collects", function() return function(...)
  collectgarbage()
  return ...
end end)

-- Tables that do not behave like plain tables, and parts of objects.
local EVENTS = {"__index", "__newindex", "__len", "__call", "__eq", "__lt", "__concat", "__tostring", "__name", "__pairs", "__close", "__add",
  "__unm", "__mode", "__metatable"}
local ACTS = {"raises", "yields", "recurses", "nothing", "function", "frees its arguments", "raises nil", "sees who calls"}
object("hostile table", function(draw)
  local act = ACTS[draw(#ACTS)]
  local events = {}
  for _, event in ipairs(EVENTS) do
    if draw(3) > 1 and event ~= "__metatable" or draw(10) == 1 then events[event] = byname[act]() end
  end
  if draw(8) == 1 then events.__gc = byname[act]() end
  return setmetatable({1, 2}, events), "hostile table<" .. act .. ">"
end)
object("a table that holds itself", function()
  local t = {1}
  t[2], t.t, t[t] = t, t, t
  return setmetatable(t, t)
end)
object("a table that grows", function()
  return setmetatable({1}, {__index = function(t, k) return {k, t} end, __len = function() return 1 << 40 end})
end)
object("long list", function()
  local t = {}
  for i = 1, 3000 do t[i] = i end
  return t
end)
object("deep table", function()
  local t = {}
  for _ = 1, 5000 do t = {t} end
  return t
end)
object("list of tensors", function(draw)
  local t = {}
  for i = 1, draw(3) do t[i] = tensor(draw) end
  return t
end)
object("half a module", function() return setmetatable({}, getmetatable(lg.nn.Linear(1, 1))) end)
object("half an optimizer", function() return setmetatable({}, getmetatable(lg.optim.SGD({f32(1):requires_grad_()}, {lr = 1}))) end)

-- Arguments that many functions take, so that calls get past the first check.
local USUAL_SHAPES = {{3, 3}, {3, 3}, {2, 3}, {4}, {3}, {1, 2, 4, 4}, {2, 3, 4}, {}}
local USUAL = {"1", "1", "2", "3", "-1", "0", "0.5", "{1}", "{2}", "{1, 2}", "{2, 3}", "true", "false", [["mean"]], [["sum"]], [["f32"]], "nil"}
local usual_value = plain(USUAL)
function make.usual(draw)
  local kind = draw(10)
  if kind <= 5 then
    local shape = USUAL_SHAPES[draw(#USUAL_SHAPES)]
    return lg.rand(shape), ("rand[%s]"):format(table.concat(shape, ","))
  elseif kind == 6 then
    return lg.randint(1, 3, {3}), "randint[3]"
  elseif kind <= 9 then
    return usual_value(draw)
  end
  return tensor(draw)
end

-- A random value and its text; `lua_own`: for a function of Lua itself.
function make.value(draw, lua_own)
  local kind = draw(100)
  if kind <= 6 then return nil, "nil" end
  if kind <= 10 then return kind <= 8, tostring(kind <= 8) end
  if kind <= 28 then return (lua_own and small or number)(draw) end
  if kind <= 42 then return text_(draw) end
  if kind <= 54 then return list(draw) end
  if kind <= 74 then return tensor(draw) end
  local entry = make.objects[draw(#make.objects)]
  local made, value, text = pcall(entry[2], draw)
  if not made then return nil, "nil <" .. entry[1] .. ">" end
  return value, text or "<" .. entry[1] .. ">"
end

return make
