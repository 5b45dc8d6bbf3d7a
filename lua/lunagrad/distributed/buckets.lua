-- Buckets: gradients are all-reduced together in tensors of some MiB. A bucket is sent when the last of its gradients
-- has arrived, while backward computes the gradients of the next bucket; all ranks send the buckets in the same order.
-- Flags behind the gradients of a bucket, one for each parameter, say on how many ranks a gradient arrived.
local core = require "lunagrad.core"

local world = core._world
local Buckets = {}
Buckets.__index = Buckets

local first_bytes = 1 << 20  -- the first bucket is small, so that sending begins early

-- entries: {tensor =, path =} in the order in which their gradients arrive. One bucket holds one dtype and device.
local function new(entries, bytes)
  local self = setmetatable({list = {}, bucket_of = {}}, Buckets)
  local open
  for _, entry in ipairs(entries) do
    local x = entry.tensor
    local room = #self.list <= 1 and math.min(first_bytes, bytes) or bytes
    local size = x:numel() * x:element_size()
    if not open or open.dtype ~= x:dtype() or open.device ~= x:device() or open.bytes + size > room and #open.entries > 0 then
      open = {entries = {}, places = {}, dtype = x:dtype(), device = x:device(), bytes = 0, count = 0}
      self.list[#self.list + 1] = open
    end
    open.entries[#open.entries + 1] = entry
    open.places[#open.entries] = open.count + 1
    open.count, open.bytes = open.count + x:numel(), open.bytes + size
    self.bucket_of[x] = {bucket = open, position = #open.entries}
  end
  for i, bucket in ipairs(self.list) do
    local first, last = bucket.entries[1].path, bucket.entries[#bucket.entries].path
    local way = ("bucket %d of %d"):format(i, #self.list)
    bucket.label = ("gradients of %s (%s)"):format(first == last and first or first .. " … " .. last, way)
    local leaves = {}
    for k, entry in ipairs(bucket.entries) do leaves[k] = entry.tensor end
    bucket.notes = world.size() > 1 and {world.note_leaves(leaves, way, bucket.bytes, "all_reduce")} or nil
  end
  return self
end

-- Whether a bucket has a place for the gradient of a parameter.
function Buckets:fits(x)
  local place = self.bucket_of[x]
  return place ~= nil and place.bucket.dtype == x:dtype() and place.bucket.device == x:device()
end

-- Begins a backward pass. A pass that ended with an error may have left buckets in transfer.
function Buckets:begin()
  self.sent = 0
  for _, bucket in ipairs(self.list) do
    if bucket.pending then world.wait(bucket.pending) end
    bucket.arrived, bucket.has, bucket.pending = 0, {}, nil
    bucket.flat = bucket.flat or core.empty({bucket.count + #bucket.entries}, {dtype = bucket.dtype, device = bucket.device})
  end
end

local function send(self, bucket)
  local flat, count, flags = bucket.flat, bucket.count, {}
  for i, entry in ipairs(bucket.entries) do
    local part, gradient = flat:narrow(1, bucket.places[i], entry.tensor:numel()), entry.tensor.grad
    if gradient then part:copy_(gradient:reshape(-1)) else part:zero_() end
    flags[i] = gradient and 1 or 0
  end
  flat:narrow(1, count + 1, #flags):copy_(core.tensor(flags, {dtype = bucket.dtype, device = bucket.device}))
  bucket.pending = world.all_reduce_(flat, "mean", bucket.label)
  self.sent = self.sent + 1
end

-- Called when the gradient of a parameter is complete. Sends the full buckets, up to the first that is not full.
function Buckets:arrive(x)
  local place = self.bucket_of[x]
  local bucket = place.bucket
  if bucket.has[place.position] then return end
  bucket.has[place.position] = true
  bucket.arrived = bucket.arrived + 1
  while self.sent < #self.list and self.list[self.sent + 1].arrived == #self.list[self.sent + 1].entries do
    send(self, self.list[self.sent + 1])
  end
end

-- At the end of the pass: sends the remaining buckets, waits, and gives the parameters their averages. A parameter
-- without a gradient on any rank gets none.
function Buckets:finish()
  while self.sent < #self.list do send(self, self.list[self.sent + 1]) end
  for _, bucket in ipairs(self.list) do
    world.wait(bucket.pending, bucket.notes)
    bucket.pending = nil
    local flags
    for i, entry in ipairs(bucket.entries) do
      local x = entry.tensor
      local average = bucket.flat:narrow(1, bucket.places[i], x:numel()):reshape(x:size())
      if x.grad then
        x.grad:copy_(average)
      else
        flags = flags or bucket.flat:narrow(1, bucket.count + 1, #bucket.entries):tolist()
        if flags[i] > 0 then x.grad = average:clone() end
      end
    end
  end
end

return new
