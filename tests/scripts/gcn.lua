-- Node classification by a graph convolution and graph attention, from edge lists: scatter, index_add, masks of rows. The
-- losses are PyTorch's from the same parameters. Kipf, Welling, "Semi-supervised classification with graph convolutional
-- networks", 2017; Velickovic and others, "Graph attention networks", 2018.
local lg = require "lunagrad"
local nn, F, optim = lg.nn, lg.nn.functional, lg.optim

-- Parameters and features that PyTorch can make, too.
local function fill(model, scale)
  lg.no_grad(function()
    for i, p in ipairs(model:parameters()) do
      p:copy_((lg.arange(p:numel(), {dtype = p.dtype}) * 0.7 + (i - 1)):sin():view_as(p) * scale)
    end
  end)
end

local GCNConv = nn.class("GCNConv")
function GCNConv:init(i, o)
  self.lin = nn.Linear(i, o, {bias = false})
  self.bias = nn.Parameter(lg.zeros(o))
end
function GCNConv:forward(x, edge_index)
  local N = x.shape[1]
  local loops = lg.arange(N):unsqueeze(1):expand(2, N)
  local ei = lg.cat({edge_index, loops}, 2)
  local row, col = ei[1], ei[2]
  local deg = lg.zeros(N):scatter_add_(1, col, lg.ones(col:size(1)))
  local dis = deg:pow(-0.5)
  dis[dis:isinf()] = 0
  local norm = dis[row] * dis[col]
  x = self.lin(x)
  local out = lg.zeros_like(x):index_add(1, col, norm:view(-1, 1) * x[row])
  return out + self.bias
end
local GAT = nn.class("GAT")
function GAT:init(i, o, heads)
  self.heads, self.o = heads, o
  self.W = nn.Linear(i, heads * o, {bias = false})
  self.a = nn.Parameter(lg.empty(1, heads, 2 * o))
  nn.init.xavier_normal_(self.a, {gain = nn.init.calculate_gain("relu")})
end
function GAT:forward(x, edge_index)
  local row, col = table.unpack(edge_index:unbind())
  local h = self.W(x):view(-1, self.heads, self.o)
  local e = F.leaky_relu((self.a * lg.cat({h[row], h[col]}, {dim = -1})):sum({dim = -1}), 0.2)
  local m = lg.full({x:size(1), self.heads}, -math.huge):scatter_reduce(1, col:unsqueeze(2):expand_as(e), e, "amax", {include_self = true})
  local ex = (e - m[col]):exp()
  local denom = lg.zeros(x:size(1), self.heads):index_add_(1, col, ex)
  local alpha = ex / (denom[col] + 1e-16)
  local out = x:new_zeros(x:size(1), self.heads, self.o)
  out:index_add_(1, col, alpha:unsqueeze(-1) * h[row])
  return out:flatten(2)
end
local GCN = nn.class("GCN")
function GCN:init(f, h, c)
  self.conv1 = GCNConv(f, h); self.gat = GAT(h, 4, 2); self.conv2 = GCNConv(8, c)
end
function GCN:forward(x, edge_index)
  x = F.relu(self.conv1(x, edge_index))
  x = F.elu(self.gat(x, edge_index))
  x = F.dropout(x, {p = 0.0, training = self.training})
  return F.log_softmax(self.conv2(x, edge_index), {dim = 2})
end
local edge_index = lg.tensor({{0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 5, 6}, {1, 0, 2, 1, 3, 2, 4, 3, 0, 4, 6, 5}})
local x = (lg.arange(35):float() * 0.37):sin():view(7, 5)
local y = lg.tensor({0, 0, 1, 1, 0, 2, 2})
local train_mask = lg.tensor({true, false, true, true, false, true, true})
local model = GCN(5, 6, 3); fill(model, 0.5)
local optimizer = optim.Adam(model:parameters(), {lr = 0.01, weight_decay = 5e-4})
local losses = {}
for epoch = 1, 60 do
  optimizer:zero_grad()
  local loss = F.nll_loss(model(x, edge_index)[train_mask], y[train_mask])
  loss:backward()
  optimizer:step()
  losses[epoch] = loss:item()
end
for epoch, expected in ipairs {1.13568, 1.10659, 1.08052, 1.05682} do assert(math.abs(losses[epoch] - expected) < 1e-4) end
model:eval()
local pred = model(x, edge_index):argmax({dim = 2})
local correct = pred[train_mask]:eq(y[train_mask]):sum():item()
print(("loss %.3f at first, %.3f at the end; %d of %d right"):format(losses[1], losses[60], correct, train_mask:sum():item()))
assert(losses[60] < 0.7 * losses[1])
