-- Training loops of many kinds, a few steps each. Two runs of one kind with one seed are equal, so a comparison of
-- their tapes finds no difference.
--   kind   the name of a function below, or list: prints the names
local lg = require "lunagrad"
local nn, F, func = lg.nn, lg.nn.functional, lg.func

local function labels(n, classes) return lg.randint(0, classes, {n}) end
local function perceptron(...) return nn.Sequential(nn.Linear(6, 8), ..., nn.Linear(8, 3)) end

-- One backward pass and one step of an optimizer for `loss()`.
local function training(parameters, loss, name)
  local optimizer = lg.optim[name or "SGD"](parameters, {lr = 0.05})
  return function()
    local value = loss()
    optimizer:zero_grad()
    value:backward()
    optimizer:step()
    return value
  end
end

local kinds = {}

function kinds.mlp()
  local net, loss = perceptron(nn.ReLU()), nn.CrossEntropyLoss()
  return training(net:parameters(), function() return loss(net(lg.randn(4, 6)), labels(4, 3)) end, "Adam")
end

function kinds.weighted_loss()
  local net, loss = perceptron(nn.Tanh()), nn.CrossEntropyLoss {weight = lg.tensor {1, 2, 0.5}, label_smoothing = 0.1}
  return training(net:parameters(), function() return loss(net(lg.randn(4, 6)), labels(4, 3)) end)
end

function kinds.losses()
  local net = perceptron(nn.GELU())
  local mse, huber, bce = nn.MSELoss(), nn.SmoothL1Loss(), nn.BCEWithLogitsLoss()
  local positive = nn.BCEWithLogitsLoss {pos_weight = lg.tensor {1, 2, 3}}
  return training(net:parameters(), function()
    local y, target = net(lg.randn(4, 6)), lg.rand(4, 3)
    local likelihood = F.nll_loss(y:log_softmax(2), labels(4, 3))
    return mse(y, target) + huber(y, target) + bce(y, target) + positive(y, target) + likelihood
  end)
end

function kinds.cnn()
  local net = nn.Sequential(nn.Conv2d(1, 3, 3, {padding = 1}), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(3, 3, 3, {bias = false}), nn.Flatten(), nn.Linear(12, 3))
  return training(net:parameters(), function() return F.cross_entropy(net(lg.randn(2, 1, 8, 8)), labels(2, 3)) end)
end

function kinds.transformer()
  local layer = nn.TransformerEncoderLayer(8, 2, {dim_feedforward = 16, batch_first = true})
  local embedding, head = nn.Embedding(11, 8), nn.Linear(8, 11)
  local all = nn.ModuleList {embedding, layer, head}
  return training(all:parameters(), function()
    local ids = lg.randint(0, 11, {2, 5})
    local mask = lg.ones(5, 5):triu(1):bool()
    return F.cross_entropy(head(layer(embedding(ids), {src_mask = mask})):flatten(1, 2), ids:flatten())
  end, "AdamW")
end

function kinds.attention()
  local qkv = nn.Linear(8, 24)
  return training(qkv:parameters(), function()
    local q, k, v = table.unpack(qkv(lg.randn(2, 5, 8)):chunk(3, 3))
    local causal = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
    return (causal + F.scaled_dot_product_attention(q, k, v)):square():mean()
  end)
end

function kinds.gan()
  local G = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
  local D = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
  local of_g, of_d = lg.optim.Adam(G:parameters()), lg.optim.Adam(D:parameters())
  return function()
    local real, fake = lg.randn(4, 3), G(lg.randn(4, 2))
    local loss_d = F.softplus(-D(real)):mean() + F.softplus(D(fake:detach())):mean()
    of_d:zero_grad()
    loss_d:backward()
    of_d:step()
    local loss_g = F.softplus(-D(fake)):mean()
    of_g:zero_grad()
    loss_g:backward()
    of_g:step()
    return loss_g
  end
end

