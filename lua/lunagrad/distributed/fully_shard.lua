-- fully_shard(model, {groups = …}): parameters, gradients and the state of the optimizer are cut along dim 1, and each
-- rank keeps its rows. A group is gathered before its forward and before its backward, while the group before it
-- computes; gradients are reduced during backward. Parameters outside the given groups form the root group, which stays
-- whole during a backward pass. The model itself is changed and returned: its fields are the shards, and whole
-- parameters while their group runs.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local Module = require "lunagrad.nn.module"
local new_group = require "lunagrad.distributed.group"
local passes = require "lunagrad.distributed.passes"
local rebinding = require "lunagrad.rebinding"
local shards = require "lunagrad.shards"
local tree = require "lunagrad.nn.tree"

local world, fail = core._world, core._fail

local read = arguments.reader("fully_shard", "model", {"groups"}, {"deterministic", false}, {"slots", 8}, {"threads"})

-- --- the order of the groups, which is known from the pass before ---

local function begin_order(order, expected)
  order.before, order.now = expected or order.now, {}
end

-- The group that comes next if this pass has the order of the pass before; else nil.
local function follow(order, group)
  local at = #order.now + 1
  order.now[at] = group
  return order.before[at] == group and order.before[at + 1] or nil
end

-- Starts to gather a group ahead. A gather whose result was not used is dropped at the end of the model's forward or of
-- the pass: shards change only after that.
local function prefetch(group)
  if group and next(group.held) == nil then group:post() end
end

-- --- backward ---

-- Called when the backward of another group begins: the gradients of `group`, whose nodes were differentiated last, are
-- complete. Receives the gradients of the group sent before, then sends this group's.
local function leave(state, group)
  if not group or state.count or state.pass ~= world.pass_number() or group.begun < group.calls then return end
  if state.sent then state.sent:receive() end
  group:send()
  state.sent = group
end

local function finish(state)
  local _ <close> = core.no_grad()
  leave(state, state.current)
  state.current = nil
  for _, group in ipairs(state.groups) do
    group:release_all()
    group:discard()
    if group.calls > 0 or group:has_gradients() then group:send() end
    if group ~= state.sent then
      if state.sent then state.sent:receive() end
      state.sent = group
    end
  end
  for _, group in ipairs(state.groups) do group:receive() end
  passes.average_statistics(tree.collect(state.model, "buffer", true))
  state.pass, state.sent = nil, nil
end

