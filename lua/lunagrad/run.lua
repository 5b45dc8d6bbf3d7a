-- lg.run: named states, checkpoints, and resuming from a checkpoint. A checkpoint is a file of lg.io.save with the
-- step, the parameters, the position of the random generator and each state. A reload passes the same data to the next
-- script in memory. The session provides the rest of lg.run. All ranks of a sharded run write a checkpoint together.
local checkpoints = require "lunagrad.sharded_checkpoints"
local core = require "lunagrad.core"
local has = require("lunagrad.fields").has
local live = require "lunagrad.live"
local names_of_models = require "lunagrad.nn.names"
local is_plain = require("lunagrad.arguments").is_plain
local restored = require "lunagrad.restored"
local shards = require "lunagrad.shards"

local run = core.run
local is_tensor, fail = core.is_tensor, core._fail

local version = 1

local names, objects = {}, {}  -- registered states: names in order, objects by name
local built = {}               -- the settings of each state as built, before a step or a checkpoint changed them
local resumed                  -- the checkpoint that this run resumes
local policy = {}   -- which checkpoints to keep: keep_last, keep_best, mode
local written = {}  -- checkpoints of this run, oldest first: {path, step, value}
local reload                   -- or the data from the previous script
local set_up                   -- names of the states that the script changes between registration and the first step

local function has_state(object)
  local kind = type(object)
  return kind == "table" and not is_plain(object) or kind == "userdata" and not is_tensor(object)
end

-- The part of an object that a checkpoint stores: its state_dict, or the values of a plain table. `within` are the
-- tables that contain it.
local function state_of(object, where, within)
  if type(object) == "table" and rawget(object, "__index") and rawget(object, "__name") then
    fail(("run.state: %s is the class %s; an object of it is made by calling it"):format(where, object.__name))
  elseif type(object) == "userdata" and not is_tensor(object) and not has(object, "state_dict") then
    fail(("run.state: %s is no value that a checkpoint can hold; values of lg.run.param and lg.run.live are in it already"):format(where))
  elseif has_state(object) then
    for _, method in ipairs {"state_dict", "load_state_dict"} do
      if not object[method] then fail(("run.state: %s has no %s"):format(where, method)) end
    end
    local state = object:state_dict()
    if state == nil then fail(("run.state: the state_dict of %s returned nothing"):format(where)) end
    return state
  elseif type(object) == "table" then
    local values, inner = {}, {[object] = where}
    for around, place in pairs(within or {}) do inner[around] = place end
    for key, value in pairs(object) do
      local place = ("%s.%s"):format(where, tostring(key))
      if type(key) ~= "string" and type(key) ~= "number" and type(key) ~= "boolean" then
        fail(("run.state: %s has a %s as a key; strings, numbers and booleans can be stored"):format(where,
          is_tensor(key) and "Tensor" or type(key)))
      end
      if inner[value] then fail(("run.state: %s is %s itself, which no checkpoint can hold"):format(place, inner[value])) end
      values[key] = state_of(value, place, inner)
    end
    return values
  elseif is_tensor(object) then
    return shards.of(object) and shards.state(object, object) or object:detach()
  elseif type(object) == "function" or type(object) == "thread" then
    fail(("run.state: %s is a %s, which no checkpoint can hold"):format(where, type(object)))
  end
  return object
end

-- A state without its tensors.
local function settings_of(state)
  if type(state) ~= "table" then return not is_tensor(state) and state or nil end
  local settings = {}
  for key, value in pairs(state) do settings[key] = settings_of(value) end
  return settings
end

-- A message without the line of the library or the script at its start, and without a traceback.
local function without_place(message) return (tostring(message):gsub("^[^%s:]+:%d+: ", "")) end

-- Restores an object from its stored state. Tensors and objects keep their identity.
local function put_back(object, kept, where)
  if has_state(object) then
    local ok, message = pcall(object.load_state_dict, object, kept)
    if not ok then
      local later = resumed.content.set_up and resumed.content.set_up[where]
      fail(("run.state: '%s' does not fit the checkpoint: %s%s"):format(where, without_place(message),
        later and "\nThe script changes it after lg.run.state: that belongs into the function which builds it" or ""))
    end
  elseif is_tensor(object) and is_tensor(kept) then
    kept = shards.fit(kept, object)
    local mine, theirs = object:size(), kept:size()
    if #mine ~= #theirs or table.concat(mine, " ") ~= table.concat(theirs, " ") then
      fail(("run.state: %s has shape [%s], in the checkpoint [%s]"):format(where, table.concat(mine, ", "),
        table.concat(theirs, ", ")))
    end
    local _ <close> = core.no_grad()
    object:copy_(kept)
  elseif type(object) == "table" and type(kept) == "table" then
    for key, value in pairs(kept) do
      object[key] = put_back(object[key], value, ("%s.%s"):format(where, key))
    end
  elseif type(object) == type(kept) or object == nil then
    return kept
  else
    fail(("run.state: %s is a %s, in the checkpoint a %s"):format(where, type(object), type(kept)))
  end
  return object
