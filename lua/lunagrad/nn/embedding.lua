-- Embedding(num_embeddings, embedding_dim): looks up a row of the weight for each id. Ids count from 0.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

local Embedding = class("Embedding")
local read = reader("Embedding", "num_embeddings", "embedding_dim", {"device"}, {"dtype"})

function Embedding:init(...)
  local a = read(...)
  self.num_embeddings, self.embedding_dim = a.num_embeddings, a.embedding_dim
  self.weight = init._parameter({a.num_embeddings, a.embedding_dim}, a, init.normal_, 0, 1)
end

function Embedding:forward(ids)
  return core.embedding(ids, self.weight)
end

function Embedding:extra_repr()
  return ("%d, %d"):format(self.num_embeddings, self.embedding_dim)
end

return Embedding
