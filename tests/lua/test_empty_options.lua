-- Every function with options accepts an empty table of options, and then does the same as without the table. The
-- annotations for editors give the functions and the types of their required arguments.
local lg = require "lunagrad"
local nn, optim = lg.nn, lg.optim

local file = os.tmpname()
local pictures = file .. ".pictures"
local function net() return nn.Sequential(nn.Linear(4, 4), nn.ReLU()) end
local function sgd() return optim.SGD(nn.Linear(2, 2):parameters(), {lr = 0.1, momentum = 0.9}) end
local function set() return lg.data.TensorDataset(lg.rand(6, 4), lg.arange(6)) end
local function square() return lg.rand(4, 4) + 0.1 end
local function leaf() return lg.rand(3, {dtype = "f64", requires_grad = true}) end
local function sum(x) return (x * x):sum() end
local function always(value) return function() return value end end

local of_type = {
  Tensor = square, integer = always(2), number = always(0.5), string = always(file), boolean = always(true),
  ["function"] = always(sum), fun = always(sum), table = always {}, F = always(sum), T = always(0.5),
  ["integer[]"] = always {2, 2}, ["number[]"] = always {0.5, 0.5},
  ["Tensor[]"] = function() return {lg.rand(4), lg.rand(4)} end,
  ["lunagrad.Tensor"] = square, ["lunagrad.nn.Module"] = net, ["lunagrad.optim.Optimizer"] = sgd,
  ["lunagrad.Parameters"] = function() return nn.Linear(2, 2):parameters() end,
  ["lunagrad.data.Dataset"] = set,
  ["lunagrad.data.Sampler"] = function() return lg.data.SequentialSampler(set()) end,
  ["lunagrad.distributions.Distribution"] = function() return lg.distributions.Normal(lg.zeros(3), 1) end,
  ["lunagrad.nn.PackedSequence"] = function() return nn.utils.rnn.pack_padded_sequence(lg.rand(3, 2, 4), {3, 2}) end,
}

-- Functions whose arguments need more than their types say.
local function written(save, value)
  return function()
    save(file, value)
    return file
  end
end
local function three() return {leaf(), leaf(), leaf()} end
local function pooled() return lg.rand(1, 1, 4) end
local given = {
  ["lg.io.onnx_export"] = {always(file), net, function() return lg.rand(1, 4) end},
  ["lg.io.safetensors.load"] = {written(lg.io.safetensors.save, {x = lg.ones(2)})},
  ["lg.io.safetensors.save"] = {always(file), function() return {x = lg.ones(2)} end},
  ["lg.io.npz.save"] = {always(file), function() return {x = lg.ones(2)} end},
  ["lg.io.csv.load"] = {written(lg.io.csv.save, lg.ones(2, 2))},
  ["lg.data.csv"] = {written(lg.io.csv.save, lg.ones(2, 2))},
  ["lg.io.png.load"] = {written(lg.io.png.save, lg.zeros({3, 4, 4}, {dtype = "u8"}))},
  ["lg.data.text"] = {written(function(path)
    local out <close> = io.open(path, "w")
    out:write(("text "):rep(20))
  end), always(4)},
  ["lg.data.random_split"] = {set, always {0.5, 0.5}},
  ["lg.data.image_folder"] = {function()
    os.execute(("mkdir -p '%s/class'"):format(pictures))
    lg.io.png.save(pictures .. "/class/1.png", lg.zeros({3, 4, 4}, {dtype = "u8"}))
    return pictures
  end},
  ["lg.distributed.pipeline"] = {function() return {net()} end, always(1)},
  ["lg.distributed.send"] = {square, always(1)},
  ["lg.distributed.receive"] = {always(1)},
  ["lg.distributions.Uniform"] = {always(0), always(1)},
  ["lg.distributions.Independent"] = {of_type["lunagrad.distributions.Distribution"], always(1)},
  ["lg.distributions.TransformedDistribution"] = {of_type["lunagrad.distributions.Distribution"],
    function() return lg.distributions.AffineTransform(0, 1) end},
  ["lg.distributions.MixtureSameFamily"] = {
    function() return lg.distributions.Categorical {probs = lg.ones(3)} end, of_type["lunagrad.distributions.Distribution"]},
  ["lg.func.jvp"] = {always(sum), function() return {leaf()} end, function() return {leaf()} end},
  ["lg.normal"] = {square},
  ["lg.nn.AdaptiveLogSoftmaxWithLoss"] = {always(4), always(6), always {2, 4}},
  ["lg.nn.functional.max_pool1d_with_indices"] = {function() return lg.rand(1, 1, 4) end, always(2)},
  ["lg.nn.functional.max_pool2d_with_indices"] = {function() return lg.rand(1, 1, 4, 4) end, always(2)},
  ["lg.nn.functional.max_pool3d_with_indices"] = {function() return lg.rand(1, 1, 4, 4, 4) end, always(2)},
  ["lg.nn.utils.rnn.pack_padded_sequence"] = {function() return lg.rand(3, 2, 4) end, always {3, 2}},
  ["lg.nn.utils.parametrize.register_parametrization"] = {function() return nn.Linear(4, 4) end, always "weight", net},
  ["lg.nn.utils.parametrize.remove_parametrizations"] = {function()
    return nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
  end, always "weight"},
  ["lg.nn.Module:load_state_dict"] = {function() return net():state_dict() end},
  ["lg.grad.vjp"] = {always(sum), leaf, always()},
  ["lg.empty_permuted"] = {always {2, 3}, always {1, 2}},
  ["Tensor:backward"] = {self = function() return sum(leaf()) end},
  ["Tensor:gradients"] = {self = function() return sum(leaf()) end},
}

