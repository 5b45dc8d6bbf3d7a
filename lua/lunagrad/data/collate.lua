-- Joins samples to a batch: tensors and numbers are stacked, lists and tables with names become lists and tables of
-- batches, strings a list.
local core = require "lunagrad.core"
local is_plain = require("lunagrad.arguments").is_plain

local fail, is_tensor = core._fail, core.is_tensor
local collate = {}

local function shape_text(tensor) return "[" .. table.concat(tensor:size(), ", ") .. "]" end

local function kind_of(value)
  if is_tensor(value) then return "tensor" end
  return math.type(value) or type(value)
end

local function stack(values, where)
  for i, value in ipairs(values) do
    if shape_text(value) ~= shape_text(values[1]) then
      fail(("DataLoader: %s has shape %s in sample %d of the batch and %s in the first; nn.utils.rnn.pad_sequence in a "
        .. "collate_fn makes them equal"):format(where, shape_text(value), i, shape_text(values[1])))
    end
  end
  return core.stack(values)
end

local DEEPEST = 100  -- nesting of tables; a table may contain itself
local join

local function columns(samples, keys, where, depth)
  if depth == DEEPEST then fail(("DataLoader: a sample has more than %d tables within each other"):format(DEEPEST)) end
  local result = {}
  for _, key in ipairs(keys) do
    local column = {}
    for i, sample in ipairs(samples) do
      if type(sample) ~= "table" or sample[key] == nil then
        fail(("DataLoader: %s has no %s in sample %d of the batch, but in the first"):format(where, tostring(key), i))
      end
      column[i] = sample[key]
    end
    result[key] = join(column, ("%s.%s"):format(where, tostring(key)), depth + 1)
  end
  return result
end

-- The batch of a list of values.
function join(values, where, depth)
  local first = values[1]
  local kind = kind_of(first)
  for i, value in ipairs(values) do
    local other = kind_of(value)
    if other ~= kind and not (math.type(first) and math.type(value)) then
      fail(("DataLoader: %s is a %s in sample %d of the batch and a %s in the first"):format(where, other, i, kind))
    end
  end
  if kind == "tensor" then return stack(values, where) end
  if kind == "integer" or kind == "float" or kind == "boolean" then return core.tensor(values) end
  if kind == "string" then return values end
  if kind ~= "table" then
    fail(("DataLoader: %s is a %s; tensors, numbers, booleans, texts and tables of them make a batch, a collate_fn the rest")
      :format(where, kind))
  end
  local keys = {}
  for key in pairs(first) do keys[#keys + 1] = key end
  if #keys == 0 then fail(("DataLoader: %s is an empty table"):format(where)) end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return columns(values, keys, where, depth)
end

local function is_list(value) return is_plain(value) and value[1] ~= nil end

-- Returns the batch as several values if each sample is a list, else as one value.
function collate.default(samples)
  if not is_list(samples[1]) then return join(samples, "the sample", 0) end
  local keys = {}
  for k in ipairs(samples[1]) do keys[k] = k end
  local batch = columns(samples, keys, "the sample", 0)
  return table.unpack(batch, 1, #keys)
end

-- A method of a data set, or nil. A __index that expects only sample numbers may throw for a name, or return a sample
-- for any name.
function collate.method(set, name)
  local ok, found = pcall(function() return set[name] end)
  if not ok or type(found) ~= "function" then return nil end
  local any, other = pcall(function() return set["no method"] end)
  return not (any and type(other) == "function") and found or nil
end

-- Sample i (from 1) of a data set. Indexing keeps one result, so a __index function is called directly, to report when
-- it returns several.
function collate.sample(set, i)
  local meta = getmetatable(set)
  local sample
  if type(set) == "table" and meta and type(meta.__index) == "function" and rawget(set, i) == nil then
    local results = table.pack(meta.__index(set, i))
    for k = 2, results.n do
      if results[k] ~= nil then
        fail(("DataLoader: __index of the data set returns %d values, and Lua keeps the first of set[%d]; return one table, "
          .. "{x, y} or {x = x, y = y}"):format(results.n, i))
      end
    end
    sample = results[1]
  else
    sample = set[i]
  end
  if sample == nil then
    fail(("DataLoader: set[%d] is nil, and #set is %d; samples count from 1"):format(i, #set))
  end
  return sample
end

return collate
