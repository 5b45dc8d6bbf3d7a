-- AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs, {div_value = 4, head_bias = false}): a softmax over many
-- classes in clusters, the frequent classes first, the rarer ones with fewer features (Grave et al., ICML 2017).
-- cutoffs are the first classes of the clusters. loss_module(input, target) returns the log-probabilities of the
-- targets and the mean loss.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local Linear = require "lunagrad.nn.linear"
local containers = require "lunagrad.nn.containers"
local reader = require("lunagrad.arguments").reader

local fail = core._fail

local Adaptive = class("AdaptiveLogSoftmaxWithLoss")
local read = reader("AdaptiveLogSoftmaxWithLoss", "in_features", "n_classes", "cutoffs", {"div_value", 4}, {"head_bias", false},
  {"device"}, {"dtype"})

local function check_cutoffs(a)
  if type(a.cutoffs) ~= "table" or #a.cutoffs == 0 then
    fail(("AdaptiveLogSoftmaxWithLoss: cutoffs must be a list of classes (got %s)"):format(tostring(a.cutoffs)))
  end
  local before = 0
  for i, cutoff in ipairs(a.cutoffs) do
    if math.type(cutoff) ~= "integer" or cutoff <= before or cutoff >= a.n_classes then
      fail(("AdaptiveLogSoftmaxWithLoss: cutoffs must be integers that grow from 1 to %d (got %s at position %d)"):format(
        a.n_classes - 1, tostring(cutoff), i))
    end
    before = cutoff
  end
end

function Adaptive:init(...)
  local a = read(...)
  check_cutoffs(a)
  self.in_features, self.n_classes, self.div_value, self.head_bias = a.in_features, a.n_classes, a.div_value, a.head_bias
  self.cutoffs = table.move(a.cutoffs, 1, #a.cutoffs, 1, {})
  self.cutoffs[#self.cutoffs + 1] = a.n_classes
  self.shortlist_size = self.cutoffs[1]
  self.n_clusters = #self.cutoffs - 1
  self.head_size = self.shortlist_size + self.n_clusters
  local options = {bias = false, device = a.device, dtype = a.dtype}
  self.head = Linear(a.in_features, self.head_size, {bias = a.head_bias, device = a.device, dtype = a.dtype})
  self.tail = containers.ModuleList()
  for i = 1, self.n_clusters do
    local width = math.tointeger(math.floor(a.in_features / a.div_value ^ i))
    self.tail:append(containers.Sequential(
      Linear(a.in_features, width, options), Linear(width, self.cutoffs[i + 1] - self.cutoffs[i], options)))
  end
end

local function check_input(self, x, single)
  local wanted = single and 1 or 2
  if x:dim() ~= wanted or x:size(-1) ~= self.in_features then
    fail(("AdaptiveLogSoftmaxWithLoss: an input of %d dims with %d features expected (got shape [%s])"):format(wanted,
      self.in_features, table.concat(x:size(), ", ")))
  end
end

function Adaptive:forward(x, target)
  if target:dim() > 1 then
    fail(("AdaptiveLogSoftmaxWithLoss: a target of at most 1 dim expected (got shape [%s])"):format(
      table.concat(target:size(), ", ")))
  end
  local single = target:dim() == 0
  check_input(self, x, single)
  if single then x, target = x:unsqueeze(1), target:unsqueeze(1) end
  if target:size(1) ~= x:size(1) then
    fail(("AdaptiveLogSoftmaxWithLoss: %d inputs and %d targets"):format(x:size(1), target:size(1)))
  end
  if target:numel() > 0 then
    local least, most = target:min():item(), target:max():item()
    if least < 0 or most >= self.n_classes then
      fail(("AdaptiveLogSoftmaxWithLoss: targets must be 0 to %d (got %d to %d)"):format(self.n_classes - 1, least, most))
    end
  end
  -- The column of the head for each target: its class, or its cluster.
  local column, inside = target, {}
  for i = 1, self.n_clusters do
    local mask = target:ge(self.cutoffs[i]):logical_and(target:lt(self.cutoffs[i + 1]))
    column = column:masked_fill(mask, self.shortlist_size + i - 1)
    inside[i] = mask:nonzero():squeeze(2)
  end
  local output = self.head(x):log_softmax(2):gather(2, column:unsqueeze(2)):squeeze(2)
  for i, rows in ipairs(inside) do
    if rows:numel() > 0 then
      local own = (target:index_select(1, rows) - self.cutoffs[i]):unsqueeze(2)
      local log_prob = self.tail[i](x:index_select(1, rows)):log_softmax(2):gather(2, own):squeeze(2)
      output = output:index_add(1, rows, log_prob:to(output:dtype()))
    end
  end
  local loss = -output:mean()
  return single and output:squeeze(1) or output, loss
end

-- The log-probabilities of all classes, [N, n_classes].
function Adaptive:log_prob(x)
  check_input(self, x)
  local head = self.head(x):log_softmax(2)
  local parts = {head:narrow(2, 1, self.shortlist_size)}
  for i = 1, self.n_clusters do
    parts[i + 1] = self.tail[i](x):log_softmax(2) + head:narrow(2, self.shortlist_size + i, 1)
  end
  return core.cat(parts, 2)
end

-- The most probable classes, [N], from 0.
function Adaptive:predict(x)
  return self:log_prob(x):argmax(2)
end

function Adaptive:extra_repr()
  return ("%d, %d, cutoffs = {%s}"):format(self.in_features, self.n_classes,
    table.concat(self.cutoffs, ", ", 1, self.n_clusters))
end

return {AdaptiveLogSoftmaxWithLoss = Adaptive}
