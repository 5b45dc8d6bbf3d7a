#pragma once
// Twelve scripts that a window shows in different ways, with loops that do not end. A reload, a fork and a
// replay continue with the states that they register.

namespace lunagrad::tests {

struct MomentScript {
  const char* name;
  const char* text;
  bool becomes_nan = false;
};

inline constexpr MomentScript kMomentScripts[] = {
    {"a perceptron with a live learning rate", R"(
local lg = require "lunagrad"
local nn = lg.nn
local net = lg.run.state("net", function() return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)) end)
local sgd = lg.optim.SGD(net:parameters(), {lr = lg.run.live("lr", 0.01)})
for step in lg.run.steps() do
  sgd:zero_grad()
  local loss = net(lg.randn(8, 4)):square():mean()
  loss:backward(); sgd:step()
  lg.run.log{loss = loss}
end)"},
    {"a convolution with pictures of its filters", R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = lg.run.state("net", function()
  return nn.Sequential(nn.Conv2d(1, 4, 3, {padding = 1}), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(64, 3))
end)
local adam = lg.run.state("adam", function() return lg.optim.Adam(net:parameters(), {lr = 1e-3}) end)
local set = lg.data.TensorDataset(lg.rand(48, 1, 8, 8), lg.randint(0, 3, {48}))
local next_batch = lg.data.DataLoader(set, {batch_size = 8, shuffle = true}):cycle()
for step in lg.run.steps() do
  local x, y = next_batch()
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log{loss = loss}
  if step % 5 == 1 then lg.run.image("filters", net[1].weight, {normalize = true}) end
end)"},
    {"a transformer", R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local Gpt = nn.class("Gpt")
function Gpt:init()
  self.bytes, self.head = nn.Embedding(32, 16), nn.Linear(16, 32)
  self.blocks = nn.ModuleList()
  for _ = 1, 2 do
    self.blocks:append(nn.TransformerEncoderLayer(16, 2, {dim_feedforward = 32, batch_first = true}))
  end
end
function Gpt:forward(x)
  local h, mask = self.bytes(x), lg.ones(x:size(2), x:size(2)):triu(1):bool()
  for _, block in ipairs(self.blocks) do h = block(h, {src_mask = mask}) end
  return self.head(h)
end
local model = lg.run.state("model", function() return Gpt() end)
local adam = lg.run.state("adam", function() return lg.optim.AdamW(model:parameters(), {lr = 1e-3}) end)
for step in lg.run.steps() do
  local ids = lg.randint(0, 32, {2, 9})
  local logits = model(ids:narrow(2, 1, 8))
  local loss = F.cross_entropy(logits:flatten(1, 2), ids:narrow(2, 2, 8):flatten())
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log{loss = loss}
end)"},
    {"a variational autoencoder with texts and histograms", R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local Vae = nn.class("Vae")
function Vae:init()
  self.encoder = nn.Sequential(nn.Linear(16, 12), nn.SiLU(), nn.Linear(12, 8))
  self.decoder = nn.Sequential(nn.Linear(4, 12), nn.SiLU(), nn.Linear(12, 16))
end
function Vae:forward(x)
  local mean, log_variance = table.unpack(self.encoder(x):chunk(2, 2))
  return self.decoder(mean + lg.randn_like(mean) * (log_variance / 2):exp()), mean, log_variance
end
local model = lg.run.state("model", function() return Vae() end)
local adam = lg.run.state("adam", function() return lg.optim.Adam(model:parameters(), {lr = 1e-3}) end)
local loader = lg.data.DataLoader(lg.data.TensorDataset(lg.rand(64, 16)), {batch_size = 8})
for step in lg.run.steps() do
  for x in loader do
    local logits, mean, log_variance = model(x)
    local back = F.binary_cross_entropy_with_logits(logits, x)
    local divergence = (mean:square() + log_variance:exp() - log_variance - 1):mean()
    local loss = back + divergence
    adam:zero_grad(); loss:backward(); adam:step()
    lg.run.log{loss = loss, back = back, divergence = divergence}
    if step % 5 == 0 then
      lg.run.text("note", "step " .. step)
      lg.run.histogram("mean", mean)
    end
    break
  end
end)"},
    {"two networks with two optimizers and two passes a step", R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local G = lg.run.state("G", function() return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)) end)
