-- A translator that reverses sequences: an encoder of packed sequences, a decoder with attention, teacher forcing.
-- Bahdanau, Cho, Bengio, "Neural machine translation by jointly learning to align and translate", 2015.
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data
local rnn = nn.utils.rnn
local PAD, SOS, EOS, V, H = 0, 1, 2, 10, 32

-- A data set is a table with #set and set[i].
local Reversed = {}
function Reversed.__len() return 512 end
function Reversed.__index(_, i)
  math.randomseed(i)
  local n, source, target = math.random(2, 6), {}, {}
  for k = 1, n do source[k] = math.random(3, V - 1) end
  for k = 1, n do target[k] = source[n + 1 - k] end
  source[n + 1], target[n + 1] = EOS, EOS
  return {lg.tensor(source), lg.tensor(target)}
end

local function collate_fn(batch)
  table.sort(batch, function(a, b) return #a[1] > #b[1] end)
  local src, tgt, lens = {}, {}, {}
  for i, item in ipairs(batch) do src[i], tgt[i], lens[i] = item[1], item[2], #item[1] end
  local options = {batch_first = true, padding_value = PAD}
  return rnn.pad_sequence(src, options), rnn.pad_sequence(tgt, options), lg.tensor(lens)
end

local Encoder = nn.class("Encoder")
function Encoder:init()
  self.embedding = nn.Embedding(V, H, {padding_idx = PAD})
  self.gru = nn.GRU(H, H, {num_layers = 1, batch_first = true, bidirectional = true})
  self.fc = nn.Linear(2 * H, H)
end
function Encoder:forward(src, lens)
  local packed = rnn.pack_padded_sequence(self.embedding(src), lens:cpu(), {batch_first = true, enforce_sorted = true})
  local out, hidden = self.gru(packed)
  local outputs = rnn.pad_packed_sequence(out, {batch_first = true})
  return outputs, lg.tanh(self.fc(lg.cat({hidden[-2], hidden[-1]}, {dim = 2})))
end

local Attention = nn.class("Attention")
function Attention:init()
  self.attn, self.v = nn.Linear(3 * H, H), nn.Parameter(lg.rand(H))
end
function Attention:forward(hidden, encoded, mask)
  local h = hidden:unsqueeze(2):expand(-1, encoded:size(2), -1)
  local energy = lg.tanh(self.attn(lg.cat({h, encoded}, {dim = 3})))
  return F.softmax(lg.einsum("bth,h->bt", energy, self.v):masked_fill(~mask, -1e10), {dim = 2})
end

local Decoder = nn.class("Decoder")
function Decoder:init()
  self.embedding, self.attention = nn.Embedding(V, H), Attention()
  self.rnn, self.out = nn.GRUCell(3 * H, H), nn.Linear(H, V)
end
function Decoder:forward(input, hidden, encoded, mask)
  local context = lg.bmm(self.attention(hidden, encoded, mask):unsqueeze(2), encoded):squeeze(2)
  hidden = self.rnn(lg.cat({self.embedding(input), context}, -1), hidden)
  return self.out(hidden), hidden
end

local Seq2Seq = nn.class("Seq2Seq")
function Seq2Seq:init() self.encoder, self.decoder = Encoder(), Decoder() end
function Seq2Seq:forward(src, lens, tgt, teacher_forcing_ratio)
  local encoded, hidden = self.encoder(src, lens)
  local input, outputs, logits = lg.full({src:size(1)}, SOS), {}, nil
  for t = 1, tgt:size(2) do
    logits, hidden = self.decoder(input, hidden, encoded, src:ne(PAD))
    outputs[t] = logits
    input = lg.rand(1):item() < teacher_forcing_ratio and tgt[{{}, t}] or logits:argmax(2)
  end
  return lg.stack(outputs, {dim = 2})
end

local model = Seq2Seq()
for name, param in model:named_parameters() do
  if name:find("weight") then nn.init.normal_(param, 0, 0.1) end
end
local loader = data.DataLoader(setmetatable({}, Reversed), {batch_size = 64, shuffle = true, collate_fn = collate_fn})
local optimizer = lg.optim.Adam(model:parameters(), {lr = 5e-3})
local scheduler = lg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, {mode = "min", factor = 0.5, patience = 2})
local criterion = nn.CrossEntropyLoss {ignore_index = PAD}
for epoch = 1, 10 do
  local epoch_loss = 0
  for src, tgt, lens in loader do
    optimizer:zero_grad()
    local loss = criterion(model(src, lens, tgt, 0.7):reshape(-1, V), tgt:reshape(-1))
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), {max_norm = 1})
    optimizer:step()
    epoch_loss = epoch_loss + loss:item() / #loader
  end
  scheduler:step(epoch_loss)
  if epoch % 5 == 0 then print(("epoch %d: loss %.3f"):format(epoch, epoch_loss)) end
end
model:eval()
local src, tgt, lens = loader:cycle()()
local found = lg.no_grad(function() return model(src, lens, tgt, 0):argmax(3) end)
local right = (found:eq(tgt) | tgt:eq(PAD)):all(2):float():mean():item()
assert(right > 0.8, right)
