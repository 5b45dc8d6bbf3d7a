-- A small training whose names and texts a page must show as text, not run as its own markup.
local lg = require "lunagrad"
local nn = lg.nn

local model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
local optimizer = lg.optim.SGD(model:parameters(), {lr = 0.01})

for step in lg.run.steps(tonumber(arg[1])) do
  local x = lg.randn(16, 8)
  local loss = (model(x) - x:sum(2, true):tanh()):square():mean()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {["train/loss"] = loss, ["</script><b>hostile</b>"] = step}
  if step % 10 == 0 then lg.run.log {["val/loss"] = loss, ['q"uote\''] = step == 100 and 0 / 0 or 1 / step} end
  if step % 100 == 0 then
    lg.run.histogram("weights <img src=x>", model[1].weight)
    lg.run.image("picture <img src=x onerror=throw>", lg.rand(1, 8, 8))
    lg.run.text("note", "left as it is: <img src=x onerror=throw> \xff</script>")
    print("step", step, "</script>\xff")
  end
end