local D = lg.run.state("D", function() return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)) end)
local of_g, of_d = lg.optim.Adam(G:parameters(), {lr = 1e-3}), lg.optim.Adam(D:parameters(), {lr = 1e-3})
for step in lg.run.steps() do
  local fake = G(lg.randn(8, 3))
  of_d:zero_grad()
  local found = F.softplus(-D(lg.randn(8, 2) + 3)):mean() + F.softplus(D(fake:detach())):mean()
  found:backward(); of_d:step()
  of_g:zero_grad()
  local fooled = F.softplus(-D(fake)):mean()
  fooled:backward(); of_g:step()
  lg.run.log{["loss/d"] = found, ["loss/g"] = fooled}
end)"},
    {"gradients of the second order", R"(
local lg = require "lunagrad"
local nn = lg.nn
local net = lg.run.state("net", function() return nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)) end)
local adam = lg.optim.Adam(net:parameters(), {lr = 1e-3})
for step in lg.run.steps() do
  local t = lg.rand(16, 1):requires_grad_()
  local slope = lg.grad(net(t):sum(), {t}, {create_graph = true})[1]
  local loss = (slope - 1):square():mean()
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log{loss = loss}
end)"},
    {"a network that is dead from its first step on", R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = lg.run.state("net", function()
  local net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
  lg.no_grad(function() net[1].bias:fill_(-20); net[3].weight:fill_(0.5) end)
  return net
end)
local sgd = lg.optim.SGD(net:parameters(), {lr = 1e-4})
for step in lg.run.steps() do
  local loss = F.mse_loss(net(lg.rand(8, 4)), lg.full({8, 1}, -10.))
  sgd:zero_grad(); loss:backward(); sgd:step()
  lg.run.log{loss = loss}
end)"},
    {"a loss that becomes NaN", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.tensor({10., 1.}, {requires_grad = true}) end)
for step in lg.run.steps() do
  w.grad = nil
  lg.no_grad(function() w:sub_(0.0525) end)
  local root = w:sqrt()
  local loss = (root * lg.tensor{2., 3.}):sum()
  loss:backward()
  lg.run.log{loss = loss}
end)",
     true},
    {"200 layers", R"(
local lg = require "lunagrad"
local nn = lg.nn
local net = lg.run.state("net", function()
  local net = nn.Sequential()
  for i = 1, 200 do net:append(nn.Linear(4, 4)); net:append(nn.Tanh()) end
  return net
end)
local sgd = lg.optim.SGD(net:parameters(), {lr = 1e-3})
for step in lg.run.steps() do
  local loss = net(lg.randn(4, 4)):square():mean()
  sgd:zero_grad(); loss:backward(); sgd:step()
  lg.run.log{loss = loss}
end)"},
    {"40 curves", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.ones(40):requires_grad_() end)
for step in lg.run.steps() do
  w.grad = nil
  local loss = (w * lg.rand(40)):square():sum()
  loss:backward()
  lg.no_grad(function() w:sub_(w.grad * 1e-4) end)
  local curves = {loss = loss}
  for i = 1, 40 do curves[("part%d/of%d"):format(i % 5, i)] = math.sin(step / i) end
  lg.run.log(curves)
end)"},
    {"frozen parts and dropout", R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = lg.run.state("net", function()
  local net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
  for _, p in ipairs(net[1]:parameters()) do p:requires_grad_(false) end
  return net
end)
local sgd = lg.optim.SGD(net[4]:parameters(), {lr = 0.01})
for step in lg.run.steps() do
  local loss = F.cross_entropy(net(lg.randn(8, 6)), lg.randint(0, 3, {8}))
  sgd:zero_grad(); loss:backward(); sgd:step()
  lg.run.log{loss = loss}
end)"},
    {"a backward pass in every third step, a point in every seventh", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.ones(3):requires_grad_() end)
for step in lg.run.steps() do
  local loss = (w ^ 2):sum()
  if step % 3 == 0 then
    w.grad = nil
    loss:backward()
    lg.no_grad(function() w:sub_(w.grad * 1e-3) end)
  end
  if step % 7 == 0 then lg.run.log{loss = loss} end
end)"},
};

}  // namespace lunagrad::tests
