-- The last rank goes astray: its calls differ from the other ranks' in the way that the argument names.
local lg = require "lunagrad"
local dist = lg.distributed
local kind = arg[1]
if kind == "seed" and os.getenv "OMPI_COMM_WORLD_RANK" == "1" then lg.manual_seed(9) end
dist.init {timeout = 3}
local astray = dist.rank() == dist.size() - 1
local x = lg.ones(4, 3)
dist.all_reduce_(x)

local function average() dist.all_reduce_(x) end

if kind == "shape" then dist.all_reduce_(astray and lg.ones(3) or x)
elseif kind == "dtype" then dist.all_reduce_(astray and lg.ones(4, 3, {dtype = "f64"}) or x)
elseif kind == "op" then dist.all_reduce_(x, astray and "max" or "sum")
elseif kind == "root" then dist.broadcast_(x, astray and 1 or 0)
elseif kind == "sizes" then dist.reduce_scatter(x, {sizes = astray and {1, 3} or {2, 2}})
elseif kind == "columns" then dist.all_gather(astray and lg.ones(4, 2) or x)
elseif kind == "order" then
  if astray then average() dist.barrier() else dist.barrier() average() end
elseif kind == "missing" then
  if not astray then average() end
elseif kind == "parameter" or kind == "shard" then
  local net = lg.nn.Sequential(lg.nn.Linear(3, astray and 5 or 4))
  dist[kind == "shard" and "fully_shard" or "data_parallel"](net)
elseif kind == "early" then
  local net = dist.data_parallel(lg.nn.Sequential(lg.nn.Linear(3, 4), lg.nn.Linear(4, 2)))
  for _ = 1, astray and 2 or 3 do net(x):sum():backward() end
elseif kind == "ended" then
  if astray then os.exit(0) end
  average()
elseif kind == "sleep" then
  if astray then
    x = x * 2
    os.execute("exec sleep 30")
  end
  average()
elseif kind == "loop" then
  while astray do x = x * 1 end
  average()
elseif kind == "stopped" then
  if astray then os.execute("kill -STOP $PPID") end
  average()
elseif kind == "killed" then
  if astray then os.execute("kill -9 $PPID") end
  average()
elseif kind == "error" then
  if astray then error("a mistake of one rank") end
  average()
elseif kind == "group" then
  local net = lg.nn.Sequential(lg.nn.Linear(3, 4), lg.nn.Linear(4, 2))
  dist.fully_shard(net, {groups = {net[1], net[2]}})
  net(x)
  net[astray and 1 or 2](lg.ones(4, astray and 3 or 4))
elseif kind == "additional" then
  if astray then dist.barrier() end
  average()
elseif kind == "list" then
  local net = lg.nn.Sequential(lg.nn.Linear(3, 4), astray and lg.nn.Linear(4, 2) or lg.nn.Tanh())
  dist.data_parallel(net)
elseif kind == "losses" then
  local net = dist.data_parallel(lg.nn.Sequential(lg.nn.Linear(3, 4)))
  local adam = lg.optim.Adam(net:parameters())
  for _ = 1, 3 do
    for _ = 1, astray and 2 or 1 do net(x):sum():backward() end
    adam:step()
  end
elseif kind == "device" then
  for _, one in ipairs(lg.devices()) do
    local name = type(one) == "table" and one.name or one
    if astray and name ~= "cpu" then x = x:to(name) end
  end
  average()
elseif kind == "half" then
  local net = lg.nn.Sequential(lg.nn.Linear(3, 4), lg.nn.Linear(4, 2):to "vulkan")
  dist[arg[2]](net)
elseif kind:find "^pipe" then
  local First = lg.nn.class("First")
  function First:init() self.fc, self.calls = lg.nn.Linear(3, 3), 0 end
  function First:forward(y)
    self.calls = self.calls + 1
    return self.fc(kind == "pipe-shape" and self.calls == 2 and lg.cat({y, y}, 1) or y)
  end
  local stages = {}
  for s = 1, dist.size() do stages[s] = s == 1 and First() or lg.nn.Linear(3, 3) end
  local pipe = dist.pipeline(stages,
    {micro_batches = kind == "pipe-count" and astray and 4 or 2, loss = function(y) return y:sum() end})
  local data = lg.ones(4, 3)
  if kind == "pipe-missing" and astray then return end
  if kind == "pipe-other" and astray then
    local _ <close> = lg.no_grad()
    pipe(data)
  else
    pipe:backward(data, data)
  end
elseif kind == "unsent" then
  if astray then dist.send(lg.ones(1 << 20), 0, {async = true}) end
elseif kind == "receives" then
  dist.receive(astray and 0 or dist.size() - 1)
elseif kind == "seed" then average()
else error("no such way: " .. tostring(kind)) end
