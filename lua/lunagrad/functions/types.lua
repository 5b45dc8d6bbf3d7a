-- Questions about types: the limits of a dtype, the dtype of a result, what a tensor is.
local core = require "lunagrad.core"

local fail = core._fail
local functions, methods = {}, {}

local function need_tensor(name, x)
  if core.is_tensor(x) then return x end
  fail(("%s: a Tensor is needed (got %s)"):format(name, type(x)))
end

local function of_type(dtype) return core.empty({0}, {dtype = dtype, device = "cpu"}) end

-- --- limits ---

-- Bits of a number, of its fraction, and the exponents of the smallest normal and of the largest number.
local floats = {f16 = {16, 10, -14, 15}, bf16 = {16, 7, -126, 127}, f32 = {32, 23, -126, 127}, f64 = {64, 52, -1022, 1023},
  c64 = {32, 23, -126, 127}, c128 = {64, 52, -1022, 1023}}
local integers = {u8 = {8, 0, 255}, i32 = {32, -1 << 31, (1 << 31) - 1}, i64 = {64, math.mininteger, math.maxinteger}}

function functions.finfo(dtype)
  dtype = dtype == nil and core.get_default_dtype() or core._dtype(dtype, "finfo", 1)
  local known = floats[dtype]
  if not known then fail(("finfo: a floating-point dtype is needed (got %s); lg.iinfo is of integers"):format(dtype)) end
  local bits, fraction, smallest, largest = table.unpack(known)
  local eps = 2.0 ^ -fraction
  return {bits = bits, eps = eps, max = (2 - eps) * 2.0 ^ largest, min = -(2 - eps) * 2.0 ^ largest,
    tiny = 2.0 ^ smallest, smallest_normal = 2.0 ^ smallest, dtype = dtype,
    resolution = 10.0 ^ -math.floor(fraction * math.log(2, 10))}
end

function functions.iinfo(dtype)
  dtype = core._dtype(dtype, "iinfo", 1)
  local known = integers[dtype]
  if not known then fail(("iinfo: an integer dtype is needed (got %s); lg.finfo is of floating-point numbers"):format(dtype)) end
  return {bits = known[1], min = known[2], max = known[3], dtype = dtype}
end

-- --- the dtypes of results ---

local always = core.ones({}, {dtype = "bool", device = "cpu"})

function functions.promote_types(type1, type2)
  local a, b = core._dtype(type1, "promote_types", 1), core._dtype(type2, "promote_types", 2)
  return core.where(always, of_type(a), of_type(b)):dtype()
end

-- The dtype of results of two operands: tensors with dims take precedence over tensors without dims, and these over
-- numbers.
function functions.result_type(a, b)
  local function sample(x)
    if type(x) == "number" then return core.tensor(x, {device = "cpu"}), 1 end
    if type(x) == "boolean" then return core.tensor(x, {device = "cpu"}), 1 end
    if not core.is_tensor(x) then fail(("result_type: a Tensor or a number is needed (got %s)"):format(type(x))) end
    local dims = x:dim() > 0
    return core.zeros(dims and {1} or {}, {dtype = x:dtype(), device = "cpu"}), dims and 3 or 2
  end
  local x, x_rank = sample(a)
  local y, y_rank = sample(b)
  if x_rank == y_rank then return functions.promote_types(x:dtype(), y:dtype()) end
  -- A number counts as an operand without dims: it may change the kind of the result's dtype, not its width.
  local function kind_of(number) return math.type(number) == "integer" and 1 or 1.0 end
  if type(a) == "number" then x = kind_of(a) end
  if type(b) == "number" then y = kind_of(b) end
  return core.where(always, x, y):dtype()
end

local kinds = {bool = 1, u8 = 2, i32 = 2, i64 = 2, f16 = 3, bf16 = 3, f32 = 3, f64 = 3, c64 = 4, c128 = 4}
function functions.can_cast(from, to)
  return kinds[core._dtype(from, "can_cast", 1)] <= kinds[core._dtype(to, "can_cast", 2)]
end

-- --- tensors ---

function functions.numel(x) return need_tensor("numel", x):numel() end
function functions.is_nonzero(x)
  if need_tensor("is_nonzero", x):numel() ~= 1 then
    fail(("is_nonzero: a tensor of one element is needed (got shape [%s])"):format(table.concat(x:size(), ", ")))
  end
  return x:ne(0):item()
end

-- Conjugates and negatives are computed immediately: no tensor is a lazy conjugate or negative.
function functions.is_conj(x) return need_tensor("is_conj", x) == nil end
methods.is_neg = function(x) return need_tensor("is_neg", x) == nil end
function functions.resolve_conj(x) return need_tensor("resolve_conj", x) end
function functions.resolve_neg(x) return need_tensor("resolve_neg", x) end
for _, name in ipairs {"is_conj", "resolve_conj", "resolve_neg"} do methods[name] = functions[name] end

function methods.is_signed(x) return x:dtype() ~= "u8" and x:dtype() ~= "bool" end
-- All tensors are dense.
function methods.to_dense(x) return need_tensor("to_dense", x) end
function methods.cfloat(x) return x:to("c64") end
function methods.cdouble(x) return x:to("c128") end
function methods.type(x, dtype)
  if dtype == nil then return x:dtype() end
  return x:to(core._dtype(dtype, "type", 1))
end

return {functions = functions, methods = methods}
