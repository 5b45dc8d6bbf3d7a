-- RNNCell, LSTMCell and GRUCell: one step of a recurrent layer on [N, input_size] or [input_size].
--   h = cell(x, h)      h, c = lstm_cell(x, h, c), also lstm_cell(x, {h, c})
-- States default to zeros.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader
local states = require "lunagrad.nn.lstm_states"

local Cell = class("Cell")

function Cell:make(gates, a)
  self.input_size, self.hidden_size = a.input_size, a.hidden_size
  local bound, rows = 1 / math.sqrt(a.hidden_size), gates * a.hidden_size
  local function parameter(shape) return init._parameter(shape, a, init.uniform_, -bound, bound) end
  self.weight_ih, self.weight_hh = parameter {rows, a.input_size}, parameter {rows, a.hidden_size}
  if a.bias then self.bias_ih, self.bias_hh = parameter {rows}, parameter {rows} end
end

function Cell:extra_repr()
  return ("%d, %d%s"):format(self.input_size, self.hidden_size, self.bias_ih and "" or ", bias = false")
end

local RNNCell = class("RNNCell", Cell)
local read_rnn = reader("RNNCell", "input_size", "hidden_size", {"bias", true}, {"nonlinearity", "tanh"}, {"device"},
  {"dtype"})

function RNNCell:init(...)
  local a = read_rnn(...)
  if a.nonlinearity ~= "tanh" and a.nonlinearity ~= "relu" then
    core._fail(("RNNCell: nonlinearity must be 'tanh' or 'relu' (got '%s')"):format(tostring(a.nonlinearity)))
  end
  self.nonlinearity = a.nonlinearity
  self:make(1, a)
end

function RNNCell:forward(x, h)
  local op = self.nonlinearity == "tanh" and core.rnn_tanh_cell or core.rnn_relu_cell
  return op(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
end

local LSTMCell = class("LSTMCell", Cell)
local read_lstm = reader("LSTMCell", "input_size", "hidden_size", {"bias", true}, {"device"}, {"dtype"})

function LSTMCell:init(...) self:make(4, read_lstm(...)) end

function LSTMCell:forward(x, h, c)
  h, c = states.pair("LSTMCell", "cell", h, c)
  return core.lstm_cell(x, h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
end

local GRUCell = class("GRUCell", Cell)
local read_gru = reader("GRUCell", "input_size", "hidden_size", {"bias", true}, {"device"}, {"dtype"})

function GRUCell:init(...) self:make(3, read_gru(...)) end

function GRUCell:forward(x, h)
  return core.gru_cell(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
end

return {RNNCell = RNNCell, LSTMCell = LSTMCell, GRUCell = GRUCell}
