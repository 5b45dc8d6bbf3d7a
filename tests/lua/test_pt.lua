-- lg.io.pt: a checkpoint that PyTorch wrote (tests/reference/checkpoint.py), round trips, and files that are refused.
local lg = require "lunagrad"
local expect = require "expect"
local pt = lg.io.pt
local folder = arg[0]:match("^(.*)tests/lua/") .. "tests/reference/"
local path = os.tmpname() .. ".pt"

-- A checkpoint of PyTorch
local found = pt.load(folder .. "checkpoint.pt")
expect.equal(lg.io.load(folder .. "checkpoint.pt"), found)
expect.equal(found.epoch, 3)
expect.equal(found.loss, 0.25)
expect.equal(found.name, "net \u{e9}")
expect.equal(found.best, nil)
expect.equal(found.done, false)
expect.equal(found.big, 1 << 40)
expect.equal(found.negative, -5)
expect.equal(found.shape, {3, 4})
expect.equal(found.dtype, "torch.float32")
expect.equal(found.args, {width = 8, act = "relu"})
expect.equal(found.counts, {a = 2})
expect.equal(found.pair, {1, {2, {three = 3}}})
expect.equal(found.bytes, "\0\xff\x80")
expect.equal(found[7], "seven")
local x = lg.arange(12):float():reshape(3, 4)
expect.equal(found.transposed, x:t())
expect.equal(found.rows, x[{{2, 3}}])
expect.equal(found.column, x:select(2, 3))
expect.equal(found.expanded, lg.ones(3))
expect.equal(found.empty, lg.zeros(0, 3))
expect.equal(found.scalar, lg.tensor(1.5))
expect.equal(found.flags, lg.tensor {true, false})
expect.equal(found.complex, lg.complex(lg.tensor {1.0}, lg.tensor {2.0}))
expect.equal(found.parameter, lg.ones(2))
for i, dtype in ipairs {"f64", "f16", "bf16", "i64", "i32", "i32", "i32", "u8"} do
  expect.equal(found.types[i], lg.tensor({1, 2}, {dtype = dtype}), "types " .. i)
end

-- Its state dict fits the same module, and the optimizer's entries are there.
local function make_model() return lg.nn.Sequential(lg.nn.Linear(3, 2), lg.nn.BatchNorm1d(2)) end
local model = make_model()
model:load_state_dict(found.model)
expect.equal(model:state_dict()["0.weight"], found.model["0.weight"])
expect.equal(found.optimizer.param_groups[1].lr, 0.125)
expect.equal(found.optimizer.state[0].exp_avg:size(), {2, 3})

-- What is saved comes back. tests/reference/checkpoint.py checks the same file with PyTorch.
local matrix = lg.tensor {{1.0, 2.0}, {3.0, 4.0}}
local types = {}
for i, dtype in ipairs {"f64", "f16", "bf16", "i64", "i32", "u8", "bool", "c64", "c128"} do
  types[i] = lg.tensor({1, 0}):to(dtype)
end
local saved = {
  list = {1, 2.5, "three", true, {deep = {{1}, {2}}}}, big = 1 << 40, small = -(1 << 40), [5] = "five", matrix = matrix,
  turned = matrix:t(), types = types, empty = lg.zeros(0, 3), scalar = lg.tensor(1.5), model = make_model():state_dict(),
}
local kept = arg[1] or path
pt.save(kept, saved)
expect.equal(pt.load(kept), saved)
pt.save(path, matrix)
expect.equal(pt.load(path), matrix)
for _, empty in ipairs {{}, "", 0, false} do
  pt.save(path, empty)
  expect.equal(pt.load(path), empty)
end

-- Values that cannot be saved
expect.raises("pt.save: a function cannot be saved", function() pt.save(path, {print}) end)
expect.raises("pt.save: a key is a boolean", function() pt.save(path, {[true] = 1}) end)
local endless = {}
endless[1] = endless
expect.raises("pt.save: more than 100 tables within each other", function() pt.save(path, endless) end)

-- Files that are refused: each pickle is put into an archive that lg.io.npz cannot write, so their bytes are made here.
local function crc32(bytes)
  local crc = 0xffffffff
  for i = 1, #bytes do
    crc = crc ~ bytes:byte(i)
    for _ = 1, 8 do crc = (crc >> 1) ~ (0xedb88320 & -(crc & 1)) end
  end
  return crc ~ 0xffffffff
