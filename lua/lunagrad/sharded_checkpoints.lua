-- Checkpoints of a sharded run. Each rank writes its shards into a file of its own, NUMBER-RANK-of-RANKS.safetensors in
-- a folder beside the checkpoint. When all files are on disk, rank 0 writes the checkpoint itself, in which each
-- sharded tensor is a table {shard = its name in the files, shape = the whole shape}. So a checkpoint that exists is
-- complete. It has another number than the checkpoint that it replaces, whose files stay until the new one is written.
local core = require "lunagrad.core"
local is_plain = require("lunagrad.arguments").is_plain
local shards = require "lunagrad.shards"

local world, fail, run = core._world, core._fail, core.run
local checkpoints = {}

local format = "lunagrad shards"

local function file_name(folder, number, rank, ranks)
  return ("%s/%d-%d-of-%d.safetensors"):format(folder, number, rank, ranks)
end

-- A copy of a state without its shards, which are added to `parts`, by name.
local function without(value, name, parts)
  if core.is_tensor(value) then
    local layout = shards.of(value)
    if not layout then return value end
    parts[name] = value
    return {shard = name, shape = layout.shape}
  elseif not is_plain(value) then
    return value
  end
  local copy = {}
  for key, item in pairs(value) do copy[key] = without(item, name .. "." .. tostring(key), parts) end
  return copy
end

-- --- agreement of the ranks ---

local function bytes_of(text) return core.tensor({text:byte(1, -1)}, {dtype = "u8", device = "cpu"}) end
local function text_of(list, first, count) return string.char(table.unpack(list, first, first + count - 1)) end

-- The text of rank 0, on all ranks.
local function from_first(text)
  local all, rows = world.wait(world.all_gather(bytes_of(world.rank() == 0 and text or ""), "place of a checkpoint"))
  return text_of(all:tolist(), 1, rows[1])
end

-- Throws on all ranks if any rank has an error: `ok` and `message` come from this rank's pcall. `clean` is called
-- before the throw.
local function agree(ok, message, clean)
  local own = ok and "" or tostring(message):gsub("\n.*", ""):gsub("^%S+:%d+: ", "")  -- without the line of the script
  local all, rows = world.wait(world.all_gather(bytes_of(own), "errors of a checkpoint"))
  local list, at = all:tolist(), 1
  for r, count in ipairs(rows) do
    if count > 0 then
      if clean then clean() end
      fail(("run.checkpoint: rank %d could not write its part, so there is no checkpoint of this step; those before stay: %s"):format(
        r - 1, text_of(list, at, count)), "file")
    end
    at = at + count
  end
end

-- --- writing ---

-- Whether the states of the content hold shards, which one rank cannot write alone.
local function has_shards(value)
  if core.is_tensor(value) then return shards.of(value) ~= nil end
  if is_plain(value) then
    for _, item in pairs(value) do
      if has_shards(item) then return true end
    end
  end
  return false
end
function checkpoints.is_sharded(content) return world.size() > 1 and has_shards(content.states) end

-- The number of the checkpoint that is at the path, or 0.
local function number_at(path)
  local ok, before = pcall(core.io.load, path)
  return ok and type(before) == "table" and type(before.shards) == "table" and before.shards.number or 0
end

-- Writes a checkpoint (a collective). path() is called on rank 0. Error on all ranks when one of them cannot write.
function checkpoints.write(path, content)
  local rank, ranks = world.rank(), world.size()
  local place = {}
  agree(pcall(function()
    if rank == 0 then
      path = path()
      place = {path, number_at(path) + 1}
      run._shard_folder(path, true)
    end
  end))
  local number
  path, number = from_first(table.concat(place, "\n")):match "^(.*)\n(%d+)$"
  number = math.tointeger(number)
  local parts = {}
  local states, gradients = without(content.states, "states", parts), without(content.gradients, "gradients", parts)
  local own = file_name(run._shard_folder(path), number, rank, ranks)
  local written, message = pcall(core.io.save, own,
    {format = format, step = content.step, number = number, rank = rank, ranks = ranks, tensors = parts})
  agree(written, message, function()
    if rank == 0 then run._keep_shards(path, number - 1 .. "-") end
  end)
  agree(pcall(function()
    if rank ~= 0 then return end
    local marker = {}
    for key, value in pairs(content) do marker[key] = value end
    marker.states, marker.gradients = states, gradients
    marker.shards = {number = number, ranks = ranks, step = content.step}
    core.io.save(path, marker)
    run._keep_shards(path, number .. "-")
  end))
end

-- --- reading ---

local function is_place(value) return is_plain(value) and type(value.shard) == "string" and type(value.shape) == "table" end

local function collect(value, list)
  for key, item in pairs(value) do
    if is_place(item) then list[#list + 1] = {owner = value, key = key, name = item.shard, shape = item.shape}
    elseif is_plain(item) then collect(item, list) end
  end
  return list
end

-- Copies the rows of a tensor in a file to their place. `wanted` is the layout in this process, `given` the writer's
-- layout.
local function take_rows(place, part, wanted, given)
  local first, last = math.max(wanted.first, given.first), math.min(wanted.first + wanted.count, given.first + given.count) - 1
  place.tensor = place.tensor or core.zeros(shards.shape(wanted), {dtype = part:dtype(), device = part:device()})
  if last < first then return end
  local count = last - first + 1
  place.tensor:narrow(1, first - wanted.first + 1, count):copy_(part:narrow(1, first - given.first + 1, count))
end

-- Loads the tensors for which a state holds places in the files: whole, or this rank's rows if this process has a sharded
-- model. `path` is the checkpoint's path, `about` its `shards`.
function checkpoints.read(state, path, about)
  local read = {state}  -- the state may be one tensor
  local places = collect(read, {})
  if #places == 0 then return state end
  local size, rank = world.size(), world.rank()
  if not shards.any() then size, rank = 1, 0 end
  for writer = 0, about.ranks - 1 do
    local name = file_name(run._shard_folder(path), about.number, writer, about.ranks)
    local parts = core.io.load(name)
    if type(parts) ~= "table" or parts.format ~= format or type(parts.tensors) ~= "table" then
      fail(("%s: not a part of a checkpoint"):format(name), "file")
    end
    for key, value in pairs {step = about.step, number = about.number, rank = writer, ranks = about.ranks} do
      if parts[key] ~= nil and parts[key] ~= value then
        fail(("%s: the part of another checkpoint or rank (%s %s, not %s)"):format(name, key, parts[key], value), "file")
      end
    end
    for _, place in ipairs(places) do
      local part = parts.tensors[place.name]
      if not part then fail(("%s: %s is missing"):format(name, place.name), "file") end
      take_rows(place, part, shards.layout(place.shape, size, rank), shards.layout(place.shape, about.ranks, writer))
    end
  end
  for _, place in ipairs(places) do
    local value = place.tensor
    if not shards.any() then value = value:reshape(place.shape) end
    place.owner[place.key] = value
  end
  return read[1]
end

return checkpoints
