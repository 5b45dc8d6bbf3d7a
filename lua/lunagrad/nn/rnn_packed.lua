-- RNN, LSTM and GRU over a PackedSequence. Its steps form segments during which the same sequences are present. Each
-- layer and direction runs its op over the segments one after the other, without padding. A sequence that ends leaves
-- its final state. In reverse direction the segments run from the end, and sequences join with their initial state.
local core = require "lunagrad.core"
local packed = require "lunagrad.nn.packed"

local fail = core._fail

-- The segments of equal batch size: the first row, the number of steps and the number of sequences of each.
local function segments_of(sequence)
  local list, row = {}, 1
  for _, size in ipairs(sequence.batch_sizes:tolist()) do
    local last = list[#list]
    if last and last.count == size then
      last.steps = last.steps + 1
    else
      list[#list + 1] = {row = row, steps = 1, count = size}
    end
    row = row + size
  end
  return list
end

-- Runs one segment [steps, count, features] from the states of its sequences; returns the output and the states.
local function advance(self, x, states, weights)
  local one = {}
  for k, state in ipairs(states) do one[k] = state:unsqueeze(1) end
  if self.op == "lstm" then
    local out, h, c = core.lstm(x, one[1], one[2], weights, self.bias, 1, 0, false, false, false)
    return out, {h:squeeze(1), c:squeeze(1)}
  end
  local out, h = core[self.op](x, one[1], weights, self.bias, 1, 0, false, false, false)
  return out, {h:squeeze(1)}
end

local function concat(pieces) return #pieces == 1 and pieces[1] or core.cat(pieces, 1) end

local function run_forward(self, data, segments, states, weights)
  local outs, left = {}, {}
  for k, segment in ipairs(segments) do
    local count = #states[1]
    if segment.count < count then  -- the shortest sequences have ended
      for s, state in ipairs(states) do
        left[s] = left[s] or {}
        table.insert(left[s], 1, state:narrow(1, segment.count + 1, count - segment.count))
        states[s] = state:narrow(1, 1, segment.count)
      end
    end
    local x = data:narrow(1, segment.row, segment.steps * segment.count):reshape(segment.steps, segment.count, -1)
    local out
    out, states = advance(self, x, states, weights)
    outs[k] = out:reshape(segment.steps * segment.count, -1)
  end
  for s, state in ipairs(states) do states[s] = concat {state, table.unpack(left[s] or {})} end
  return concat(outs), states
end

local function run_reverse(self, data, segments, start, weights)
  local outs, states = {}, nil
  for k = #segments, 1, -1 do
    local segment = segments[k]
    if not states then
      states = {}
      for s, state in ipairs(start) do states[s] = state:narrow(1, 1, segment.count) end
    elseif segment.count > #states[1] then
      for s, state in ipairs(start) do
        local present = #states[s]
        states[s] = concat {states[s], state:narrow(1, present + 1, segment.count - present)}
      end
    end
    local x = data:narrow(1, segment.row, segment.steps * segment.count):reshape(segment.steps, segment.count, -1)
    local out
    out, states = advance(self, x:flip(1), states, weights)
    outs[k] = out:flip(1):reshape(segment.steps * segment.count, -1)
  end
  return concat(outs), states
end

local function check_state(self, name, state, layers, count)
  local wanted = ("%d, %d, %d"):format(layers, count, self.hidden_size)
  if not core.is_tensor(state) or table.concat(state:size(), ", ") ~= wanted then
    fail(("%s: %s of a packed sequence has shape [%s] (got %s)"):format(self.__name, name, wanted,
      core.is_tensor(state) and ("shape [%s]"):format(table.concat(state:size(), ", ")) or type(state)))
  end
end

-- The initial states [layers * directions, N, hidden] in the order of the packed data.
local function initial(self, sequence, given, layers, count)
  local states = {}
  for s = 1, self.op == "lstm" and 2 or 1 do
    local state = given[s]
    if state == nil then
      state = core.zeros({layers, count, self.hidden_size},
        {dtype = self.weight_hh_l0:dtype(), device = sequence.data:device()})
    else
      check_state(self, s == 1 and "h0" or "c0", state, layers, count)
      if sequence.sorted_indices then state = state:index_select(2, sequence.sorted_indices) end
    end
    states[s] = state
  end
  return states
end

return function(self, sequence, h0, c0)
  local data = sequence.data
  if data:dim() ~= 2 or data:size(2) ~= self.input_size then
    fail(("%s: packed data of shape [rows, %d] expected (got shape [%s])"):format(self.__name, self.input_size,
      table.concat(data:size(), ", ")))
  end
  local segments, directions = segments_of(sequence), self.bidirectional and 2 or 1
  local layers, count = self.num_layers * directions, segments[1].count
  local start, finals = initial(self, sequence, {h0, c0}, layers, count), {}
  local each = self.bias and 4 or 2
  local p = type(self.dropout) == "number" and self.dropout or self.dropout()
  for layer = 0, self.num_layers - 1 do
    local outs = {}
    for direction = 1, directions do
      local at, weights, states = layer * directions + direction, {}, {}
      for i = 1, each do weights[i] = self[self.names[(at - 1) * each + i]] end
      for s, state in ipairs(start) do states[s] = state:select(1, at) end
      outs[direction], finals[at] = (direction == 1 and run_forward or run_reverse)(self, data, segments, states, weights)
    end
    data = directions == 1 and outs[1] or core.cat(outs, 2)
    if self.training and p > 0 and layer < self.num_layers - 1 then data = core.dropout(data, p, true) end
  end
  local ended = {}
  for s = 1, #start do
    local list = {}
    for at, states in ipairs(finals) do list[at] = states[s] end
    ended[s] = core.stack(list, 1)
    if sequence.unsorted_indices then ended[s] = ended[s]:index_select(2, sequence.unsorted_indices) end
  end
  return packed.with(sequence, data), table.unpack(ended)
end