end
local function archive(entries)
  local data, directory, count = "", "", 0
  for _, entry in ipairs(entries) do
    local name, bytes = entry[1], entry[2]
    local head = string.pack("<I2I2I2I2I2I4I4I4I2I2", 20, 0, 0, 0, 33, crc32(bytes), #bytes, #bytes, #name, 0)
    directory = directory .. "PK\1\2" .. string.pack("<I2", 20) .. head .. string.pack("<I2I2I2I4I4", 0, 0, 0, 0, #data) .. name
    data = data .. "PK\3\4" .. head .. name .. bytes
    count = count + 1
  end
  return data .. directory .. "PK\5\6" .. string.pack("<I2I2I2I2I4I4I2", 0, 0, count, count, #directory, #data, 0)
end
local function load_pickle(pickle, storages)
  local entries = {{"a/data.pkl", pickle}}
  for key, bytes in pairs(storages or {}) do entries[#entries + 1] = {"a/data/" .. key, bytes} end
  local file <close> = assert(io.open(path, "wb"))
  file:write(archive(entries))
  file:close()
  return pt.load(path)
end
local function refused(message, pickle, storages)
  expect.raises(message, function() load_pickle(pickle, storages) end)
end
expect.equal(load_pickle "\x80\x02K\x07.", 7)
expect.equal(load_pickle "\x80\x02](K\x01K\x02e.", {1, 2})
refused("it needs posix.system, which is not read", "\x80\x02cposix\nsystem\n(X\x02\0\0\0lstR.")
refused("it needs builtins.eval, which is not read", "\x80\x04\x8c\x08builtins\x8c\x04eval\x93.")
refused("the pickle ends early", "\x80\x02](K\x01")
refused("the pickle ends early", "\x80\x02X\xff\xff\xff\xffabc")
refused("its stack is empty", "\x80\x02.")
refused("it has no mark", "\x80\x02]K\1e.")
refused("nothing has the number 9", "\x80\x02h\x09.")
refused("pickle opcode 36 is not known", "\x80\x02$.")
refused("pickle protocol 9 is not known", "\x80\x09N.")
refused("more than 100 lists within each other", "\x80\x02" .. ("]"):rep(200) .. ("a"):rep(199) .. ".")
refused("more than 100 lists within each other", "\x80\x02]q\0h\0a.")  -- a list that contains itself
refused("its size does not justify: they repeat each other", "\x80\x02]q\0" ..
  (function()  -- each list holds the one before twice
    local text = ""
    for i = 1, 60 do text = text .. "]q" .. string.char(i) .. "(h" .. string.char(i - 1) .. "h" .. string.char(i - 1) .. "e" end
    return text
  end)() .. ".")
local function tensor(key, offset, size, stride)
  local function integers(list)
    local text = "("
    for _, n in ipairs(list) do text = text .. "\x8a\8" .. string.pack("<i8", n) end
    return text .. "t"
  end
  return "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" .. key ..
    "X\3\0\0\0cpuK\4tQ\x8a\8" .. string.pack("<i8", offset) .. integers(size) .. integers(stride) .. "\x89ccollections\nOrderedDict\n)RtR."
end
local four = {["0"] = string.pack("<ffff", 1, 2, 3, 4)}
expect.equal(load_pickle(tensor("0", 1, {2}, {2}), four), lg.tensor {2.0, 4.0})
refused("storage '1' is missing", tensor("1", 0, {1}, {1}), four)
refused("outside of storage '0' with 4 elements", tensor("0", 0, {5}, {1}), four)
refused("outside of storage '0' with 4 elements", tensor("0", 3, {2}, {1}), four)
refused("outside of storage '0' with 4 elements", tensor("0", -1, {1}, {1}), four)
refused("outside of storage '0' with 4 elements", tensor("0", 0, {2, math.maxinteger}, {1, math.maxinteger}), four)
refused("outside of storage '0' with 4 elements", tensor("0", 0, {math.maxinteger, math.maxinteger}, {0, 0}), four)
refused("a size is no count", tensor("0", 0, {-1}, {1}), four)
refused("1 sizes and 2 strides", tensor("0", 0, {1}, {1, 1}), four)
refused("a tensor has 9 dims; at most 8 are supported", tensor("0", 0, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}), four)
local text_file = assert(io.open(path, "wb"))
text_file:write "no archive"
text_file:close()
expect.raises("not a .pt file", function() pt.load(path) end)
os.remove(path)
