-- RNN, LSTM and GRU over a whole sequence [T, N, input_size], [N, T, input_size] with batch_first, or [T, input_size]:
--   local out, h = gru(x, h0)      local out, h, c = lstm(x, h0, c0), also lstm(x, {h0, c0})
-- h0 and c0 are [num_layers * directions, N, hidden_size] and default to zeros. x may be a PackedSequence (nn.utils.rnn).
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local packed = require "lunagrad.nn.packed"
local reader = require("lunagrad.arguments").reader
local run_packed = require "lunagrad.nn.rnn_packed"
local states = require "lunagrad.nn.lstm_states"

local Recurrent = class("Recurrent")

local gates = {rnn_tanh = 1, rnn_relu = 1, lstm = 4, gru = 3}

-- The parameters of a layer and direction, uniform within 1 / sqrt(hidden_size) as in PyTorch.
function Recurrent:make(op, a)
  self.op, self.names = op, {}
  for _, name in ipairs {
    "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
  } do
    self[name] = a[name]
  end
  local hidden, directions = a.hidden_size, a.bidirectional and 2 or 1
  local bound, rows = 1 / math.sqrt(hidden), gates[op] * hidden
  for layer = 0, a.num_layers - 1 do
    for direction = 1, directions do
      local inputs = layer == 0 and a.input_size or hidden * directions
      local suffix = ("_l%d%s"):format(layer, direction == 2 and "_reverse" or "")
      local function add(name, shape)
        self[name .. suffix] = init._parameter(shape, a, init.uniform_, -bound, bound)
        self.names[#self.names + 1] = name .. suffix
      end
      add("weight_ih", {rows, inputs})
      add("weight_hh", {rows, hidden})
      if a.bias then
        add("bias_ih", {rows})
        add("bias_hh", {rows})
      end
    end
  end
end

function Recurrent:forward(x, h0, c0)
  if self.op == "lstm" then h0, c0 = states.pair("LSTM", "lstm", h0, c0) end
  if packed.is_packed(x) then return run_packed(self, x, h0, c0) end
  local weights = {}
  for i, name in ipairs(self.names) do weights[i] = self[name] end
  local p = type(self.dropout) == "number" and self.dropout or self.dropout()
  if self.op == "lstm" then
    return core.lstm(x, h0, c0, weights, self.bias, self.num_layers, p, self.training, self.bidirectional,
      self.batch_first)
  end
  return core[self.op](x, h0, weights, self.bias, self.num_layers, p, self.training, self.bidirectional,
    self.batch_first)
end

function Recurrent:extra_repr()
  local parts = {("%d, %d"):format(self.input_size, self.hidden_size)}
  if self.num_layers ~= 1 then parts[#parts + 1] = ("num_layers = %d"):format(self.num_layers) end
  if not self.bias then parts[#parts + 1] = "bias = false" end
  if self.batch_first then parts[#parts + 1] = "batch_first = true" end
  if self.dropout ~= 0 then parts[#parts + 1] = ("dropout = %s"):format(tostring(self.dropout)) end
  if self.bidirectional then parts[#parts + 1] = "bidirectional = true" end
  return table.concat(parts, ", ")
end

local function need_sizes(name, a)
  for _, size in ipairs {"input_size", "hidden_size", "num_layers"} do
    if math.type(a[size]) ~= "integer" or a[size] < 1 then
      core._fail(("%s: %s must be a positive integer (got %s)"):format(name, size, tostring(a[size])))
    end
  end
end

local tail = {{"bias", true}, {"batch_first", false}, {"dropout", 0}, {"bidirectional", false}, {"device"}, {"dtype"}}

local function make_class(name, op)
  local Class = class(name, Recurrent)
  local read = reader(name, "input_size", "hidden_size", {"num_layers", 1}, table.unpack(tail))
  function Class:init(...)
    local a = read(...)
    need_sizes(name, a)
    self:make(op, a)
  end
  return Class
end

local RNN = class("RNN", Recurrent)
local read = reader("RNN", "input_size", "hidden_size", {"num_layers", 1}, {"nonlinearity", "tanh"},
  table.unpack(tail))

function RNN:init(...)
  local a = read(...)
  need_sizes("RNN", a)
  if a.nonlinearity ~= "tanh" and a.nonlinearity ~= "relu" then
    core._fail(("RNN: nonlinearity must be 'tanh' or 'relu' (got '%s')"):format(tostring(a.nonlinearity)))
  end
  self.nonlinearity = a.nonlinearity
  self:make("rnn_" .. a.nonlinearity, a)
end

return {RNN = RNN, LSTM = make_class("LSTM", "lstm"), GRU = make_class("GRU", "gru")}
