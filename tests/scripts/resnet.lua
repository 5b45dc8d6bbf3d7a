-- A small ResNet on the digits: BatchNorm, augmentation, a schedule of the rate, and a checkpoint of the best epoch.
-- He, Zhang, Ren, Sun, "Deep residual learning for image recognition", 2016.
local lg = require "lunagrad"
local nn, F, optim, data = lg.nn, lg.nn.functional, lg.optim, lg.data
local T = data.transform

local Block = nn.class("Block")
function Block:init(in_planes, planes, stride)
  self.conv1 = nn.Conv2d(in_planes, planes, 3, {stride = stride, padding = 1, bias = false})
  self.bn1 = nn.BatchNorm2d(planes)
  self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, {bias = false})
  self.bn2 = nn.BatchNorm2d(planes)
  self.shortcut = nn.Identity()
  if stride ~= 1 or in_planes ~= planes then
    local conv = nn.Conv2d(in_planes, planes, 1, {stride = stride, bias = false})
    self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(planes))
  end
end
function Block:forward(x)
  local out = F.relu(self.bn1(self.conv1(x)), {inplace = true})
  return F.relu(self.bn2(self.conv2(out)) + self.shortcut(x))
end

local ResNet = nn.class("ResNet")
function ResNet:init(num_classes)
  local conv = nn.Conv2d(1, 8, 3, {padding = 1, bias = false})
  self.stem = nn.Sequential {{"conv", conv}, {"bn", nn.BatchNorm2d(8)}, {"act", nn.ReLU(true)}}
  self.layer1, self.layer2 = Block(8, 8, 1), Block(8, 16, 2)
  self.avgpool, self.fc = nn.AdaptiveAvgPool2d({1, 1}), nn.Linear(16, num_classes)
  for _, m in ipairs(self:modules()) do
    if nn.isinstance(m, nn.Conv2d) then
      nn.init.kaiming_normal_(m.weight, {mode = "fan_out", nonlinearity = "relu"})
    elseif nn.isinstance(m, nn.BatchNorm2d) then
      nn.init.constant_(m.weight, 1)
      nn.init.constant_(m.bias, 0)
    end
  end
end
function ResNet:forward(x)
  local out = self.layer2(self.layer1(self.stem(x)))
  return self.fc(lg.flatten(self.avgpool(out), 2))
end

local folder = arg[0]:match("^(.*)/") or "."
local rows = data.csv(folder .. "/../../assets/data/digits.csv")
local images, labels = rows[{{}, {1, 64}}]:div(16):view(-1, 1, 8, 8), rows[{{}, 65}]:long()
local augment = T.compose {T.random_crop(8, {padding = 1}), T.normalize({0.5}, {0.5})}
local train_set, test_set = data.random_split(data.TensorDataset(images, labels), {0.8, 0.2}, {seed = 0})
local function collate(batch)
  local x, y = data.default_collate(batch)
  return augment(x), y
end
local train_loader = data.DataLoader(train_set, {batch_size = 64, shuffle = true, collate_fn = collate})
local test_loader = data.DataLoader(test_set, {batch_size = 256})

local device = lg.device()
local model, criterion = ResNet(10):to(device), nn.CrossEntropyLoss {label_smoothing = 0.1}
local decay, no_decay, epochs = {}, {}, 3
for _, p in model:named_parameters() do table.insert(p:dim() > 1 and decay or no_decay, p) end
local groups = {{params = decay, weight_decay = 5e-4}, {params = no_decay, weight_decay = 0}}
local optimizer = optim.SGD(groups, {lr = 0.1, momentum = 0.9, nesterov = true})
local scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 0.2, {epochs = epochs, steps_per_epoch = #train_loader})

local path, best_acc = os.tmpname(), 0
for epoch = 1, epochs do
  model:train()
  local running_loss = 0
  for inputs, targets in train_loader do
    inputs, targets = inputs:to(device, {non_blocking = true}), targets:to(device)
    optimizer:zero_grad({set_to_none = true})
    local loss = criterion(model(inputs), targets)
    loss:backward()
    optimizer:step()
    scheduler:step()
    running_loss = running_loss + loss:item() * inputs:size(1)
  end
  model:eval()
  local correct, total = 0, 0
  lg.no_grad(function()
    for inputs, targets in test_loader do
      local _, predicted = model((inputs - 0.5) / 0.5):max(2)
      total = total + targets:size(1)
      correct = correct + predicted:eq(targets):sum():item()
    end
  end)
  local acc = correct / total
  print(("epoch %d: loss %.3f, accuracy %.3f"):format(epoch, running_loss / #train_set, acc))
  if acc > best_acc then
    best_acc = acc
    lg.io.save(path, {model = model:state_dict(), optimizer = optimizer:state_dict(), epoch = epoch, acc = acc})
  end
end

local checkpoint = lg.io.load(path)
os.remove(path)
local best = ResNet(10)
best:load_state_dict(checkpoint.model)
optimizer:load_state_dict(checkpoint.optimizer)
local found = best:eval()((images - 0.5) / 0.5):argmax(2):eq(labels):float():mean():item()
assert(checkpoint.acc > 0.6 and found > 0.6, found)
