local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

-- Every loss module computes what its function does, with its options by position and by name.
local x, y = lg.randn(4, 3), lg.randn(4, 3)
local signs = lg.tensor {1, -1, 1, -1}
local chances, shares = x:sigmoid(), y:sigmoid()
local logs, labels = x:log_softmax(2), lg.tensor {0, 2, 1, 1}
local cases = {
  {nn.MSELoss(), "mse_loss", {x, y}},
  {nn.L1Loss "sum", "l1_loss", {x, y}, {reduction = "sum"}},
  {nn.SmoothL1Loss {beta = 0.5}, "smooth_l1_loss", {x, y}, {beta = 0.5}},
  {nn.HuberLoss("none", 0.5), "huber_loss", {x, y}, {reduction = "none", delta = 0.5}},
  {nn.CrossEntropyLoss {label_smoothing = 0.1}, "cross_entropy", {x, labels}, {label_smoothing = 0.1}},
  {nn.NLLLoss {ignore_index = 1}, "nll_loss", {logs, labels}, {ignore_index = 1}},
  {nn.BCELoss(), "binary_cross_entropy", {chances, shares}},
  {nn.BCEWithLogitsLoss {pos_weight = lg.tensor {1.0, 2, 3}}, "binary_cross_entropy_with_logits", {x, shares},
    {pos_weight = lg.tensor {1.0, 2, 3}}},
  {nn.KLDivLoss "batchmean", "kl_div", {logs, shares}, {reduction = "batchmean"}},
  {nn.PoissonNLLLoss {full = true}, "poisson_nll_loss", {x, shares * 4}, {full = true}},
  {nn.GaussianNLLLoss(true), "gaussian_nll_loss", {x, y, shares}, {full = true}},
  {nn.CosineSimilarity(), "cosine_similarity", {x, y}},
  {nn.CosineSimilarity(1), "cosine_similarity", {x, y}, {dim = 1}},
  {nn.CosineEmbeddingLoss(0.2), "cosine_embedding_loss", {x, y, signs}, {margin = 0.2}},
  {nn.TripletMarginLoss {margin = 2, swap = true}, "triplet_margin_loss", {x, y, x + y}, {margin = 2, swap = true}},
  {nn.MarginRankingLoss(0.5), "margin_ranking_loss", {x:select(2, 1), y:select(2, 1), signs}, {margin = 0.5}},
  {nn.HingeEmbeddingLoss(), "hinge_embedding_loss", {x:select(2, 1), signs}},
  {nn.SoftMarginLoss(), "soft_margin_loss", {x:select(2, 1), signs}},
  {nn.MultiLabelSoftMarginLoss {weight = lg.tensor {1.0, 2, 3}}, "multilabel_soft_margin_loss", {x, shares},
    {weight = lg.tensor {1.0, 2, 3}}},
}
for _, case in ipairs(cases) do
  local module, op, inputs, options = table.unpack(case)
  local arguments = table.move(inputs, 1, #inputs, 1, {})
  arguments[#arguments + 1] = options
  expect.equal(module(table.unpack(inputs)), F[op](table.unpack(arguments)), op)
end
expect.equal(tostring(nn.HuberLoss {delta = 0.5}), "HuberLoss(delta = 0.5)")

-- A weight is a buffer: it is in the state dict and moves with the module.
local weighted = nn.CrossEntropyLoss {weight = lg.tensor {1.0, 2, 3}}
expect.equal(weighted:state_dict().weight:tolist(), {1.0, 2.0, 3.0})
weighted:to "f64"
expect.equal(weighted(x:double(), labels):dtype(), "f64")

-- Multi-label: PyTorch's values, with and without weights of the classes, and its gradient.
local scores = lg.tensor({{0.5, -1.25, 2}, {-0.75, 0, 1.5}}, {dtype = "f64", requires_grad = true})
local tags, class_weight = lg.tensor {{1, 0, 1}, {0, 1, 1}}, lg.tensor({1, 2, 0.5}, {dtype = "f64"})
expect.close(F.multilabel_soft_margin_loss(scores, tags):item(), 0.35572759020434164, 1e-14)
expect.close(F.multilabel_soft_margin_loss(scores, tags, class_weight, "none"), {0.3471330507974462, 0.6246240020753889}, 1e-14)
expect.close(F.multilabel_soft_margin_loss(scores, tags, {reduction = "sum"}):item(), 0.7114551804086833, 1e-14)
nn.MultiLabelSoftMarginLoss {weight = class_weight}(scores, tags):backward()
expect.close(scores.grad, {{-0.0629234447996909, 0.07423337960843628, -0.009933576835176462},
  {0.05347021680410116, -0.16666666666666666, -0.015202126983863026}}, 1e-14)
expect.raises("multilabel_soft_margin_loss: input has shape [2, 3] and target [3]", function()
  F.multilabel_soft_margin_loss(scores, tags[1])
end)
expect.raises("multilabel_soft_margin_loss: reduction must be 'none', 'mean' or 'sum' (got 'max')", function()
  F.multilabel_soft_margin_loss(scores, tags, {reduction = "max"})
end)

-- CTC: lengths as tables or tensors, targets padded or concatenated.
local log_probs = lg.randn(6, 2, 4):log_softmax(3)
local ctc = nn.CTCLoss()
local padded = ctc(log_probs, lg.tensor {{1, 2, 3}, {3, 0, 0}}, {6, 5}, {3, 1})
expect.equal(ctc(log_probs, lg.tensor {1, 2, 3, 3}, lg.tensor {6, 5}, lg.tensor {3, 1}), padded)
expect.equal(nn.CTCLoss {reduction = "none"}(log_probs, lg.tensor {1, 2, 3, 3}, {6, 5}, {3, 1}):size(), {2})
expect.equal(F.ctc_loss(log_probs, lg.tensor {{1, 2, 3}, {3, 0, 0}}, {6, 5}, {3, 1}), padded)
-- One step and one label have one path.
expect.close(ctc(log_probs[{{1, 1}, {1, 1}, {}}], lg.tensor {2}, {1}, {1}):item(), -log_probs[1][1][3]:item(), 1e-6)
-- Three labels do not fit into two steps.
local short = log_probs:narrow(1, 1, 2)
assert(ctc(short, lg.tensor {{1, 2, 3}, {3, 0, 0}}, {2, 2}, {3, 1}):item() == math.huge)
assert(nn.CTCLoss {zero_infinity = true}(short, lg.tensor {{1, 2, 3}, {3, 0, 0}}, {2, 2}, {3, 1}):item() < 100)
-- The gradient with respect to the logits sums to 0 over the classes; differentiating it again is an error.
local logits = lg.randn(6, 2, 4, {requires_grad = true})
ctc(logits:log_softmax(3), lg.tensor {{1, 2, 3}, {3, 0, 0}}, {6, 5}, {3, 1}):backward()
expect.close(logits.grad:sum(3), lg.zeros(6, 2), 1e-6)
assert(logits.grad[6][2]:abs():max():item() == 0)
local gradient = lg.grad(ctc(logits:log_softmax(3), lg.tensor {{1}, {3}}, {6, 5}, {1, 1}), logits, {create_graph = true})
expect.raises("ctc_loss: its gradient cannot be differentiated a second time", function()
  (gradient * gradient):sum():backward()
end)

-- NaN in target probabilities propagates; an invalid target is an error.
local nan = 0 / 0
local loss = F.cross_entropy(lg.zeros(1, 2), lg.tensor {{nan, 1.0}})
assert(loss:item() ~= loss:item())
expect.raises("label 3 at position 2 is out of range for 3 classes", function() F.cross_entropy(x, lg.tensor {0, 3, 0, 0}) end)
expect.raises("l1_loss: input has shape [4, 1] and target [4]", function() F.l1_loss(lg.zeros(4, 1), lg.zeros(4)) end)
expect.raises("ctc_loss: targets must be i64, i32 or u8 (got f32)", function()
  ctc(log_probs, lg.tensor {{1.0}, {1.0}}, {6, 6}, {1, 1})
end)

-- Bilinear against its formula.
local bilinear = nn.Bilinear(3, 2, 4)
local a, b = lg.randn(5, 3), lg.randn(5, 2)
local wanted = {}
for n = 1, 5 do
  wanted[n] = {}
  for o = 1, 4 do
    wanted[n][o] = (a[n]:unsqueeze(1):matmul(bilinear.weight[o]):matmul(b[n]:unsqueeze(2)):sum() + bilinear.bias[o]):item()
  end
end
expect.close(bilinear(a, b), wanted, 1e-5)
expect.equal(bilinear(lg.ones(3), lg.ones(2)):size(), {4})
bilinear(a, b):sum():backward()
expect.equal(bilinear.weight.grad:size(), {4, 3, 2})
expect.raises("bilinear: inputs of shapes [5, 2] and [5, 3] need a weight [out, 2, 3] (got shape [4, 3, 2])", function() bilinear(b, a) end)

-- Containers.
local list = nn.ModuleList {nn.Linear(1, 2), nn.Linear(2, 3)}
list:extend {nn.Linear(3, 4)}:insert(1, nn.ReLU())
assert(#list == 4 and list[1].__name == "ReLU" and list[4].out_features == 4)
assert(list:state_dict()["3.weight"] and not list:state_dict()["0.weight"])
assert(list:pop(1).__name == "ReLU" and #list == 3 and list:state_dict()["0.weight"])
expect.raises("ModuleList: item 1 is a number, not a module", function() nn.ModuleList {5} end)
expect.raises("ModuleList: position 9 is out of range for 3 modules", function() list:insert(9, nn.ReLU()) end)
local dict = nn.ModuleDict {{"second", nn.Linear(1, 2)}, {"first", nn.ReLU()}}
expect.equal(dict:keys(), {"second", "first"})
expect.equal(nn.ModuleDict {b = nn.ReLU(), a = nn.Tanh()}:keys(), {"a", "b"})
assert(#dict == 2 and dict.first.__name == "ReLU" and dict:state_dict()["second.weight"] and #dict:parameters() == 2)
dict:set("third", nn.Tanh()):update {first = nn.Tanh()}
assert(dict.first.__name == "Tanh" and dict:contains "third" and not dict:contains "fourth")
assert(dict:pop("second").out_features == 2 and #dict == 2 and #dict:parameters() == 0)
for name, module in dict:items() do assert(dict[name] == module) end
expect.raises("ModuleDict: 'forward' is the name of a field or method", function() dict:set("forward", nn.ReLU()) end)
expect.raises("ModuleDict: there is no module 'second'", function() dict:pop "second" end)
assert(#dict:clear() == 0)

-- Parameters to one vector and back.
local net = nn.Linear(3, 2)
local vector = nn.utils.parameters_to_vector(net:parameters())
expect.equal(vector:size(), {8})
nn.utils.vector_to_parameters(lg.arange(8):float(), net:parameters())
expect.equal(net.weight:detach(), lg.tensor {{0.0, 1, 2}, {3, 4, 5}})
expect.equal(net.bias:detach(), lg.tensor {6.0, 7})
expect.raises("vector_to_parameters: a vector of 8 elements expected (got shape [7])", function()
  nn.utils.vector_to_parameters(lg.zeros(7), net:parameters())
end)