end

local function names_of(list)
  local names = {}
  for i, one in ipairs(list) do names[i] = one.name end
  return table.concat(names, ", ")
end

-- Warns of the objects that a checkpoint does not contain.
local function warn_of_missing(list)
  if type(list) == "number" then list = list > 0 and {{loader = true}} or {} end  -- from an earlier version
  if #list == 1 and list[1].loader then
    run._warn(("run.resume: this checkpoint holds no position of the data, since its DataLoader was not registered: the data "
      .. "begin again, and the run differs from one that was not interrupted"))
  elseif #list > 0 then
    run._warn(("run.resume: this checkpoint does not hold %s, since lg.run.state did not register %s: %s again, and the run "
      .. "differs from one that was not interrupted"):format(names_of(list), #list == 1 and "it" or "them",
      #list == 1 and "it begins" or "they begin"))
  end
end

-- The contents of a checkpoint. Error when the file is damaged or not a checkpoint.
local function read(path)
  local content = core.io.load(path)
  if type(content) ~= "table" or content.format ~= "lunagrad checkpoint" or math.type(content.version) ~= "integer" then
    fail(("%s: not a checkpoint"):format(path), "file")
  elseif content.version > version then
    fail(("%s: a checkpoint of a later version (%d; this is %d)"):format(path, content.version, version), "file")
  elseif math.type(content.step) ~= "integer" or type(content.states) ~= "table" then
    fail(("%s: a damaged checkpoint"):format(path), "file")
  end
  return content
end

-- Calls f(...), which reads the checkpoint at `path`. Its error also names the latest earlier checkpoint that is
-- intact, to resume from.
local function reading(path, f, ...)
  local ok, result = pcall(f, ...)
  if ok then return result end
  local message = tostring(result):gsub("\n.*", ""):gsub("^%S+:%d+: ", "")  -- without the line of the script
  local stem = path:match "^(.*)%." or path  -- of the file and of its shards
  if not message:find(stem, 1, true) then error(result, 0) end
  local before = run._checkpoints_before(path)
  for _, earlier in ipairs(before) do
    local whole, content = pcall(read, earlier)
    if whole and pcall(checkpoints.read, content.states, earlier, content.shards) then
      fail(("%s; --resume %s goes on from the checkpoint before it, of step %d"):format(message, earlier, content.step), "file")
    end
  end
  fail(message .. (#before > 0 and "; the checkpoints before it are damaged, too" or ""), "file")
end

local function load(path)
  local content = reading(path, read, path)
  resumed = {content = content, path = path, waiting = {}}
  for name in pairs(content.states) do resumed.waiting[name] = true end
  run._resume_at(path, content.step, content.seconds, content.params, content.rng)
  written = content.kept or {}
  written[#written + 1] = {path = path, step = content.step, value = content.value}
  warn_of_missing(content.unregistered or {})
  if not run._has_checksums(path) then
    run._warn(("run.resume: %s has no checksums, since an earlier version wrote it: damage of it is not noticed"):format(path))
  end
  return content.step
end

-- lg.run.state(name, build): registers and returns the result of build(), with the checkpoint's values if the run
-- resumes one. The result is an object with state_dict and load_state_dict, a tensor, or a table of objects, tensors,
-- numbers, strings and booleans.
function run.state(name, build)
  if type(name) ~= "string" then fail("run.state: a name and a function expected: run.state('model', function() … end)") end
  if type(build) ~= "function" then fail(("run.state: '%s' needs the function that builds it"):format(name)) end
  if objects[name] ~= nil then fail(("run.state: '%s' is registered already"):format(name)) end
  local object, undo = names_of_models.without(restored.build, build)
  if object == nil then fail(("run.state: the function for '%s' returned nothing"):format(name)) end
  local state = shards.by_rank(state_of, object, name)
  local again
  if reload then
    object, again = reload:adopt(name, object)
  elseif resumed and resumed.content.states[name] == nil then
    run._warn(("run.state: '%s' is new, the checkpoint has none"):format(name))
  elseif resumed then
    local kept = reading(resumed.path, checkpoints.read, resumed.content.states[name], resumed.path, resumed.content.shards)
    object = put_back(object, kept, name)
    again = function() put_back(object, kept, name) end
    resumed.waiting[name] = nil
  end
  -- Only for a restored state: the build() of a new state, or of one that starts again, changes the other states as in
  -- a first run.
  if again then undo() end
  names[#names + 1], objects[name] = name, object
  built[name] = settings_of(state)
  restored.add(name, object, again)
  return object
end

-- name -> object of all registered states, for lg.surgery.
function run._states() return objects end

local warned, warned_of_gradients = false, false  -- once per run

-- The objects that the checkpoint does not contain (missing_states). `quiet`: without a warning.
local function lacks(quiet)
  local list = require "lunagrad.missing_states"(objects)
  if #list == 0 or quiet or warned then return list end
  warned = true
  local loader = list[1].loader and #list == 1
  run._warn(("run.checkpoint: %s %s not registered, so a resumed run begins %s again and differs from this one; "
    .. "write lg.run.state(\"%s\", function() return %s(…) end)"):format(names_of(list), #list == 1 and "is" or "are",
    loader and "its data" or #list == 1 and "it" or "them", loader and "loader" or "name",
    loader and "lg.data.DataLoader" or list[1].name:match "^[%w_]*"))
  return list
end

-- The latest logged value of the metric that keep_best names, or nil.
local latest = {}
local function metric_value()
  local value = policy.keep_best and latest[policy.keep_best]
  if is_tensor(value) then value = value:item() end
  return type(value) == "number" and value == value and value or nil
end

-- Removes the checkpoints that keep_last and keep_best do not keep.
local function prune()
  if not policy.keep_last then return end
  local best
  for _, one in ipairs(written) do
    if one.value and (not best or (policy.mode == "max" and one.value > best.value)
      or (policy.mode ~= "max" and one.value < best.value)) then best = one end
  end
  for i = #written - policy.keep_last, 1, -1 do
    if written[i] ~= best then
      run._remove_checkpoint(written[i].path)
      table.remove(written, i)
    end
  end
end

-- The contents of a checkpoint; for sharded states, this rank's rows. `to_file`: the checkpoint outlives this process,
-- so it says which objects it does not contain; "quiet": without a warning.
local function content(to_file)
  local step, seconds, params = run._progress()
  local gradients, differ = shards.by_rank(require("lunagrad.pending_gradients").gradients, objects)
  if differ and to_file == true and not warned_of_gradients then
    warned_of_gradients = true
    run._warn("run.checkpoint: each rank has gradients of its own, which model:no_sync has added, and a checkpoint holds no gradients; "
      .. "call lg.run.checkpoint() in a step in which the ranks average them")
  end
  local states = {}
  for _, name in ipairs(names) do states[name] = shards.by_rank(state_of, objects[name], name) end
  return {
    format = "lunagrad checkpoint", version = version, step = step, seconds = seconds, params = params,
    rng = core.get_rng_state(), states = states, kept = written, value = metric_value(), set_up = set_up,
    gradients = gradients, unregistered = to_file and lacks(to_file == "quiet") or nil,
  }
end

local automatic  -- the path of the latest automatic checkpoint

-- Only rank 0 writes to the run's folder.
local function writes() return core._world.rank() == 0 end

-- Writes an automatic checkpoint in place of the automatic checkpoint before.
local function save_automatic()
  if not writes() then return end
  local path = run._checkpoint_path()
  if written[#written] and written[#written].path == path then return end
  local kept = content("quiet")
  if checkpoints.is_sharded(kept) then return end  -- the other ranks do not write now
  core.io.save(path, kept)
  run._checkpoint_written(path, true)
  if automatic and automatic ~= path then run._remove_checkpoint(automatic) end
  automatic = path
end

local function save(kept)
  local sharded = checkpoints.is_sharded(kept)
  if sharded then checkpoints.write(run._checkpoint_path, kept) end
  if not writes() then return end
  local path = run._checkpoint_path()
  if not sharded then core.io.save(path, kept) end
  run._checkpoint_written(path)
  if automatic == path then automatic = nil end
  for i = #written, 1, -1 do
    if written[i].path == path then table.remove(written, i) end
  end
  written[#written + 1] = {path = path, step = kept.step, value = metric_value()}
  prune()
end

local function write() save(content(true)) end

-- lg.run.checkpoint(): inside lg.run.steps it writes at the end of the step, elsewhere immediately. Inside lg.run.steps
-- a full disk causes a warning, since older checkpoints remain; elsewhere it is an error.
-- Options say which checkpoints of the run stay: keep_last = 3 keeps the latest three, keep_best = "loss" also the one
-- with the lowest logged value (mode = "max": the highest). Without options all stay.
function run.checkpoint(options)
  if options ~= nil then
    if type(options) ~= "table" then fail(("run.checkpoint: options expected (got %s)"):format(type(options))) end
    for name, value in pairs(options) do
      local good
      if name == "keep_last" then good = math.type(value) == "integer" and value >= 1
      elseif name == "keep_best" then good = type(value) == "string"
      elseif name == "mode" then good = value == "min" or value == "max"
      else fail(("run.checkpoint: unknown option '%s'; there are keep_last, keep_best, mode"):format(tostring(name))) end
      if not good then fail(("run.checkpoint: bad option %s = %s"):format(name, tostring(value))) end
    end
    policy = {keep_last = options.keep_last or options.keep_best and 1, keep_best = options.keep_best, mode = options.mode}
  end
  if #names == 0 then fail("run.checkpoint: nothing is registered with lg.run.state") end
  if run._in_steps() then run._ask_checkpoint() else write() end
end

-- lg.run.resume(path): resumes a checkpoint, or the newest one of a run's folder. Call it before the first lg.run.state.
-- Returns the step, or nil if the folder has no checkpoint.
function run.resume(path)
  if #names > 0 then fail("run.resume: '" .. names[1] .. "' is registered already; resume before the first lg.run.state") end
  if reload then return reload.step end  -- the reloaded state is newer
  local found = run._find_checkpoint(path)
  return found and load(found)
end

-- The data that a reload passes to the next script: the registered states or a checkpoint, and the settings as built.
local function take(path)
  if #names == 0 then return nil end
  local kept = path and core.io.load(path) or content()
  kept.built, kept.parameters = built, require("lunagrad.hand_over").parameters(objects)
  return kept
end

-- The positions of the data loaders that were iterated, by the order in which the script made them.
local function positions()
  local list = {}
  for loader in pairs(core._loaders or {}) do list[loader._number] = loader:state_dict() end
  return list
end

local failed_before = false  -- an automatic checkpoint failed: reported once per run

run._on_states(function(verb, path)
  if verb == "take" then
    return take(path)
  elseif verb == "keep" then
    return take()
  elseif verb == "keyframe" then
    local kept = take()
    if kept then kept.loaders, kept.kept, kept.seconds = positions(), nil, nil end
    return kept
  elseif verb == "automatic" then
    if #names == 0 then return end
    local ok, message = pcall(save_automatic)
    if not ok then run._lose_checkpoint() end
    if not ok and not failed_before then
      failed_before = true
      run._warn(("no automatic checkpoint was written, the run goes on: %s"):format(message))
    end
  elseif verb == "report" then
    if reload then reload:report() end
  elseif verb == "checkpoint" and #names == 0 then
    run._warn("no checkpoint was written: nothing is registered with lg.run.state")
  elseif verb == "checkpoint" then
    local kept = content(true)
    local ok, message = pcall(save, kept)
    if not ok then
      run._lose_checkpoint()
      run._warn(("no checkpoint was written, the run goes on: %s"):format(message))
    end
  elseif #names == 0 then
    run._warn("no checkpoint was written: nothing is registered with lg.run.state")
  elseif core._world.leads() and checkpoints.is_sharded(content()) then
    run._warn("no checkpoint was written: the other ranks stop in other steps; let the script call lg.run.checkpoint()")
  else
    -- The run ends here in any case, so the script must not be able to catch an error.
    local ok, message = pcall(write)
    if not ok then
      run._lose_checkpoint()
      run._warn("no checkpoint was written: " .. tostring(message))
    end
  end
end, objects)

-- Warns of states in the checkpoint that the script does not register: they are lost.
local begin_steps = run.steps
function run.steps(...)
  -- `for … in lg.run.steps do`, without a call, passes the loop's state and variable.
  if select("#", ...) == 2 and (...) == nil then
    fail "run.steps: the number of steps is missing: for step in lg.run.steps(n) do … end"
  end
  for name in pairs(resumed and resumed.waiting or {}) do
    run._warn(("run.state: the checkpoint's '%s' is not registered any more"):format(name))
  end
  if reload then reload:report() end
  local from = reload and reload.content or resumed and resumed.content
  set_up = restored.begin(from and from.set_up)
  if from and from.gradients then
    local given = from.gradients
    if resumed then given = reading(resumed.path, checkpoints.read, given, resumed.path, from.shards) end
    require("lunagrad.pending_gradients").put_back(given, objects, reload)
  end
  -- No state will be requested any more.
  if resumed and not next(resumed.waiting) then resumed.content = {states = {}} end
  if reload and not next(reload.waiting) then reload.content.states, reload.loads = {}, {} end
  return begin_steps(...)
end

-- Notes the value that keep_best reads.
local log = run.log
function run.log(row, ...)
  log(row, ...)
  if policy.keep_best and row[policy.keep_best] ~= nil then
    local value = row[policy.keep_best]
    latest[policy.keep_best] = is_tensor(value) and value:detach() or value
  end
end
run.log = live(run.log)

-- lg.run.watch(model, options): lunagrad.watch, loaded on first use.
function run.watch(...) return require "lunagrad.watch"(...) end

local handed = run._handed_over()
if handed then
  reload = require("lunagrad.hand_over").new(handed)
  core._loader_positions = handed.loaders  -- from a keyframe
  run._go_on(handed.step, handed.rng)
else
  local asked = run._find_checkpoint()
  if asked then load(asked) end
end
return run
