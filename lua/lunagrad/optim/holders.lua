-- The living objects that hold lists of parameters: optimizers and averages. When a parameter is replaced in a model,
-- their lists must be updated.
local holders = {}

local alive = setmetatable({}, {__mode = "k"})  -- object -> its number
local count = 0

function holders.add(object)
  count = count + 1
  alive[object] = count
  return object
end

function holders.is(object) return alive[object] ~= nil end

-- The living holders, oldest first.
function holders.all()
  local list = {}
  for object in pairs(alive) do list[#list + 1] = object end
  table.sort(list, function(a, b) return alive[a] < alive[b] end)
  return list
end

local copies = setmetatable({}, {__mode = "k"})  -- averaged model -> the model that it copies

-- Notes that `copy`, a module, has the structure of `model`.
function holders.add_copy(copy, model) copies[copy] = setmetatable({model = model}, {__mode = "v"}) end

-- The copies of a model.
function holders.copies_of(model)
  local list = {}
  for copy, of in pairs(copies) do
    if of.model == model then list[#list + 1] = copy end
  end
  return list
end

return holders
