-- Random programs on the CPU and on another device in step: every call must end alike on both, with an error or with results
-- of the same shape, type and values, and so must the gradients at the end. All types, views, 0-d and empty tensors, NaN and
-- infinities, wrong calls.
--
--   lunagrad run tests/fuzz/devices.lua -- PROGRAMS SEED DEVICE SECONDS      (1000, 1, vulkan, no limit)
--
-- Prints how many programs differ, and the first call that does with its operands. A call that differs on operands that
-- differ in their last bits is made again on equal ones first.
local lg = require "lunagrad"
local F = lg.nn.functional
local programs, seed, device = tonumber(arg[1] or 1000), tonumber(arg[2] or 1), arg[3] or "vulkan"
local deadline = arg[4] and os.clock() + tonumber(arg[4]) or math.huge

local function chance(p) return math.random() < p end
local function choose(list) return list[math.random(#list)] end

local TYPES = {"f32", "f32", "f32", "f32", "f16", "bf16", "i64", "i32", "u8", "bool", "c64", "f64"}
local FLOATING = {f16 = true, bf16 = true, f32 = true, f64 = true}
local SHAPES = {{}, {1}, {3}, {4}, {2, 3}, {3, 3}, {3, 1}, {1, 4}, {2, 1, 3}, {2, 3, 4}, {1, 2, 4, 4}, {0}, {2, 0}, {0, 3},
  {5, 7}, {130}, {2, 65}}
-- The error of one call on equal operands, relative to the largest element.
local TOLERANCE = {f32 = 2e-5, c64 = 2e-5, f64 = 1e-5, f16 = 4e-3, bf16 = 3e-2}

-- A tensor of multiples of 1/4, on both devices: {cpu, there, equal = whether the bits are}.
local function leaf()
  local shape, dtype = choose(SHAPES), choose(TYPES)
  local x = lg.randint(dtype == "u8" and 0 or -8, 9, #shape > 0 and shape or {1}, {dtype = "i64", device = "cpu"})
  if FLOATING[dtype] then
    x = (x:to("f32") / 4)
    if chance(0.05) then x = lg.where(x:gt(1), choose {0 / 0, 1 / 0, -1 / 0}, x) end
    x = x:to(dtype)
  elseif dtype == "c64" then
    x = lg.complex(x:to("f32") / 4, x:flip(1):to("f32") / 2)
  elseif dtype == "bool" then
    x = x:gt(0)
  else
    x = x:to(dtype)
  end
  if #shape == 0 then x = x:reshape({}) end
  local there = x:to(device)
  if FLOATING[dtype] and chance(0.5) then
    x:requires_grad_()
    there:requires_grad_()
  end
  return {x, there, equal = true}
end

local function flat(x) return x:detach():to("cpu"):contiguous():reshape({-1}):tolist() end

-- The largest difference of two lists of elements relative to the largest finite element of b; that element (at least 0.01);
-- and whether the lists are equal.
local function distance(a, b)
  local worst, largest, equal = 0, 1e-2, true
  local function is_finite(z) return z[1] - z[1] == 0 and z[2] - z[2] == 0 end
  local function compare(p, q)
    if type(p) == "table" then
      -- Complex products that overflow are Inf or NaN in either part, by the order of the factors.
      if not is_finite(p) and not is_finite(q) then return end
      compare(p[1], q[1])
      return compare(p[2], q[2])
    end
    if p == q and (p ~= 0 or 1 / p == 1 / q) or (p ~= p and q ~= q) then return end
    equal = false
    if p == q then return end
    if type(p) == "boolean" or p ~= p or q ~= q or math.abs(p - q) == math.huge then worst = math.huge return end
    worst = math.max(worst, math.abs(p - q))
  end
  local function size(q)
    if type(q) == "table" then return math.max(size(q[1]), size(q[2])) end
    return type(q) == "number" and q == q and math.abs(q) < math.huge and math.abs(q) or 0
  end
  for i = 1, #b do
    largest = math.max(largest, size(b[i]))
    compare(a[i], b[i])
  end
  return worst / largest, largest, equal
end

local function same_list(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do if a[i] ~= b[i] then return false end end
  return true
end

-- How two results differ, or nil; then whether their bits are equal.
local function difference(here, there, tolerance)
  if not lg.is_tensor(here) then return here ~= there and "another value" or nil, true end
  if here:dtype() ~= there:dtype() then return ("type %s where the CPU has %s"):format(there:dtype(), here:dtype()) end
  if not same_list(here:size(), there:size()) then
    return ("shape [%s] where the CPU has [%s]"):format(table.concat(there:size(), ", "), table.concat(here:size(), ", "))
  end
  local off, _, equal = distance(flat(there), flat(here))
  local bound = TOLERANCE[here:dtype()] and tolerance * TOLERANCE[here:dtype()] or 0
  if not (off <= bound) then return ("values off by %.3g"):format(off) end
  return nil, equal
end

-- Calls: name, function of the random operands. `pick()` gives a value; the call gets the same numbers on both devices, so
-- arguments are drawn first: each entry draws and returns a function of tensors, and the operands.
local unary = {"neg", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "tanh", "sigmoid", "square", "erf",
  "atan", "asinh", "abs", "sinh", "cosh", "expm1", "log1p", "log2", "log10", "exp2", "asin", "acos", "atanh", "acosh", "sinc",
  "relu", "silu", "mish", "gelu", "softplus", "softsign", "logsigmoid", "elu", "selu", "celu", "tanhshrink", "relu6",
  "hardtanh", "hardswish", "hardsigmoid", "leaky_relu", "isnan", "isinf", "isfinite", "nan_to_num", "conj", "norm_sq",
  "real", "imag", "angle", "clone", "contiguous", "t", "zeros_like", "ones_like", "sum", "mean", "prod", "var", "std", "norm",
  "logsumexp", "all", "any", "amax", "amin", "flatten", "squeeze", "trace", "tril", "triu", "cov", "adjoint"}
local jumps = {"floor", "ceil", "round", "trunc", "frac", "sign", "logical_not", "nonzero", "argmax", "argmin", "median"}
local binary = {"add", "sub", "mul", "div", "maximum", "minimum", "atan2", "pow", "logaddexp", "matmul", "outer", "dot", "mv",
  "mm", "bmm", "expand_as", "logical_and", "logical_or", "logical_xor", "isclose", "clamp_min", "clamp_max"}
local jumping_pairs = {"floor_divide", "remainder", "fmod", "eq", "ne", "lt", "le", "gt", "ge"}
local along = {"softmax", "log_softmax", "cumsum", "cumprod", "flip", "logsumexp", "sum", "mean", "prod", "var", "amax", "amin",
  "all", "any", "unsqueeze", "squeeze", "softmin", "std", "logcumsumexp"}
local jumping_along = {"sort", "argsort", "max", "min", "argmax", "argmin", "median", "cummax", "cummin"}
local losses = {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "kl_div",
  "cosine_similarity"}

local function number()
  if chance(0.3) then return math.random(-3, 3) end
  return math.random(-12, 12) / 4
end
local function some_dim() return choose {1, 1, 2, 2, 3, -1, -1, -2, 4} end
local function index(count, below, wrong)
  local list = {}
  for i = 1, count do list[i] = math.random(0, math.max(below - 1, 0)) end
  if wrong and count > 0 then list[math.random(count)] = below + 2 end
  return lg.tensor(#list > 0 and list or {0}, {dtype = "i64", device = "cpu"}):narrow(1, 1, #list)
end

-- The operand of a product in a range in which no part of 600 factors overflows: the order of the factors decides whether
-- that part times 0 is NaN.
local function tame(name, x)
  local product = name == "prod" or name == "cumprod"
  return product and FLOATING[x:dtype()] and x:clamp(-1.1, 1.1) or x
end

-- Each returns a label, the operands, a function of them, and whether it jumps: then it needs operands with equal bits.
local calls = {
  function(pick) local n = choose(unary) return n, {pick()}, function(x) return lg[n](tame(n, x)) end end,
  function(pick) local n = choose(jumps) return n, {pick()}, function(x) return lg[n](x) end, true end,
  function(pick) local n = choose(binary) return n, {pick(), pick()}, function(x, y) return lg[n](x, y) end end,
  function(pick) local n = choose(jumping_pairs) return n, {pick(), pick()}, function(x, y) return lg[n](x, y) end, true end,
  function(pick)
    local n, c = choose {"add", "sub", "mul", "div", "pow", "maximum", "atan2", "isclose"}, number()
    return n .. " with " .. c, {pick()}, function(x) return lg[n](x, c) end
  end,
  function(pick)
    local n, c = choose {"sub", "div", "pow", "add"}, number()
    return c .. " " .. n, {pick()}, function(x) return lg[n](c, x) end
  end,
  function(pick)
    local n, c = choose {"floor_divide", "remainder", "fmod", "eq", "lt", "ge"}, number()
    return n .. " with " .. c, {pick()}, function(x) return lg[n](x, c) end, true
  end,
  function(pick) local n, d = choose(along), some_dim() return n .. " along " .. d, {pick()}, function(x) return lg[n](tame(n, x), d) end end,
  function(pick)
    local n, d = choose(jumping_along), some_dim()
    return n .. " along " .. d, {pick()}, function(x) return lg[n](x, d) end, true
  end,
  function(pick)
    local d, k = some_dim(), math.random(1, 3)
    return ("topk %d along %d"):format(k, d), {pick()}, function(x) return lg.topk(x, k, d) end, true
  end,
  function(pick) local t = choose(TYPES) return "to " .. t, {pick()}, function(x) return x:to(t) end, true end,
  function(pick)
    local d, e = some_dim(), some_dim()
    return ("transpose %d %d"):format(d, e), {pick()}, function(x) return x:transpose(d, e) end
  end,
  function(pick)
    local d, a, n = some_dim(), math.random(1, 3), math.random(0, 3)
    return ("narrow %d %d %d"):format(d, a, n), {pick()}, function(x) return x:narrow(d, a, n) end
  end,
  function(pick)
    local d, i = some_dim(), choose {1, 2, -1}
    return ("select %d %d"):format(d, i), {pick()}, function(x) return x:select(d, i) end
  end,
  function(pick)
    local d, w, s = some_dim(), math.random(1, 3), math.random(1, 2)
    return ("unfold %d %d %d"):format(d, w, s), {pick()}, function(x) return x:unfold(d, w, s) end
  end,
  function(pick) local n = math.random(1, 3) return "expand " .. n, {pick()}, function(x) local s = x:size() table.insert(s, 1, n) return x:expand(s) end end,
  function(pick) return "reshape", {pick()}, function(x) return x:reshape({-1}) end end,
  function(pick) local o = math.random(-1, 1) return "diagonal " .. o, {pick()}, function(x) return x:diagonal(o) end end,
  function(pick) local d = some_dim() return "cat along " .. d, {pick(), pick()}, function(x, y) return lg.cat({x, y, x}, d) end end,
  function(pick) local d = some_dim() return "stack along " .. d, {pick(), pick()}, function(x, y) return lg.stack({x, y}, d) end end,
  function(pick) local p = {math.random(0, 2), math.random(0, 2)} return "pad", {pick()}, function(x) return lg.pad(x, p) end end,
  function(pick) local n = math.random(0, 3) return "repeat_interleave " .. n, {pick()}, function(x) return lg.repeat_interleave(x, n, 1) end end,
  function(pick)
    local x, d, wrong = pick(), some_dim(), chance(0.05)
    local size = x[1]:dim() > 0 and (x[1]:size(1)) or 1
    local i = index(math.random(0, 4), size, wrong)
    local n = choose {"index_select", "index_fill", "take_along_dim"}
    return ("%s along %d%s"):format(n, d, wrong and ", out of range" or ""), {x}, function(t)
      local there = i:to(t:device())
      if n == "index_fill" then return lg.index_fill(t, d, there, 2) end
      return lg[n](t, n == "take_along_dim" and there or d, n == "take_along_dim" and 1 or there)
    end
  end,
  function(pick)
    local n, x = choose {"gather", "scatter", "scatter_add", "index_add"}, pick()
    local size = x[1]:dim() > 0 and x[1]:size(1) or 1
    local i = index(x[1]:numel(), size):reshape(x[1]:size())
    return n, {x, pick()}, function(t, s)
      local there = i:to(t:device())
      if n == "gather" then return lg.gather(t, 1, there) end
      return lg[n](t, 1, there, s)
    end
  end,
  function(pick)
    local n, self, x = choose {"prod", "amax", "amin", "sum", "mean"}, chance(0.5), pick()
    local i = index(x[1]:numel(), x[1]:dim() > 0 and x[1]:size(1) or 1):reshape(x[1]:size())
    return "scatter_reduce by " .. n, {x, pick()}, function(t, s)
      return lg.scatter_reduce(t, 1, i:to(t:device()), s, n, {include_self = self})
    end, true
  end,
  function(pick)
    local right = chance(0.5)
    return "searchsorted", {pick(), pick()}, function(x, y) return lg.searchsorted((lg.sort(x, -1)), y, {right = right}) end, true
  end,
  function(pick) return "where", {pick(), pick(), pick()}, function(c, x, y) return lg.where(c, x, y) end end,
  function(pick) local c = number() return "masked_fill", {pick(), pick()}, function(x, m) return lg.masked_fill(x, m, c) end end,
  function(pick) local c = number() / 4 return "lerp " .. c, {pick(), pick()}, function(x, y) return lg.lerp(x, y, c) end end,
  function(pick) local c = number() return "addcmul", {pick(), pick(), pick()}, function(x, y, z) return lg.addcmul(x, y, z, c) end end,
  function(pick) local a, b = number(), number() return "clamp", {pick()}, function(x) return lg.clamp(x, a, b) end end,
  function(pick)
    local p, d = choose {1, 2, 3, 0, math.huge, 0.5}, some_dim()
    return ("norm %g along %d"):format(p, d), {pick()}, function(x) return lg.norm(x, p, d) end
  end,
  function(pick) local n = choose(losses) return n, {pick(), pick()}, function(x, y) return F[n](x, y) end end,
  function(pick) return "linear", {pick(), pick()}, function(x, w) return F.linear(x, w) end end,
  function(pick) return "layer_norm", {pick()}, function(x) return lg.layer_norm(x, {x:size(-1)}) end end,
  function(pick)
    local x = pick()
    local rows = x[1]:dim() == 2 and x[1]:size(1) or 1
    local i = index(rows, x[1]:dim() == 2 and x[1]:size(2) or 1, chance(0.05))
    return "cross_entropy", {x}, function(t) return F.cross_entropy(t, i:to(t:device())) end
  end,
  function(pick)
    local n, k, s, p = choose {"max_pool1d", "avg_pool1d", "max_pool2d", "avg_pool2d"}, math.random(1, 3), math.random(1, 2), math.random(0, 1)
    return n, {pick()}, function(x) return lg[n](x, {k}, {s}, {p}) end
  end,
  function(pick) local n = choose {"conv1d", "conv2d"} return n, {pick(), pick()}, function(x, w) return lg[n](x, w, nil, {1}, {1}) end end,
  function(pick)
    local n, i = choose {"add_", "mul_", "copy_", "sub_", "fill_", "zero_"}, math.random(1, 2)
    return n .. " into a part", {pick(), pick()}, function(x, y)
      local t = x:clone()
      local part = t:narrow(1, i, 1)
      if n == "fill_" then part:fill_(2) elseif n == "zero_" then part:zero_() else part[n](part, y) end
      return t
    end
  end,
}

local function describe(x)
  local values = flat(x)
  local text = {}
  for i = 1, math.min(#values, 24) do
    local v = values[i]
    text[i] = type(v) == "table" and ("{%.9g, %.9g}"):format(v[1], v[2]) or type(v) == "number" and ("%.9g"):format(v) or tostring(v)
  end
  return ("%s [%s], strides [%s]%s: %s%s"):format(x:dtype(), table.concat(x:size(), ", "), table.concat(x:stride(), ", "),
    x.requires_grad and ", with gradient" or "", table.concat(text, " "), #values > 24 and " ..." or "")
end

-- Runs f on the operands of one device; reading the results raises what the device found. -> ok, results or error
local function run(f, operands, which)
  return pcall(function()
    local list = {}
    for i, x in ipairs(operands) do list[i] = x[which] end
    local results = {f(table.unpack(list))}
    for _, y in ipairs(results) do if lg.is_tensor(y) then flat(y) end end
    return results
  end)
end

-- The results of f in f64 on the CPU; nil where f wants another type.
local function exact(f, operands)
  local wide = {}
  for i, x in ipairs(operands) do
    local dtype = x[1]:dtype()
    wide[i] = {FLOATING[dtype] and x[1]:detach():to("f64") or dtype == "c64" and x[1]:detach():to("c128") or x[1]}
  end
  local ok, results = run(f, wide, 1)
  return ok and results or nil
end

-- The rounding errors of a sum in f32: one for each of the terms that an element of the result has, of the largest operand.
local function rounding_of_sum(operands, result)
  local bound = 0
  for _, x in ipairs(operands) do
    local terms = x[1]:numel() // math.max(result:numel(), 1)
    if terms > 1 and x[1]:dtype() == "f32" then
      bound = math.max(bound, terms * 2.0 ^ -24 * x[1]:detach():nan_to_num(0, 0, 0):abs():max():item())
    end
  end
  return bound
end

-- Whether a result of the device is as near to the exact one as the CPU's, or as the rounding of a sum explains: where
-- terms cancel, both are far from it.
local function as_good(here, there, truth, operands)
  if not lg.is_tensor(truth) or not same_list(truth:size(), here:size()) then return false end
  local values = flat(truth)
  local off, largest = distance(flat(there), values)
  return off <= 16 * distance(flat(here), values) or off * largest <= rounding_of_sum(operands, here)
end

-- Compares one call. -> the pairs of results, or nil and how it differs
local function compare(f, operands, tolerance)
  local ok, here = run(f, operands, 1)
  local ok_there, there = run(f, operands, 2)
  if ok and not ok_there and tostring(there):find("c128 tensors live on the CPU alone", 1, true) then return {} end
  if ok ~= ok_there then
    return nil, ("%s on %s, %s on the CPU"):format(ok_there and "a result" or tostring(there), device,
      ok and "a result" or tostring(here))
  end
  if not ok then return {} end
  if #here ~= #there then return nil, "another number of results" end
  local pairs_, truth = {}, nil
  for i = 1, #here do
    local differs, equal = difference(here[i], there[i], tolerance)
    if differs and lg.is_tensor(here[i]) then
      truth = truth or exact(f, operands) or {}
      if as_good(here[i], there[i], truth[i], operands) then differs = nil end
    end
    if differs then return nil, ("result %d: %s"):format(i, differs) end
    if lg.is_tensor(here[i]) then pairs_[#pairs_ + 1] = {here[i], there[i], equal = equal} end
  end
  return pairs_
end

-- The operands with the CPU's bits on both devices, in the layout that they have there.
local function with_equal_bits(operands)
  local made = {}
  for i, x in ipairs(operands) do
    local there = x[2]:detach():clone()
    if there:is_contiguous() ~= x[2]:is_contiguous() and x[2]:dim() > 1 then there = x[2]:detach():transpose(1, -1):contiguous():transpose(1, -1) end
    there:copy_(x[1]:detach():to(device))
    made[i] = {x[1], there, equal = true}
  end
  return made
end

-- Whether the order of the arithmetic decides what functions of x are: complex infinities, and numbers whose squares overflow
-- in a sum.
local function overflows(x)
  local values = x:detach():to("cpu")
  if x:dtype() == "c64" or x:dtype() == "c128" then return not lg.view_as_real(values):isfinite():all():item() end
  if not FLOATING[x:dtype()] then return false end
  values = values:to("f64"):abs()
  return lg.logical_and(values:gt(1e17), values:isfinite()):any():item()
end

-- One program. -> number of calls, and a description of the first difference or nil
local function program()
  local values = {}
  for _ = 1, math.random(2, 4) do values[#values + 1] = leaf() end
  local leaves = #values
  local function pick() return chance(0.4) and values[#values] or values[math.random(#values)] end
  local length = math.random(5, 60)
  for step = 1, length do
    local label, operands, f, jumps_ = choose(calls)(pick)
    local equal = true
    for _, x in ipairs(operands) do equal = equal and x.equal end
    if equal or not jumps_ then
      local results, differs = compare(f, operands, equal and 1 or 100)
      if not results and not equal then results, differs = compare(f, with_equal_bits(operands), 1) end
      if not results then
        local lines = {("call %d, %s: %s"):format(step, label, differs)}
        for i, x in ipairs(operands) do lines[#lines + 1] = ("  operand %d: %s"):format(i, describe(x[1])) end
        return step, table.concat(lines, "\n")
      end
      for _, y in ipairs(results) do
        if y[1]:numel() <= 600 and y[1]:dim() <= 5 and not overflows(y[1]) then values[#values + 1] = y end
      end
    end
  end
  -- The gradients of the sum of all results, if no value is so large that rounding decides.
  local function gradients(which)
    local loss
    for i = leaves + 1, #values do
      local y = values[i][which]
      if FLOATING[y:dtype()] and y.requires_grad then
        local part = (y:to("f32"):clamp(-4, 4) * 0.25):sum()
        loss = loss and loss + part or part
      end
    end
    if not loss or not loss.requires_grad then return {} end
    local list = {}
    local inputs = {}
    for i = 1, leaves do if values[i][which].requires_grad then inputs[#inputs + 1] = values[i][which] end end
    for i, g in pairs(lg.grad(loss, inputs, {allow_unused = true})) do list[i] = g flat(g) end
    return list
  end
  local ok, here = pcall(gradients, 1)
  local ok_there, there = pcall(gradients, 2)
  if ok ~= ok_there then return length, ("gradients: %s, on the CPU %s"):format(tostring(there), tostring(here)) end
  return length
end

local differ, total, done, first = 0, 0, 0, nil
for i = 1, programs do
  if os.clock() > deadline then break end
  math.randomseed(seed + i)
  lg.manual_seed(seed + i)
  local steps, problem = program()
  done, total = done + 1, total + steps
  if problem then
    differ = differ + 1
    first = first or ("program %d (seed %d)\n%s"):format(i, seed + i, problem)
    if arg[5] then print(problem) end
  end
end
print(("%d programs of %d calls on %s and the CPU: %d differ"):format(done, total, device, differ))
if first then
  print("the first: " .. first)
  os.exit(1)
end
