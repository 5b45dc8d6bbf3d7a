local lg = require "lunagrad"
local expect = require "expect"
local nn = lg.nn

-- Names, shapes and parameter counts are PyTorch's.
lg.manual_seed(5)
local lstm = nn.LSTM(3, 4, {num_layers = 2, bidirectional = true})
local names = {}
for name, parameter in lstm:named_parameters() do
  names[#names + 1] = name .. " " .. table.concat(parameter:size(), "x")
end
expect.equal(names, {
  "weight_ih_l0 16x3", "weight_hh_l0 16x4", "bias_ih_l0 16", "bias_hh_l0 16",
  "weight_ih_l0_reverse 16x3", "weight_hh_l0_reverse 16x4", "bias_ih_l0_reverse 16", "bias_hh_l0_reverse 16",
  "weight_ih_l1 16x8", "weight_hh_l1 16x4", "bias_ih_l1 16", "bias_hh_l1 16",
  "weight_ih_l1_reverse 16x8", "weight_hh_l1_reverse 16x4", "bias_ih_l1_reverse 16", "bias_hh_l1_reverse 16",
})
expect.equal(tostring(lstm), "LSTM(3, 4, num_layers = 2, bidirectional = true)  # 736 parameters")
local largest = 0
for _, parameter in lstm:named_parameters() do largest = math.max(largest, parameter:abs():max():item()) end
assert(largest <= 0.5 and largest > 0.48)

-- Results: the outputs of the last layer, then the final states of every layer and direction.
local x = lg.randn(5, 2, 3)
local out, h, c = lstm(x)
expect.equal(out:size(), {5, 2, 8})
expect.equal(h:size(), {4, 2, 4})
expect.equal(c:size(), {4, 2, 4})
expect.close(out[{5, {}, {1, 4}}], h[3])
expect.close(out[{1, {}, {5, 8}}], h[4])

-- batch_first, and input without a batch; an initial state of zeros equals none.
local first = nn.LSTM(3, 4, {num_layers = 2, bidirectional = true, batch_first = true})
first:load_state_dict(lstm:state_dict())
local out2, h2 = first(x:transpose(1, 2))
expect.close(out2:transpose(1, 2):contiguous(), out, 1e-6)
expect.close(h2, h, 1e-6)
local out3, h3, c3 = lstm(x:select(2, 1))
expect.close(out3, out:select(2, 1):contiguous(), 1e-6)
expect.equal(h3:size(), {4, 4})
expect.close(c3, c:select(2, 1):contiguous(), 1e-6)
expect.close(lstm(x, lg.zeros(4, 2, 4), lg.zeros(4, 2, 4)), out)

-- A cell is one step of a layer: applying it along a sequence gives the layer's states.
for layer_name, cell_name in pairs {LSTM = "LSTMCell", GRU = "GRUCell", RNN = "RNNCell"} do
  local layer, cell = nn[layer_name](3, 4), nn[cell_name](3, 4)
  for _, name in ipairs {"weight_ih", "weight_hh", "bias_ih", "bias_hh"} do
    lg.no_grad(function() cell[name]:copy_(layer[name .. "_l0"]) end)
  end
  local states, last = layer(x)
  local hx, cx
  for t = 1, 5 do
    hx, cx = cell(x[t], hx, cx)
    expect.close(hx, states[t]:contiguous(), 1e-6, layer_name)
  end
  expect.close(hx, last[1]:contiguous(), 1e-6)
  expect.close(cell(x[1][1]), states[1][1]:contiguous(), 1e-6)
  -- Gradients through the layer equal those through the cells.
  layer:zero_grad()
  states:sum():backward()
  cell:zero_grad()
  local total = 0
  hx, cx = nil, nil
  for t = 1, 5 do
    hx, cx = cell(x[t], hx, cx)
    total = total + hx:sum()
  end
  total:backward()
  expect.close(cell.weight_hh.grad, layer.weight_hh_l0.grad, 1e-5, layer_name)
  expect.close(cell.bias_ih.grad, layer.bias_ih_l0.grad, 1e-5, layer_name)
end

-- Dropout is applied between layers, in training only.
local gru = nn.GRU {input_size = 3, hidden_size = 8, num_layers = 2, dropout = 0.5}
assert(not pcall(expect.close, gru(x), (gru(x))))
gru:eval()
expect.equal((gru(x)), (gru(x)))
local single = nn.GRU {input_size = 3, hidden_size = 8, dropout = 0.5}
expect.equal((single(x)), (single(x)))

-- An LSTM learns to count its positive inputs.
lg.manual_seed(2)
local net, head = nn.LSTM(1, 8, {batch_first = true}), nn.Linear(8, 1)
local parameters = net:parameters()
for _, parameter in ipairs(head:parameters()) do parameters[#parameters + 1] = parameter end
local optimizer = lg.optim.Adam(parameters, {lr = 0.02})
local input = lg.randn(64, 6, 1)
local target = input:gt(0):to("f32"):sum(2)
local loss
for _ = 1, 250 do
  optimizer:zero_grad()
  local _, last = net(input)
  loss = nn.functional.mse_loss(head(last[1]), target)
  loss:backward()
  optimizer:step()
end
assert(loss:item() < 0.1, loss:item())

-- Mistakes.
expect.raises("LSTM: hidden_size must be a positive integer (got 0)", function() nn.LSTM(3, 0) end)
expect.raises("RNN: nonlinearity must be 'tanh' or 'relu' (got 'sine')", function() nn.RNN(3, 4, {nonlinearity = "sine"}) end)
expect.raises("GRU: unknown option 'layers'", function() nn.GRU(3, 4, {layers = 2}) end)
expect.raises("lstm: weight_ih has shape [16, 3] where [16, 5] is needed for an input of shape [2, 1, 5]", function() nn.LSTM(3, 4)(lg.ones(2, 1, 5)) end)
expect.raises("gru: h0 has shape [1, 4] where [1, 2, 4] is needed", function() nn.GRU(3, 4)(x, lg.zeros(1, 4)) end)
