# Plays hour.lua with repeated runs of a short training.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
file(WRITE ${WORK}/short.lua [=[
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
local adam = lg.optim.Adam(net:parameters(), {lr = lg.run.live("lr", 0.01)})
local x, y = lg.randn(64, 16), lg.randint(0, 4, {64})
for step in lg.run.steps(1000000) do
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log {loss = loss}
end
]=])
expect(hour 0 "runs" ${display} ${WORKBENCH} ${WORK}/short.lua --size 900x640 --drive ${SOURCE}/tests/ui/drives/hour.lua 14)
message("${said}")
finish()
