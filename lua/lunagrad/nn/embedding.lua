-- Embedding(num_embeddings, embedding_dim, {padding_idx, max_norm, norm_type, scale_grad_by_freq}): looks up a row of
-- the weight for each id.
-- EmbeddingBag(num_embeddings, embedding_dim, {max_norm, norm_type, scale_grad_by_freq, mode, include_last_offset,
-- padding_idx}): the mean, sum or maximum of the rows of each bag of ids; bag(ids, offsets, per_sample_weights). Ids
-- count from 0; a negative padding_idx counts from the end.
--   nn.Embedding.from_pretrained(weight, {freeze = true, …})
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

-- The base class: padding row, weight and the options that both classes share.
local Table = class("EmbeddingTable")

function Table:setup(a)
  local rows, width = a.num_embeddings, a.embedding_dim
  self.num_embeddings, self.embedding_dim = rows, width
  local padding = a.padding_idx
  if padding then
    if math.type(padding) ~= "integer" or padding < -rows or padding >= rows then
      core._fail(("%s: padding_idx %s is out of range for %d rows"):format(self.__name, tostring(padding), rows))
    end
    padding = padding < 0 and padding + rows or padding
  end
  if a.sparse then core._fail(self.__name .. ": sparse gradients do not exist; leave sparse out") end
  self.padding_idx, self.max_norm, self.norm_type = padding, a.max_norm, a.norm_type
  self.scale_grad_by_freq = a.scale_grad_by_freq
  if a._weight then
    if a._weight:dim() ~= 2 or a._weight:size(1) ~= rows or a._weight:size(2) ~= width then
      core._fail(("%s: a weight of shape [%d, %d] expected (got [%s])"):format(self.__name, rows, width,
        table.concat(a._weight:size(), ", ")))
    end
    self.weight = a._weight:detach():requires_grad_()
    return
  end
  self.weight = init._parameter({rows, width}, a, init.normal_, 0, 1)
  if padding then
    local _ <close> = core.no_grad()
    self.weight:narrow(1, padding + 1, 1):zero_()
  end
end

function Table:extra_repr()
  local parts = {("%d, %d"):format(self.num_embeddings, self.embedding_dim)}
  for _, option in ipairs {
    {"padding_idx"}, {"max_norm"}, {"norm_type", 2}, {"scale_grad_by_freq", false}, {"mode", "mean"},
  } do
    local value = rawget(self, option[1])
    if value ~= nil and value ~= option[2] then
      parts[#parts + 1] = ("%s = %s"):format(option[1], type(value) == "string" and ("%q"):format(value) or tostring(value))
    end
  end
  return table.concat(parts, ", ")
end

-- Class.from_pretrained(weight, {freeze = true, …}), also written with a colon.
local function add_from_pretrained(Class, name, ...)
  local read = reader(name .. ".from_pretrained", "embeddings", {"freeze", true}, ...)

  function Class.from_pretrained(first, ...)
    local a = rawequal(first, Class) and read(...) or read(first, ...)
    local weight = a.embeddings
    if not core.is_tensor(weight) or weight:dim() ~= 2 then
      core._fail(("%s.from_pretrained: a tensor of 2 dims expected (got %s)"):format(name,
        core.is_tensor(weight) and ("shape [%s]"):format(table.concat(weight:size(), ", ")) or type(weight)))
    end
    a.num_embeddings, a.embedding_dim, a._weight = weight:size(1), weight:size(2), weight
    a.embeddings = nil
    local freeze = a.freeze
    a.freeze = nil
    local module = Class(a)
    if freeze then module:requires_grad_(false) end
    return module
  end
end

local Embedding = class("Embedding", Table)
local read = reader("Embedding", "num_embeddings", "embedding_dim", {"padding_idx"}, {"max_norm"}, {"norm_type", 2},
  {"scale_grad_by_freq", false}, {"sparse", false}, {"_weight"}, {"device"}, {"dtype"})

function Embedding:init(...) self:setup(read(...)) end

function Embedding:forward(ids)
  if self.max_norm or self.scale_grad_by_freq then
    return core.embedding(ids, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)
  end
  return core.embedding(ids, self.weight, self.padding_idx)
end

add_from_pretrained(Embedding, "Embedding", {"padding_idx"}, {"max_norm"}, {"norm_type", 2}, {"scale_grad_by_freq", false},
  {"sparse", false})

local EmbeddingBag = class("EmbeddingBag", Table)
local read_bag = reader("EmbeddingBag", "num_embeddings", "embedding_dim", {"max_norm"}, {"norm_type", 2},
  {"scale_grad_by_freq", false}, {"mode", "mean"}, {"sparse", false}, {"_weight"}, {"include_last_offset", false},
  {"padding_idx"}, {"device"}, {"dtype"})

function EmbeddingBag:init(...)
  local a = read_bag(...)
  if a.mode ~= "sum" and a.mode ~= "mean" and a.mode ~= "max" then
    core._fail(("EmbeddingBag: mode must be 'sum', 'mean' or 'max' (got '%s')"):format(tostring(a.mode)))
  end
  self.mode, self.include_last_offset = a.mode, a.include_last_offset
  self:setup(a)
end

function EmbeddingBag:forward(input, offsets, per_sample_weights)
  return core.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
    false, per_sample_weights, self.include_last_offset, self.padding_idx)
end

add_from_pretrained(EmbeddingBag, "EmbeddingBag", {"max_norm"}, {"norm_type", 2}, {"scale_grad_by_freq", false},
  {"mode", "mean"}, {"sparse", false}, {"include_last_offset", false}, {"padding_idx"})

return {Embedding = Embedding, EmbeddingBag = EmbeddingBag}