for _, name in ipairs {"RNN", "LSTM", "GRU"} do
  kinds[name:lower()] = function()
    local rnn, head = nn[name](3, 4, {batch_first = true}), nn.Linear(4, 2)
    local all = nn.ModuleList {rnn, head}
    return training(all:parameters(), function()
      local outputs = rnn(lg.randn(2, 4, 3))
      return F.cross_entropy(head(outputs:select(2, 4)), labels(2, 2))
    end)
  end
end

function kinds.cell()
  local cell = nn.LSTMCell(3, 4)
  return training(cell:parameters(), function()
    local h, c
    for _ = 1, 3 do h, c = cell(lg.randn(2, 3), h and {h, c}) end
    return h:square():sum()
  end)
end

function kinds.second_order()
  local net = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
  return training(net:parameters(), function()
    local t = lg.rand(5, 1):requires_grad_()
    local slope = lg.grad(net(t):sum(), {t}, {create_graph = true})[1]
    local curve = lg.grad(slope:sum(), {t}, {create_graph = true})[1]
    return (curve + net(t)):square():mean()
  end)
end

function kinds.shared()
  local layer, norm = nn.Linear(4, 4), nn.LayerNorm(4)
  local net = nn.ModuleList {layer, norm}
  return training(net:parameters(), function()
    local x = lg.randn(3, 4)
    for _ = 1, 3 do x = norm(layer(x)):relu() + x end
    return (x:matmul(layer.weight)):square():mean()
  end)
end

function kinds.checkpointing()
  local first, second = perceptron(nn.Dropout(0.3)), nn.Linear(3, 2)
  local all = nn.ModuleList {first, second}
  return training(all:parameters(), function()
    return second(lg.checkpoint(first, lg.randn(4, 6))):square():mean()
  end)
end

function kinds.custom_op()
  local sign = lg.custom_op {
    name = "sign_through",
    forward = function(ctx, x)
      ctx:save(x)
      return x:sign()
    end,
    backward = function(ctx, g)
      local x = ctx:saved()
      return g * x:abs():le(1):to(g:dtype())
    end,
  }
  local net = perceptron(nn.Identity())
  return training(net:parameters(), function() return (sign(net(lg.randn(4, 6))) - 0.5):square():mean() end)
end

function kinds.einsum()
  local a, b = lg.randn(3, 4, {requires_grad = true}), lg.randn(4, 5, {requires_grad = true})
  return training({a, b}, function()
    return lg.einsum("bi,ij,jk->bk", lg.randn(2, 3), a, b):square():mean() + lg.einsum("ij,ij->", a, a)
  end)
end

