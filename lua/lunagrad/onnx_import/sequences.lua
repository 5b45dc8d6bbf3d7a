-- RNN, GRU and LSTM. ONNX orders the gates i o f c (LSTM) and z r h (GRU), PyTorch and Lunagrad order them i f g o and
-- r z n; all directions of one layer are stacked.
local core = require "lunagrad.core"
local Call = require "lunagrad.onnx_import.call"

local M = {}

-- The blocks of the first dim, in another order.
local function reorder(w, order)
  local blocks, out = core.chunk(w, #order, 1), {}
  for i, k in ipairs(order) do out[i] = blocks[k] end
  return core.cat(out, 1)
end

-- The parameters of each direction as our layers take them: input weight, state weight and both biases.
local function parameters(call, order)
  local out, directions = {}, call[2]:size(1)
  for k = 1, directions do
    local list = {reorder(call[2][k], order), reorder(call[3][k], order)}
    if call[4] then
      local both = core.chunk(call[4][k], 2, 1)
      list[3], list[4] = reorder(both[1], order), reorder(both[2], order)
    end
    out[k] = list
  end
  return out
end

local function check_shape(call, i, ...)
  if not call[i] then return end
  local sizes, wanted = call[i]:size(), {...}
  local same = #sizes == #wanted
  for d, size in ipairs(wanted) do same = same and sizes[d] == size end
  if not same then
    Call.refuse("%s has the shape [%s]; [%s] is expected", call:operand(i), table.concat(sizes, ", "), table.concat(wanted, ", "))
  end
end

-- `gates`: the number of blocks in the weights.
local function check(call, activations, gates)
  for i = 1, 3 do call:expect_rank(i, 3, 3) end
  local directions, hidden = call:get("direction", "forward") == "bidirectional" and 2 or 1, call[3]:size(3)
  local batch_first = call:get("layout", 0) == 1
  local batch = call[1]:size(batch_first and 1 or 2)
  check_shape(call, 2, directions, gates * hidden, call[1]:size(3))
  check_shape(call, 3, directions, gates * hidden, hidden)
  check_shape(call, 4, directions, 2 * gates * hidden)
  for i = 6, gates == 4 and 7 or 6 do
    if batch_first then check_shape(call, i, batch, directions, hidden) else check_shape(call, i, directions, batch, hidden) end
  end
  if call:get "clip" then core._fail "clip is not read" end
  if call[5] then
    local lengths = call:integers(5)
    for _, length in ipairs(lengths) do
      if length ~= call[1]:size(call:get("layout", 0) == 1 and 2 or 1) then core._fail "sequences of different lengths are not read" end
    end
  end
  for i, name in ipairs(call:get("activations", {})) do
    local wanted = activations[(i - 1) % #activations + 1]
    if name:lower() ~= wanted then Call.refuse("activation '%s' is not read", Call.printable(name)) end
  end
end

-- layer(x, states, parameters) -> y, states …; x is [time, batch, features]. Runs the directions and joins their results as ONNX
-- has them: y [time, directions, batch, hidden], states [directions, batch, hidden].
local function run(call, order, states, layer)
  local batch_first = call:get("layout", 0) == 1
  local x = batch_first and call[1]:transpose(1, 2) or call[1]
  local direction, hidden = call:get("direction", "forward"), call[3]:size(3)
  local ys, lasts = {}, {}
  for k, list in ipairs(parameters(call, order)) do
    local backwards = direction == "reverse" or k == 2
    local first = {}
    for s, i in ipairs(states) do
      local given = call[i]
      if given and batch_first then given = given:transpose(1, 2) end
      first[s] = given and given:narrow(1, k, 1) or core.zeros({1, x:size(2), hidden}, {dtype = x:dtype(), device = x:device()})
    end
    local results = {layer(backwards and x:flip(1) or x, first, list)}
    ys[k] = backwards and results[1]:flip(1) or results[1]
    for s = 1, #states do
      lasts[s] = lasts[s] or {}
      lasts[s][k] = results[s + 1]
    end
  end
  local y = core.stack(ys, 2)
  if batch_first then y = y:permute(3, 1, 2, 4) end
  local out = {y}
  for s = 1, #states do
    local last = core.cat(lasts[s], 1)
    out[s + 1] = batch_first and last:transpose(1, 2) or last
  end
  return table.unpack(out)
end

function M.LSTM(call)
  check(call, {"sigmoid", "tanh", "tanh"}, 4)
  if call[8] then core._fail "peepholes are not read" end
  if call:get("input_forget", 0) == 1 then core._fail "input_forget is not read" end
  return run(call, {1, 3, 4, 2}, {6, 7}, function(x, states, list)
    return core.lstm(x, states[1], states[2], list, #list == 4)
  end)
end

function M.RNN(call)
  local name = (call:get("activations", {"Tanh"})[1] or "Tanh"):lower()
  if name ~= "tanh" and name ~= "relu" then Call.refuse("activation '%s' is not read", Call.printable(name)) end
  check(call, {name}, 1)
  return run(call, {1}, {6}, function(x, states, list) return core["rnn_" .. name](x, states[1], list, #list == 4) end)
end

-- With linear_before_reset = 0 the reset gate acts on the state before the matrix product. Our op applies it after the
-- product, so this case runs step by step.
local function gru_steps(x, h, list)
  local w, u = list[1], list[2]
  local projected = core.linear(x, w, list[3])
  local hidden = h:size(3)
  h = h:squeeze(1)
  local ur, uz, un = table.unpack(core.chunk(u, 3, 1))
  local br, bz, bn
  if list[4] then br, bz, bn = table.unpack(core.chunk(list[4], 3, 1)) end
  local out = {}
  for t = 1, x:size(1) do
    local pr, pz, pn = table.unpack(core.split(projected[t], hidden, -1))
    local r = (pr + core.linear(h, ur, br)):sigmoid()
    local z = (pz + core.linear(h, uz, bz)):sigmoid()
    local n = (pn + core.linear(r * h, un, bn)):tanh()
    h = (1 - z) * n + z * h
    out[t] = h
  end
  return core.stack(out, 1), h:unsqueeze(1)
end

function M.GRU(call)
  check(call, {"sigmoid", "tanh"}, 3)
  local behind = call:get("linear_before_reset", 0) == 1
  return run(call, {2, 1, 3}, {6}, function(x, states, list)
    if not behind then return gru_steps(x, states[1], list) end
    return core.gru(x, states[1], list, #list == 4)
  end)
end

return M