-- One option at least is needed, or another process, or a state: the error is the same without a table and with an empty one.
local needs = {
  ["lg.distributed.pipeline"] = true, ["lg.distributions.Bernoulli"] = true, ["lg.distributions.Geometric"] = true,
  ["lg.distributions.Binomial"] = true, ["lg.distributions.Categorical"] = true,
  ["lg.distributions.OneHotCategorical"] = true, ["lg.distributions.Multinomial"] = true,
  ["lg.distributions.MultivariateNormal"] = true, ["lg.distributed.send"] = true, ["lg.distributed.receive"] = true,
  ["lg.run.checkpoint"] = true,
}

-- Reads the annotations: functions, each with its required arguments' types, where options may follow.
local function read(path, found)
  local prefixes, params, class, options = {}, {}, nil, nil
  for line in io.lines(path) do
    local name, optional, kind = line:match "^%-%-%-@param ([%w_.]+)(%??) (.*)"
    local call = line:match "^%-%-%-@type fun%((.*)"
    if name == "options" or name == "opts" then
      options = optional ~= "" and "optional" or "required"
    elseif name then
      if optional == "" and name ~= "..." then params[#params + 1] = kind:match "^fun" or kind:match "^[^%s|]+" end
    elseif call and call:find "options%?:" then
      params, options = {call:match "^params: ([%w.]+)"}, "optional"
    elseif line:match "^%-%-%-@class" then
      class = line:match "^%-%-%-@class ([%w.]+)"
    elseif not line:match "^%-%-%-" then
      local variable = line:match "^local (%w+) = {}"
      if variable and class then prefixes[variable] = class:gsub("^lunagrad", "lg") end
      local holder, joint, rest = line:match "^function (%w+)([.:])([%w_.]+)%("
      if not holder then holder, rest = line:match "^(%w+)%.([%w_]+) = " end
      if options and holder then
        found[#found + 1] = {name = (prefixes[holder] or holder) .. (joint or ".") .. rest, params = params, options = options}
      end
      if not line:match "^%s*$" and not variable then class = nil end
      params, options = {}, nil
    end
  end
end

local source = debug.getinfo(nn.Linear.forward, "S").source:match "^@(.*)/lunagrad/nn/"
local functions = {}
local list <close> = assert(io.popen(("ls '%s'/meta/*.lua '%s'/lunagrad/optim/*.lua"):format(source, source)))
for path in list:lines() do read(path, functions) end


local objects = {
  Tensor = square, ["lg.nn.Module"] = net, ["lg.optim.Optimizer"] = sgd,
}

-- The function, and the arguments of a call, in fresh values.
local function made(f)
  local holder, method = f.name:match "^([^:]+):(.+)$"
  local mine, args = given[f.name] or {}, {n = 0}
  local function add(make)
    args.n = args.n + 1
    args[args.n] = make()
  end
  if holder then add(mine.self or objects[holder]) end
  for i, kind in ipairs(f.params) do
    add(mine[i] or of_type[kind] or error(("%s takes a %s; list its arguments in this test"):format(f.name, kind)))
  end
  if mine[#f.params + 1] then add(mine[#f.params + 1]) end
  if method then return args[1][method], args end
  local value = lg
  for name in f.name:gmatch "%.([%w_]+)" do value = value[name] end
  return value, args
end

local function call(f, ...)
  lg.manual_seed(0)
  local called, args = made(f)
  args = table.pack(table.unpack(table.move({...}, 1, select("#", ...), args.n + 1, args), 1, args.n + select("#", ...)))
  local ok, message = pcall(called, table.unpack(args, 1, args.n))
  return ok, not ok and tostring(message):gsub("^.-%.lua:%d+: ", "") or nil
end

lg.distributed.init()
describe("an empty table of options", function()
  for _, f in ipairs(functions) do
    it("is taken by " .. f.name, function()
      local with, said = call(f, {})
      if f.options == "required" then return assert(with or not said:find("table", 1, true), said) end
      if f.name == "lg.run.watch" then return assert(with, said) end  -- once for each model
      local without, message = call(f)
      assert(without or needs[f.name], message)
      assert(with == without and said == message, said)
    end)
  end
  it("is taken by views of several parts", function()
    local x = lg.rand(4, 4)
    expect.equal(x:split(2, {})[2], x:split(2)[2])
    expect.equal(x:chunk(2, {})[2], x:chunk(2)[2])
    expect.equal(x:unbind {}[2], x:unbind()[2])
    expect.equal(x:tensor_split(2, {})[2], x:tensor_split(2)[2])
    expect.equal(x:softmax(1, {}), x:softmax(1))
  end)
  it("was tried with all functions", function() assert(#functions > 240, #functions) end)
end)
os.remove(file)
os.execute(("rm -r '%s'"):format(pictures))
