-- One module for each loss: a row names the class, its function, and the function's options in PyTorch's order with their
-- defaults. The function is an op, or is defined here. Options that are tensors are buffers.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local functional = require "lunagrad.nn.functional"
local reader = require("lunagrad.arguments").reader

local reduction = {"reduction", "mean"}

local function reduce(owner, loss, how)
  if how == "none" then return loss end
  if how == "sum" then return loss:sum() end
  if how == "mean" then return loss:mean() end
  core._fail(("%s: reduction must be 'none', 'mean' or 'sum' (got '%s')"):format(owner, tostring(how)))
end

-- For each sample the mean over its C classes of  -weight (y log sigmoid(x) + (1 - y) log sigmoid(-x))
do
  local name = "multilabel_soft_margin_loss"
  local read = reader(name, "input", "target", {"weight"}, reduction)

  functional[name] = function(...)
    local a = read(...)
    local x, y = a.input, a.target
    local shape, wanted = table.concat(y:size(), ", "), table.concat(x:size(), ", ")
    if shape ~= wanted then core._fail(("%s: input has shape [%s] and target [%s]"):format(name, wanted, shape)) end
    y = y:to(x:dtype())
    local loss = -(y * x:logsigmoid() + (1 - y) * (-x):logsigmoid())
    if a.weight then loss = loss * a.weight end
    return reduce(name, loss:mean(-1), a.reduction)
  end
end

-- max(0, d(anchor, positive) - d(anchor, negative) + margin) for a distance function of the user.
do
  local name = "triplet_margin_with_distance_loss"
  local read = reader(name, "anchor", "positive", "negative", {"distance_function"}, {"margin", 1.0}, {"swap", false},
    reduction)

  functional[name] = function(...)
    local a = read(...)
    local distance = a.distance_function or core.pairwise_distance
    local shape = table.concat(a.anchor:size(), ", ")
    for _, other in ipairs {a.positive, a.negative} do
      if other:dim() ~= a.anchor:dim() then
        core._fail(("%s: anchor has shape [%s] and another input [%s]"):format(name, shape,
          table.concat(other:size(), ", ")))
      end
    end
    local far = distance(a.anchor, a.negative)
    if a.swap then far = core.minimum(far, distance(a.positive, a.negative)) end
    return reduce(name, (distance(a.anchor, a.positive) - far + a.margin):clamp {min = 0}, a.reduction)
  end
end

local rows = {
  {"MSELoss", "mse_loss", reduction},
  {"L1Loss", "l1_loss", reduction},
  {"SmoothL1Loss", "smooth_l1_loss", reduction, {"beta", 1.0}},
  {"HuberLoss", "huber_loss", reduction, {"delta", 1.0}},
  {"CrossEntropyLoss", "cross_entropy", {"weight"}, {"ignore_index", -100}, reduction, {"label_smoothing", 0}},
  {"NLLLoss", "nll_loss", {"weight"}, {"ignore_index", -100}, reduction},
  {"BCELoss", "binary_cross_entropy", {"weight"}, reduction},
  {"BCEWithLogitsLoss", "binary_cross_entropy_with_logits", {"weight"}, reduction, {"pos_weight"}},
  {"KLDivLoss", "kl_div", reduction, {"log_target", false}},
  {"PoissonNLLLoss", "poisson_nll_loss", {"log_input", true}, {"full", false}, {"eps", 1e-8}, reduction},
  {"GaussianNLLLoss", "gaussian_nll_loss", {"full", false}, {"eps", 1e-6}, reduction},
  {"CosineSimilarity", "cosine_similarity", {"dim", 2}, {"eps", 1e-8}},
  {"PairwiseDistance", "pairwise_distance", {"p", 2}, {"eps", 1e-6}, {"keepdim", false}},
  {"CosineEmbeddingLoss", "cosine_embedding_loss", {"margin", 0}, reduction},
  {"TripletMarginLoss", "triplet_margin_loss", {"margin", 1.0}, {"p", 2}, {"eps", 1e-6}, {"swap", false}, reduction},
  {"TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss", {"distance_function"}, {"margin", 1.0},
    {"swap", false}, reduction},
  {"MultiMarginLoss", "multi_margin_loss", {"p", 1}, {"margin", 1.0}, {"weight"}, reduction},
  {"MultiLabelMarginLoss", "multilabel_margin_loss", reduction},
  {"MarginRankingLoss", "margin_ranking_loss", {"margin", 0}, reduction},
  {"HingeEmbeddingLoss", "hinge_embedding_loss", {"margin", 1.0}, reduction},
  {"SoftMarginLoss", "soft_margin_loss", reduction},
  {"MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", {"weight"}, reduction},
  {"CTCLoss", "ctc_loss", {"blank", 0}, reduction, {"zero_infinity", false}},
}

local losses = {}

for _, row in ipairs(rows) do
  local name, op, options = row[1], row[2], table.pack(table.unpack(row, 3))
  local Loss = class(name)
  local read = reader(name, table.unpack(options))

  function Loss:init(...)
    if core.is_tensor((...)) and core.is_tensor((select(2, ...))) then
      core._fail(("%s: the module takes its options here; write nn.%s()(input, target) or F.%s(input, target)"):format(name,
        name, op))
    end
    self.options, self.tensors = read(...), {}
    for _, option in ipairs(options) do
      local value = self.options[option[1]]
      if core.is_tensor(value) then
        self:register_buffer(option[1], value)
        self.tensors[#self.tensors + 1] = option[1]
        self.options[option[1]] = nil
      end
    end
  end

  -- The options with the current buffers: module:to() may have replaced them.
  function Loss:current()
    if #self.tensors == 0 then return self.options end
    local all = {}
    for key, value in pairs(self.options) do all[key] = value end
    for _, key in ipairs(self.tensors) do all[key] = self[key] end
    return all
  end

  local apply = functional[op]
  function Loss:forward(a, b, c)
    if c == nil then return apply(a, b, self:current()) end
    return apply(a, b, c, self:current())
  end

  function Loss:extra_repr()
    local parts = {}
    for _, option in ipairs(options) do
      local value = self.options[option[1]]
      if value ~= option[2] then parts[#parts + 1] = ("%s = %s"):format(option[1], tostring(value)) end
    end
    return table.concat(parts, ", ")
  end

  losses[name] = Loss
end

-- The lengths may be tables of integers.
function losses.CTCLoss:forward(log_probs, targets, input_lengths, target_lengths)
  return functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.options)
end

return losses
