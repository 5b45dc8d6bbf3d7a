-- A trial of the tests of sweeps: trains for a given number of steps, a few ms each, and logs every loss. The bits of the
-- final weights follow as text, so that a run that went on wrongly differs.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local lr = lg.run.param("lr", 0.05)
local width = lg.run.param("width", 8, {min = 1})
local pause = tonumber(arg[2] or 0)

local set = lg.data.TensorDataset(lg.randn(64, 4), lg.randn(64, 1))
local loader = lg.run.state("loader", function() return lg.data.DataLoader(set, {batch_size = 16, shuffle = true}) end)
local net = lg.run.state("net", function()
  return nn.Sequential(nn.Linear(4, width), nn.Dropout(0.2), nn.Tanh(), nn.Linear(width, 1))
end)
local adam = lg.run.state("adam", function() return lg.optim.Adam(net:parameters(), {lr = lr}) end)
local next_batch = loader:cycle()
for _ in lg.run.steps(tonumber(arg[1])) do
  local x, y = next_batch()
  local loss = F.mse_loss(net(x), y)
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log {loss = loss}
  if pause > 0 then
    local till = os.clock() + pause
    repeat until os.clock() >= till
  end
end
local bits = {}
for _, parameter in ipairs(net:parameters()) do
  for _, value in ipairs(parameter:flatten():tolist()) do bits[#bits + 1] = ("%a"):format(value) end
end
lg.run.text("weights", table.concat(bits, " "))
