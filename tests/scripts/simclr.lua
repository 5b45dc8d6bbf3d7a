-- SimCLR on the digits: two views of each image, a matrix of similarities, NT-Xent; judged by nearest neighbours.
-- Chen, Kornblith, Norouzi, Hinton, "A simple framework for contrastive learning", 2020.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local T = lg.data.transform

local folder = arg[0]:match("^(.*)/") or "."
local rows = lg.data.csv(folder .. "/../../assets/data/digits.csv")
local images, labels = (rows:narrow(2, 1, 64) / 16):view(-1, 1, 8, 8), rows:select(2, 65):long()
local function jitter(x) return x * (lg.rand(#x, 1, 1, 1) + 0.5) + 0.1 * lg.randn_like(x) end
local transform = T.compose {T.random_crop(8, {padding = 1}), jitter}

-- Logits with the positive pair first, as the tutorials of PyTorch write it.
local function info_nce(features, n_views, temperature)
  local batch = features:size(1) // n_views
  local pair = lg.cat({lg.arange(batch), lg.arange(batch)}, 1)
  pair = pair:unsqueeze(1):eq(pair:unsqueeze(2)):float()
  features = F.normalize(features, {dim = 2})
  local similarity = lg.matmul(features, features:t())
  local mask = lg.eye(pair:size(1), {dtype = lg.bool})
  pair = pair[~mask]:view(pair:size(1), -1)
  similarity = similarity[~mask]:view(similarity:size(1), -1)
  local positives = similarity[pair:bool()]:view(pair:size(1), -1)
  local negatives = similarity[~pair:bool()]:view(pair:size(1), -1)
  local logits = lg.cat({positives, negatives}, {dim = 2})
  return logits / temperature, lg.zeros(logits:size(1), {dtype = lg.long})
end

-- The same loss by cross entropy over the matrix with its diagonal hidden.
local function nt_xent(z1, z2, temperature)
  local z, n = lg.cat({z1, z2}), z1:size(1)
  local sim = F.cosine_similarity(z:unsqueeze(2), z:unsqueeze(1), {dim = -1}) / temperature
  sim:diagonal():fill_(-math.huge)
  return F.cross_entropy(sim, lg.arange(2 * n):roll(n))
end

local encoder = nn.Sequential(
  nn.Conv2d(1, 16, 3, {padding = 1}), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
  nn.Conv2d(16, 32, 3, {padding = 1}), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
local projector = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 32))
local model = nn.Sequential {{"encoder", encoder}, {"projector", projector}}

local z = lg.randn(8, 4)
local logits, classes = info_nce(z, 2, 0.5)
assert(lg.allclose(F.cross_entropy(logits, classes), nt_xent(z[{{1, 4}}], z[{{5, 8}}], 0.5), {rtol = 1e-4}))

local loader = lg.data.DataLoader(lg.data.TensorDataset(images), {batch_size = 128, shuffle = true, drop_last = true})
local optimizer = lg.optim.Adam(model:parameters(), {lr = 5e-3, weight_decay = 1e-6})
local scheduler = lg.optim.lr_scheduler.CosineAnnealingLR(optimizer, {T_max = #loader * 3, eta_min = 0})
local losses = {}
for _ = 1, 3 do
  for x in loader do
    local z1, z2 = table.unpack(model(lg.cat({transform(x), transform(x)}, {dim = 1})):chunk(2))
    local loss = nt_xent(z1, z2, 0.2)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    scheduler:step()
    losses[#losses + 1] = loss:item()
    lg.run.log {loss = loss}
  end
end

model:eval()
local accuracy = lg.no_grad(function()
  local feats = F.normalize(model.encoder(images), 2, 2)
  local train, test = feats[{{1, 1400}}], feats[{{1401, -1}}]
  local weights, nearest = test:matmul(train:t()):topk(5, {dim = 2})
  local votes = F.one_hot(labels[{{1, 1400}}][nearest], 10):float()
  local predicted = (votes * weights:unsqueeze(3)):sum(2):argmax(2)
  return predicted:eq(labels[{{1401, -1}}]):float():mean():item()
end)
print(("loss %.2f at first, %.2f at the end; accuracy of neighbours %.3f"):format(losses[1], losses[#losses], accuracy))
assert(losses[#losses] < losses[1] - 0.5 and accuracy > 0.85)
