-- A small network on pictures, which logs a picture, a histogram, texts and an error: for tests/ui/drives/panels.lua.
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

lg.manual_seed(1)
local pictures = lg.rand(256, 1, 12, 12)
local labels = lg.randint(0, 4, {256})
local set = data.TensorDataset(pictures, labels)
local loader = data.DataLoader(set, {batch_size = 32, shuffle = true})
local net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(2, -1), nn.Linear(400, 4))
local adam = lg.optim.Adam(net:parameters(), {lr = 1e-3})
weight = net:parameters()[1]

print("plain \27[31mred\27[0m and \0 zero and \255 bad")
local next_batch = loader:cycle()
for step in lg.run.steps(1000000) do
  local x, y = next_batch()
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad()
  loss:backward()
  adam:step()
  if step % 5 == 1 then
    lg.run.log {loss = loss}
    lg.run.image("filters", weight, {normalize = true})
    lg.run.histogram("weight", weight)
    lg.run.text("table", "step | loss\n--- | ---\n" .. step .. " | " .. loss:item())
  end
end
