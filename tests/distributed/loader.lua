-- The batches of all ranks together are the batches of one process: samples, their order and the draws of their
-- transforms.
local lg = require "lunagrad"
local data, dist = lg.data, lg.distributed
local t = data.transform
dist.init {timeout = 60}
local rank, size = dist.rank(), dist.size()

lg.manual_seed(4)
local images = lg.randn(50, 1, 6, 6)
local set = data.TensorDataset(images, lg.arange(50), {transform = t.compose {t.random_crop(6, {padding = 2}), t.random_flip()}})

local each = 2 * size
local cases = {
  {batch_size = each, shuffle = true, seed = 8},
  {batch_size = each, shuffle = true, seed = 8, workers = 2},
  {batch_size = each, drop_last = true, seed = 9},
  {batch_size = each, sampler = data.SubsetRandomSampler(lg.arange(7, 7 + 3 * size)), seed = 3},
  {batch_sampler = data.BatchSampler(data.SequentialSampler(set), each, {drop_last = true}), seed = 5},
}
for number, options in ipairs(cases) do
  local count = options.sampler and #options.sampler or 50
  if not options.drop_last and not options.batch_sampler and count % each > 0 and count % each < size then options.drop_last = true end
  local function copy()
    local own = {}
    for name, value in pairs(options) do own[name] = value end
    return own
  end
  local whole, part = data.DataLoader(set, copy()), data.DataLoader(set, copy()):shard()
  assert(#whole == #part)
  for pass = 1, 2 do
    local batches = {}
    for x, y in whole do batches[#batches + 1] = {x, y} end
    local at = 0
    for x, y in part do
      at = at + 1
      local what = ("case %d, pass %d, batch %d"):format(number, pass, at)
      assert(dist.all_gather(y):equal(batches[at][2]), what .. ": other samples")
      assert(dist.all_gather(x):equal(batches[at][1]), what .. ": other draws")
    end
    assert(at == #batches)
  end
end

-- A position that was saved with one number of ranks is valid for any other number.
local one = data.DataLoader(set, {batch_size = each, shuffle = true, seed = 8, drop_last = true})
local other = data.DataLoader(set, {batch_size = each, shuffle = true, seed = 8, drop_last = true}):shard()
local next_one = one:cycle()
next_one()
other:load_state_dict(one:state_dict())
local _, wanted = next_one()
for _, y in other do
  assert(dist.all_gather(y):equal(wanted))
  break
end

local function message_of(f)
  local ok, message = pcall(f)
  return not ok and message or "no error"
end
if size > 1 then
  assert(message_of(function() data.DataLoader(set, {batch_size = size + 1}):shard() end):find(
    ("batch_size %d is not a multiple of %d ranks"):format(size + 1, size), 1, true))
  local few = data.TensorDataset(lg.arange(size + 1))
  assert(message_of(function() data.DataLoader(few, {batch_size = size}):shard() end):find(
    ("the last batch has 1 samples for %d ranks"):format(size), 1, true))
  local fewer = data.TensorDataset(lg.arange(size - 1))
  assert(message_of(function() data.DataLoader(fewer, {batch_size = size, drop_last = true}):shard() end):find(
    ("the dataset has %d samples for %d ranks"):format(size - 1, size), 1, true))
end
dist.barrier()
if rank == 0 then print(("loaders of %d ranks: the batches of one process"):format(size)) end
