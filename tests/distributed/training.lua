-- Trains a model of models.lua. Arguments: CASE or CASE-VARIANT, a file for rank 0's result, data_parallel or
-- fully_shard. cnn, gpt and lstm are deterministic, but not as variants: -plain; -checkpoint, blocks are recomputed in
-- backward; -clip, gradients are clipped by their norm; -scale, with lg.GradScaler; -lamb, -muon, with these
-- optimizers; -accumulate; -bits, deterministic with clipping. `compare.lua` compares the files of several worlds.
local lg = require "lunagrad"
local models = require "models"
local F, dist = lg.nn.functional, lg.distributed
local case, variant = arg[1]:match "^(%a+)-?(%a*)$"
local path, how = arg[2], arg[3] or "data_parallel"
dist.init {timeout = 60}
local rank, size = dist.rank(), dist.size()

local deterministic = variant == "bits" or variant == "" and (case == "cnn" or case == "gpt" or case == "lstm")
lg.manual_seed(5)
local set = lg.data.TensorDataset(models.samples(case))
if rank > 0 then lg.manual_seed(100 + rank) end  -- rank 0's model is used
local bare = models.make(case, deterministic and 0.2 or 0)
if case == "cnn" and not deterministic then dist.SyncBatchNorm.convert(bare) end
-- In f32 the rounding of the sums alone is some 1e-6 of the smallest parameters after 50 steps.
local double = case == "gpt" and not deterministic or variant == "muon"
if double then bare:double() end
bare.checkpointed = variant == "checkpoint"
local model
if how == "fully_shard" then
  model = dist.fully_shard(bare, {groups = bare:groups(), deterministic = deterministic})
else
  model = dist.data_parallel(bare, {deterministic = deterministic, bucket = 0.001})
end
assert(model == bare)
local loader = lg.data.DataLoader(set, {batch_size = 16, shuffle = true, seed = 3}):shard()
assert(#loader == 4)
local optim = lg.optim
local matrices, others = {}, {}
for _, p in ipairs(model:parameters()) do table.insert(p:dim() == 2 and matrices or others, p) end
local optimizer = variant == "lamb" and optim.LAMB(model:parameters(), 1e-2) or variant == "muon" and optim.Muon(matrices, 1e-3)
  or deterministic and optim.Adam(model:parameters(), 1e-3) or optim.SGD(model:parameters(), 0.1)
local second = variant == "muon" and optim.SGD(others, 0.1)
local scaler = lg.GradScaler {enabled = variant == "scale", init_scale = 2 ^ 14, growth_interval = 10}

local step, share = 0, 16 // size
for _ = 1, 13 do
  for x, y in loader do
    assert(x:size(1) == share)
    if double and lg.is_floating_point(x) then x = x:double() end
    step = step + 1
    if step > 50 then break end
    model:zero_grad()
    if variant == "accumulate" then
      -- Two halves: the gradients of the first stay on each rank until the second is averaged.
      local half = share // 2
      model:no_sync(function() (F.cross_entropy(model(x:narrow(1, 1, half)), y:narrow(1, 1, half)) / 2):backward() end)
      local rest = share - half;
      (F.cross_entropy(model(x:narrow(1, half + 1, rest)), y:narrow(1, half + 1, rest)) / 2):backward()
    elseif case == "odd" then
      -- In one process the samples of every rank are there: the extra layer runs for the first half of them, weighed alike.
      local logits
      if size == 1 then
        logits = lg.cat({model(x:narrow(1, 1, 8), true), model(x:narrow(1, 9, 8), false)}, 1)
      else
        logits = model(x, rank < size // 2)
      end
      F.cross_entropy(logits, y):backward()
      assert(model.unused.weight.grad == nil and model.frozen.weight.grad == nil)
      assert(model.sometimes.weight.grad)
    else
      scaler:scale(F.cross_entropy(model(x), y)):backward()
      -- Only one rank has an infinite gradient: no rank takes the step.
      if variant == "scale" and step % 7 == 0 and rank == size - 1 then model:parameters()[1].grad:fill_(math.huge) end
    end
    if variant == "clip" or variant == "bits" then lg.nn.utils.clip_grad_norm_(model:parameters(), 0.3) end
    scaler:step(optimizer)
    scaler:update()
    if second then second:step() end
  end
end

-- All ranks have the same bits.
local state, names, result = model:state_dict(), {}, {scale = lg.tensor(scaler:get_scale())}
for name in pairs(state) do names[#names + 1] = name end
table.sort(names)  -- pairs has another order in every process
for _, name in ipairs(names) do
  local x = state[name]
  local all = dist.all_gather(x:detach():reshape(1, -1))
  for r = 1, size do assert(all:select(1, r):equal(all:select(1, 1)), name .. " differs between ranks") end
  result[name] = x
end
if rank == 0 then lg.io.save(path, result) end