-- Called at the first gradient of a backward pass through the model. A pass of lg.grad has no number and leaves no
-- gradients.
local function begin_pass(state)
  local pass = world.pass_number()
  if pass == 0 or state.pass == pass then return end
  state.pass, state.current, state.sent = pass, nil, nil
  for _, group in ipairs(state.groups) do group:reset() end
  local reversed = {}
  for i, group in ipairs(state.forward.now) do reversed[#state.forward.now + 1 - i] = group end
  begin_order(state.backward, #state.backward.now == 0 and reversed or nil)
  world.at_end_of_backward(function() finish(state) end)
end

-- Called when the gradient of a result of the group arrives: the group's backward begins.
local function begin_backward(state, group, slot, needed)
  local _ <close> = core.no_grad()
  begin_pass(state)
  group.begun = group.begun + 1
  local before = state.current
  if before == group and state.current_slot == slot then return end
  local is_root = group == state.root  -- the root's results may be the results of the last group
  if before and not is_root then before:release(state.current_slot) end
  -- First the gradients of the group before are sent, then the parameters of the next group are gathered. The transfer
  -- thread allocates memory for the parameters after it has sent the gradients, so that only one whole group is in
  -- transfer.
  if not is_root then leave(state, before) end
  if needed then
    local after = follow(state.backward, group)
    group:fill(slot)
    if state.pass == world.pass_number() then prefetch(after) end
  end
  if is_root then return end
  state.current, state.current_slot = group, slot
end

-- --- forward ---

local function run_group(state, group, forward, module, ...)
  if group.running then return forward(module, ...) end
  local slot, in_backward = state.slot or 1, world.pass_number() ~= 0
  local after = follow(in_backward and state.backward or state.forward, group)
  if not in_backward then group:release(slot) end  -- memory left by lg.grad may be older than the shards
  group:fill(slot)
  if in_backward or state.inside then prefetch(after) end
  group.running = true
  local _ <close> = setmetatable({}, {__close = function()
    group.running = false
    group:release(slot)
  end})
  local whole, places = group:whole(slot)
  local results = table.pack(rebinding.call(places, world.run_unsharded, whole, function()
    local _ <close> = core.no_grad()
    group:fill(slot)
  end, forward, module, ...))
  local needed, armed = results[1], false
  for i = 2, results.n do
    armed = passes.arm(results[i], function() begin_backward(state, group, slot, needed) end) or armed
  end
  if armed and not core._recomputing() then group.calls = group.calls + 1 end
  return table.unpack(results, 2, results.n)
end

local function prepare(state)
  for _, group in ipairs(state.groups) do
    group:discard()
    group:release_all()
    if not group:fits() then group:divide() end
  end
end

local function run_model(state, forward, model, ...)
  if state.inside then return run_group(state, state.root, forward, model, ...) end
  if world.pass_number() == 0 then
    prepare(state)
    begin_order(state.forward)
  end
  state.inside = true
  local _ <close> = setmetatable({}, {__close = function() state.inside = false end})
  local function root(...) return run_group(state, state.root, forward, ...) end
  local results = core.is_grad_enabled() and passes.run(state, model, root, ...) or table.pack(root(model, ...))
  if world.pass_number() == 0 then
    for _, group in ipairs(state.groups) do group:discard() end
  end
  return table.unpack(results, 1, results.n)
end

-- --- whole tensors in state dicts ---

local function add_hooks(state)
  local model = state.model
  model:register_state_dict_post_hook(function(_, values, prefix)
    for _, group in ipairs(state.groups) do
      for _, entry in ipairs(group.entries) do
        local value
        for _, path in ipairs(entry.paths) do
          value = value or shards.state(entry.shard, entry.shard:detach(), prefix .. path)
          values[prefix .. path] = value
        end
      end
    end
  end)
  model:register_load_state_dict_pre_hook(function(_, values, prefix)
    for _, group in ipairs(state.groups) do
      for _, entry in ipairs(group.entries) do
        for _, path in ipairs(entry.paths) do
          values[prefix .. path] = shards.fit(values[prefix .. path], entry.shard)
        end
      end
    end
  end)
end

-- --- groups ---

local function list_of(groups)
  if groups == nil then return {} end
  if tree.is_module(groups) then return groups:children() end
  if not arguments.is_plain(groups) then
    fail(("fully_shard: groups is a list of modules of the model, as model.blocks (got %s)"):format(type(groups)))
  end
  return groups
end

local function check_module(model, paths, module, number)
  if not tree.is_module(module) then
    fail(("fully_shard: groups[%d] is a %s, not a module"):format(number, type(module)))
  elseif module == model then
    fail(("fully_shard: groups[%d] is the model itself; what is in no group is gathered with it"):format(number))
  elseif not paths[module] then
    fail(("fully_shard: groups[%d], a %s, is no module of the model; take modules that it contains, as model.blocks"):format(
      number, module.__name))
  elseif module.forward == Module.forward then
    fail(("fully_shard: groups[%d], %s, is never called itself (a %s has no forward); list the modules in it"):format(number,
      paths[module], module.__name))
  end
end

-- The parameters of the model by tensor: {tensor =, path =, paths =, places =, group =}.
local function collect(model)
  local list, known = {}, {}
  for _, entry in ipairs(tree.collect(model, "parameter")) do
    local item = known[entry.tensor]
    if not item then
      item = {tensor = entry.tensor, path = entry.path, paths = {}, places = {}}
      known[entry.tensor] = item
      list[#list + 1] = item
    end
    table.insert(item.paths, entry.path)
    table.insert(item.places, {owner = entry.owner, key = entry.key})
  end
  return list, known
end

-- Assigns each parameter to a group, and returns the groups' names; group 0 is the root.
local function assign(model, modules, list, known)
  local paths, seen = {}, {}
  tree.each_module(model, function(path, module) paths[module] = path end, "", true)
  for number, module in ipairs(modules) do
    check_module(model, paths, module, number)
    if seen[module] then fail(("fully_shard: groups[%d] is groups[%d] again (%s)"):format(number, seen[module], paths[module])) end
    seen[module] = number
    for _, entry in ipairs(tree.collect(module, "parameter", true)) do
      local item = known[entry.tensor]
      if item.group then
        fail(("fully_shard: %s is in two groups, %s and %s; leave both modules out, so that it belongs to the root group"):format(
          item.path, paths[modules[item.group]], paths[module]))
      end
      item.group = number
    end
  end
  for _, item in ipairs(list) do
    local within = item.group and paths[modules[item.group]] .. "."
    for _, path in ipairs(within and item.paths or {}) do
      if path:sub(1, #within) ~= within then
        fail(("fully_shard: %s is also %s, outside of its group %s; leave this module out, so that it belongs to the root group")
          :format(item.path, path, within:sub(1, -2)))
      end
    end
  end
  local names = {}
  for number, module in ipairs(modules) do names[number] = paths[module] end
  return names
end

-- Error if the groups differ between ranks.
local function compare_groups(names)
  local text = table.concat(names, ", ")
  local bytes = core.tensor({text:byte(1, -1)}, {dtype = "u8", device = "cpu"})
  local all, rows = world.wait(world.all_gather(bytes, "names of the groups"))
  local list, at = all:tolist(), 0
  for r, count in ipairs(rows) do
    local given = string.char(table.unpack(list, at + 1, at + count))
    if given ~= text then
      fail(("fully_shard: the groups differ between ranks: rank %d has {%s}, rank %d {%s}"):format(world.rank(), text, r - 1,
        given))
    end
    at = at + count
  end
end

-- Replaces a parameter by its shard in all its places, and frees the parameter's memory.
local function cut(item, deterministic)
  local layout = shards.layout(item.tensor:size())
  layout.deterministic = deterministic
  local shard = shards.rows(item.tensor, layout):requires_grad_(item.tensor.requires_grad)
  core._set_name(shard, item.path)
  shards.mark(shard, layout)
  for _, place in ipairs(item.places) do rawset(place.owner, place.key, shard) end
  shards.note_cut(item.tensor)
  item.tensor.grad = nil
  world.reshard(item.tensor)
  return {shard = shard, layout = layout, path = item.path, paths = item.paths, places = item.places}
end

local function shard_all(state, modules, names, list)
  local _ <close> = core.no_grad()
  local by_group = {[0] = {}}
  for number in ipairs(modules) do by_group[number] = {} end
  for _, item in ipairs(list) do table.insert(by_group[item.group or 0], cut(item, state.count ~= nil)) end
  for number = 0, #modules do
    state.groups[number + 1] = new_group(names[number] or "the root group", by_group[number], state.count or 1)
  end
  state.root = state.groups[1]
end

local function wrap(state, model, modules)
  for number, module in ipairs(modules) do
    local group, forward = state.groups[number + 1], module.forward
    rawset(module, "forward", function(self, ...) return run_group(state, group, forward, self, ...) end)
  end
  local forward = model.forward
  rawset(model, "_fully_shard", true)
  rawset(model, "forward", function(self, ...) return run_model(state, forward, self, ...) end)
  -- no_sync only calls f: every pass reduces its gradients, so that they are never whole, and the sum of averages is
  -- the average of sums.
  rawset(model, "no_sync", function(_, f, ...)
    if type(f) ~= "function" then fail(("no_sync: a function expected (got %s)"):format(type(f))) end
    return f(...)
  end)
end

return function(...)
  local given = read(...)
  local model = given.model
  if not tree.is_module(model) then fail(("fully_shard: a module expected (got %s)"):format(type(model))) end
  if rawget(model, "_data_parallel") then fail("fully_shard: the model is data parallel already; take one of both") end
  if rawget(model, "_fully_shard") then fail("fully_shard: the model is fully sharded already") end
  if model.forward == Module.forward then fail(("fully_shard: %s has no forward"):format(model.__name)) end
  if not world.is_open() then require("lunagrad.distributed").init() end
  local modules, list, known = list_of(given.groups), collect(model)
  if #list == 0 then fail("fully_shard: the model has no parameters") end
  local names = assign(model, modules, list, known)
  compare_groups(names)
  local state = {name = "fully_shard", model = model, groups = {}, whole = true,
    forward = {now = {}, before = {}}, backward = {now = {}, before = {}}}
  if given.deterministic then passes.make_deterministic(state, given.slots, given.threads) end
  passes.share_start(state, model)
  shard_all(state, modules, names, list)
  state.forward.now = table.move(state.groups, 1, #state.groups, 1, {})
  wrap(state, model, modules)
  add_hooks(state)
  return model
end