function kinds.functional_call()
  local net = perceptron(nn.ReLU())
  local named, list = {}, {}
  for name, value in net:named_parameters() do
    named[name] = value:detach():clone():requires_grad_()
    list[#list + 1] = named[name]
  end
  return training(list, function()
    return func.functional_call(net, named, {lg.randn(4, 6)}):square():mean()
  end)
end

function kinds.dropout()
  local net = perceptron(nn.Dropout(0.5), nn.Dropout(0.1))
  return training(net:parameters(), function() return net(lg.randn(4, 6)):square():mean() end)
end

function kinds.several_passes()
  local net = perceptron(nn.ReLU())
  local optimizer = lg.optim.SGD(net:parameters(), {lr = 0.05})
  return function()
    optimizer:zero_grad()
    local total = 0
    for _ = 1, 3 do
      local loss = net(lg.randn(4, 6)):square():mean()
      loss:backward()
      total = total + loss:item()
    end
    optimizer:step()
    return total
  end
end

function kinds.embedding()
  local words, tags = nn.Embedding(9, 4, {padding_idx = 0}), nn.EmbeddingBag(9, 4)
  local all = nn.ModuleList {words, tags}
  return training(all:parameters(), function()
    local ids = lg.randint(0, 9, {3, 4})
    return (words(ids):mean(2) - tags(ids)):square():sum()
  end)
end

function kinds.branches()
  local left, right = nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
  local all, step = nn.ModuleList {left, right}, 0
  return training(all:parameters(), function()
    step = step + 1
    local x = lg.randn(4, 3)
    local branch = (x:mean():item() > 0 or step % 2 == 0) and left or right
    return branch(x):square():mean()
  end)
end

function kinds.vmap()
  local w = lg.randn(3, 3, {requires_grad = true})
  return training({w}, function()
    local product = func.vmap(function(x) return w:matmul(x):tanh() end)(lg.randn(4, 3))
    return product:square():sum()
  end)
end

function kinds.per_sample_gradients()
  local w = lg.randn(3, {requires_grad = true})
  return training({w}, function()
    local gradients = func.vmap(func.grad(function(v, x) return v:dot(x):square() end), {false, 1})(w, lg.randn(4, 3))
    return gradients:square():sum()
  end)
end

function kinds.captured()
  local net = perceptron(nn.ReLU())
  local optimizer = lg.optim.Adam(net:parameters(), {lr = 0.01})
  local step = lg.compile(function(x, y)
    local loss = F.cross_entropy(net(x), y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    return loss
  end, {capture_graph = true})
  return function() return step(lg.randn(4, 6), labels(4, 3)) end
end

function kinds.deferred()
  local net = perceptron(nn.GELU())
  local forward = lg.compile(function(x) return (net(x):tanh() * 0.5 - 1):sigmoid():mean() end)
  return training(net:parameters(), function() return forward(lg.randn(4, 6)) end)
end

function kinds.autocast()
  local net = perceptron(nn.ReLU())
  return training(net:parameters(), function()
    return lg.autocast("bf16", function() return F.cross_entropy(net(lg.randn(4, 6)), labels(4, 3)) end)
  end)
end

function kinds.frozen()
  local body, head = perceptron(nn.ReLU()), nn.Linear(3, 2)
  for _, p in ipairs(body:parameters()) do p:requires_grad_(false) end
  return training(head:parameters(), function() return head(body(lg.randn(4, 6))):square():mean() end)
end

function kinds.weight_norm()
  local net = nn.Sequential(nn.utils.weight_norm(nn.Linear(6, 4)), nn.ReLU(), nn.utils.spectral_norm(nn.Linear(4, 2)))
  return training(net:parameters(), function() return net(lg.randn(4, 6)):square():mean() end)
end

function kinds.in_place()
  local w = lg.randn(4, 4, {requires_grad = true})
  return training({w}, function()
    local x = lg.randn(3, 4):matmul(w)
    x:mul_(2)
    x[1] = x[2] * 3
    return lg.cat({x, x:t():flip(1):reshape(3, 4)}, 1):square():mean()
  end)
end

function kinds.vae()
  local encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
  local all = nn.ModuleList {encoder, decoder}
  return training(all:parameters(), function()
    local x = lg.randn(4, 6)
    local mean, log_variance = encoder(x):narrow(2, 1, 2), encoder(x):narrow(2, 3, 2)
    local z = mean + lg.randn_like(mean) * (log_variance / 2):exp()
    local kl = (mean:square() + log_variance:exp() - log_variance - 1):sum() / 2
    return F.mse_loss(decoder(z), x) + kl * 0.1
  end)
end

function kinds.siamese()
  local net = perceptron(nn.ReLU())
  local loss = nn.TripletMarginLoss()
  return training(net:parameters(), function()
    return loss(net(lg.randn(4, 6)), net(lg.randn(4, 6)), net(lg.randn(4, 6)))
  end)
end

function kinds.ctc()
  local net = nn.Linear(4, 5)
  return training(net:parameters(), function()
    local log_probabilities = net(lg.randn(6, 2, 4)):log_softmax(3)
    local lengths, target_lengths = lg.tensor({6, 6}, {dtype = "i64"}), lg.tensor({3, 2}, {dtype = "i64"})
    return F.ctc_loss(log_probabilities, lg.randint(1, 5, {2, 3}), lengths, target_lengths)
  end)
end

local kind = lg.run.param("kind", "mlp")
if kind == "list" then
  local names = {}
  for name in pairs(kinds) do names[#names + 1] = name end
  table.sort(names)
  print(table.concat(names, "\n"))
  return
end
local step = assert(kinds[kind], kind)()
for _ in lg.run.steps(4) do lg.run.log {loss = step()} end
