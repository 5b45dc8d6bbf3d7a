-- lg.compile(fn): fn with deferred calls, which are planned together. fn runs every time as it is written: only the
-- computation waits, until something reads a value, or fn returns.
-- lg.compile(fn, {capture_graph = true}): fn as a captured graph, which runs without Lua once two calls in a row were the
-- same. It is for models so small that most of the time goes to Lua.
local core = require "lunagrad.core"
local fail = core._fail

local Compiled = {}
local functions = setmetatable({}, {__mode = "k"})  -- compiled object -> the function or module that it wraps
local plans = setmetatable({}, {__mode = "k"})      -- compiled object -> its plan in the queue
local graphs = setmetatable({}, {__mode = "k"})     -- compiled object -> its captured graph, with {capture_graph = true}

function Compiled:__call(...)
  local graph = graphs[self]
  if graph then return core._run_captured(graph, ...) end
  return core._defer(plans[self], functions[self], ...)
end

-- The function or module that a compiled object wraps.
function Compiled._wrapped(compiled) return functions[compiled] end

-- Drops all captured graphs, so that their functions run in Lua again: a model that they use was changed.
function core._forget_graphs()
  for _, graph in pairs(graphs) do core._drop_graph(graph) end
end

function Compiled:__tostring() return "compiled " .. tostring(functions[self]) end

local function explain(compiled)
  if not functions[compiled] then fail("explain: a function of lg.compile expected; write f:explain()") end
  if graphs[compiled] then return core._explain_captured(graphs[compiled]) end
  return core._explain(plans[compiled])
end

-- A compiled module has the methods and fields of its module: net:parameters() are the module's parameters.
function Compiled:__index(key)
  if key == "explain" then return explain end
  local fn = functions[self]
  if type(fn) ~= "table" then return nil end
  local value = fn[key]
  if type(value) ~= "function" then return value end
  return function(first, ...) return value(rawequal(first, self) and fn or first, ...) end
end

function Compiled:__newindex(key, value)
  local fn = functions[self]
  if type(fn) ~= "table" then fail(("compile: a compiled function has no field '%s'"):format(tostring(key))) end
  fn[key] = value
end

return function(fn, options)
  local meta = getmetatable(fn)
  if type(fn) ~= "function" and not (type(meta) == "table" and meta.__call) then
    fail(("compile: a function or a module expected (got %s)"):format(type(fn)))
  end
  if options ~= nil and type(options) ~= "table" then fail(("compile: a table of options expected (got %s)"):format(type(options))) end
  local captures = false
  for name, value in pairs(options or {}) do
    if name == "sealed" then fail("compile: the option sealed is capture_graph now") end
    if name ~= "capture_graph" then fail(("compile: unknown option '%s' (known: capture_graph)"):format(tostring(name))) end
    if type(value) ~= "boolean" then fail(("compile: capture_graph is a boolean (got %s)"):format(type(value))) end
    captures = value
  end
  local compiled = setmetatable({}, Compiled)
  functions[compiled] = fn
  if captures then graphs[compiled] = core._capture_graph(fn) else plans[compiled] = core._compiled() end
  return compiled
end
