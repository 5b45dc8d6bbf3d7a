-- Keeps the losses with their graphs, many small tensors, and a buffer of constant size.
local lg = require "lunagrad"
local model = lg.nn.Linear(64, 64)
local optimizer = lg.optim.SGD(model:parameters(), {lr = 1e-3})
local losses, buffer, history = {}, {}, {}
for step in lg.run.steps(1000000) do
  local loss = (model(lg.randn(64, 64)) - 1):square():mean()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  if step < 3000 then losses[#losses + 1], history[step] = loss, lg.zeros(128, 128) end
  if step <= 4 then buffer[step] = lg.zeros(512, 512) end
  lg.run.log {loss = loss:item()}
  os.execute("sleep 0.02")
end
