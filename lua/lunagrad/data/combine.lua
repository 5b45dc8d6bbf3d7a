-- Data sets made of other data sets: joined one after the other, side by side, or read from an iterator.
local core = require "lunagrad.core"
local collate = require "lunagrad.data.collate"
local dataset = require "lunagrad.data.dataset"
local is_plain = require("lunagrad.arguments").is_plain

local fail, is_tensor = core._fail, core.is_tensor
local combine = {}

local function check_sets(owner, sets)
  if type(sets) ~= "table" or next(sets) == nil then fail(owner .. ": a list of data sets expected") end
  for key, set in pairs(sets) do
    local meta = getmetatable(set)
    if is_tensor(set) or type(set) ~= "table" or meta and not meta.__len then
      fail(("%s: entry %s is a %s, not a data set with a length%s"):format(owner, tostring(key),
        is_tensor(set) and "tensor" or type(set),
        is_tensor(set) and "; data.TensorDataset(x) makes one" or ""))
    end
  end
  return sets
end

-- ConcatDataset{a, b}: the samples of a, then the samples of b.
local Concat = dataset.class("ConcatDataset")

function combine.ConcatDataset(sets)
  local ends, total = {}, 0
  for i, set in ipairs(check_sets("ConcatDataset", sets)) do
    total = total + #set
    ends[i] = total
  end
  return setmetatable({datasets = sets, cumulative_sizes = ends}, Concat)
end

function Concat:__len() return self.cumulative_sizes[#self.cumulative_sizes] end

function Concat:sample(i)
  local before = 0
  for k, last in ipairs(self.cumulative_sizes) do
    if i <= last then return collate.sample(self.datasets[k], i - before) end
    before = last
  end
end

-- StackDataset{a, b} or StackDataset{image = a, label = b}: sample i has sample i of each.
local Stack = dataset.class("StackDataset")

function combine.StackDataset(sets)
  local length, first
  local keys = {}
  for key in pairs(check_sets("StackDataset", sets)) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    local set = sets[key]
    if length and #set ~= length then
      fail(("StackDataset: '%s' has %d samples, '%s' has %d"):format(tostring(first), length, tostring(key), #set))
    end
    length, first = #set, key
  end
  return setmetatable({datasets = sets, length = length}, Stack)
end

function Stack:__len() return self.length end

function Stack:sample(i)
  local sample = {}
  for key, set in pairs(self.datasets) do
    local value = collate.sample(set, i)
    -- A data set of single tensors returns lists of one value, which are unpacked.
    if is_plain(value) and #value == 1 and next(value, 1) == nil then value = value[1] end
    sample[key] = value
  end
  return sample
end

-- IterableDataset(function(pass) return iterator end): samples without a length, in the iterator's order. The iterator,
-- as in a `for` loop, returns the next sample, as one value or several, and nil at the end.
local Iterable = {__name = "IterableDataset"}
Iterable.__index = Iterable
Iterable._iterable = true

function Iterable.__len()
  fail("IterableDataset: it has no length; for … in loader ends where the iterator ends")
end

function combine.IterableDataset(make)
  if type(make) ~= "function" then
    fail(("IterableDataset: a function that returns an iterator expected, as function(pass) return coroutine.wrap(…) end "
      .. "(got %s)"):format(type(make)))
  end
  return setmetatable({make = make}, Iterable)
end

function Iterable:iterate(pass)
  local next_sample, state, control = self.make(pass)
  local meta = getmetatable(next_sample)
  if type(next_sample) ~= "function" and not (meta and meta.__call) then
    fail(("IterableDataset: its function returned a %s, not an iterator"):format(type(next_sample)))
  end
  return function()
    local values = table.pack(next_sample(state, control))
    control = values[1]
    return table.unpack(values, 1, values.n)
  end
end

-- ChainDataset{a, b}: the samples of iterable data sets, one after the other.
function combine.ChainDataset(sets)
  if type(sets) ~= "table" or #sets == 0 then fail("ChainDataset: a list of data sets expected") end
  for i, set in ipairs(sets) do
    if type(set) ~= "table" or not set._iterable then
      fail(("ChainDataset: entry %d is no IterableDataset; ConcatDataset joins data sets with a length"):format(i))
    end
  end
  return combine.IterableDataset(function(pass)
    local k, current = 1, sets[1]:iterate(pass)
    return function()
      while true do
        local values = table.pack(current())
        if values[1] ~= nil then return table.unpack(values, 1, values.n) end
        k = k + 1
        if not sets[k] then return nil end
        current = sets[k]:iterate(pass)
      end
    end
  end)
end

return combine
