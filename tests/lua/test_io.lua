local lg = require "lunagrad"
local expect = require "expect"
local io_, path = lg.io, os.tmpname()

local function write(text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

-- csv
write("a,b\n1,2\n3,4.5\n")
local x, names = io_.csv.load(path, {header = true})
expect.equal(x, lg.tensor {{1, 2}, {3, 4.5}})
expect.equal(names, {"a", "b"})
io_.csv.save(path, x, {columns = {"u", "v"}, delimiter = ";"})
local back, columns = lg.data.csv(path, {header = true, delimiter = ";", dtype = "f64"})
expect.equal(back, x:double())
expect.equal(columns, {"u", "v"})
write("1,2\n3,x\n")
expect.raises(path .. ":2: column 2: 'x' is not a number", function() lg.data.csv(path) end)
expect.raises("unknown option 'headers'", function() lg.data.csv(path, {headers = true}) end)
expect.raises("bad option 'delimiter'", function() lg.data.csv(path, {delimiter = ", "}) end)
expect.raises("cannot open: No such file or directory", function() lg.data.csv(path .. ".none") end)
expect.raises("bad argument #1 to 'csv.load' (not a path)", function() lg.data.csv("a\0b") end)
expect.raises("bad argument #1 to 'csv.load'", function() lg.data.csv() end)

-- idx
local images = lg.arange(12):reshape(3, 2, 2):to("u8")
for _, suffix in ipairs {"", ".gz"} do
  io_.idx.save(path .. suffix, images)
  expect.equal(lg.data.idx(path .. suffix), images)
end
os.remove(path .. ".gz")
write("\0\0\8\1\0\0\0\5abc")
expect.raises("ends early: 5 elements need 5 bytes of data, 3 found", function() lg.data.idx(path) end)

-- npy and npz, as NumPy writes them
local folder = (debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "../data/"
expect.equal(io_.npy.load(folder .. "big_i2.npy"), lg.tensor({{-3, -2, -1}, {0, 1, 2}}, {dtype = "i32"}))
local arrays = io_.npz.load(folder .. "deflated.npz")
expect.equal(arrays["a.b"], lg.arange(-3, 2))
expect.equal(arrays["dir/c"], lg.arange(-3, 21):reshape(2, 3, 4):float())
io_.npy.save(path, arrays.w:t())
expect.equal(io_.npy.load(path), arrays.w:t():contiguous())
io_.npz.save(path, arrays)
expect.equal(io_.npz.load(path), arrays)
io_.npz.save(path, {zeros = lg.zeros(100000)}, {compress = true})
expect.equal(io_.npz.load(path).zeros:sum():item(), 0.0)
expect.raises("npy: NumPy has no type bf16; save x:float()", function() io_.npy.save(path, lg.zeros(2):bfloat16()) end)
expect.raises("npz.save: 'n' is a number, not a tensor", function() io_.npz.save(path, {n = 1}) end)
expect.raises("unknown option 'compressed'", function() io_.npz.save(path, arrays, {compressed = true}) end)
expect.raises("not a .npy file", function() io_.npy.load(path) end)
expect.raises("cannot open: No such file or directory", function() io_.npz.load(path .. ".none") end)

-- png: [channels, height, width]
local picture = lg.arange(24):reshape(3, 2, 4):to("u8")
io_.png.save(path, picture)
expect.equal(io_.png.load(path), picture)
expect.equal(io_.png.load(path, {channels = 1}):size(), {1, 2, 4})
io_.png.save(path, lg.tensor {{0, 0.5}, {1, 2}})
expect.equal(io_.png.load(path), lg.tensor({{{0, 128}, {255, 255}}}, {dtype = "u8"}))
expect.raises("bad option 'channels' to 'png.load' (1 (grey), 3 (rgb) or 4 (rgba) expected)", function()
  io_.png.load(path, {channels = 2})
end)
expect.raises("png: dtype i64 is neither u8 nor a floating type with 0 to 1", function()
  io_.png.save(path, lg.ones(2, 2):long())
end)

-- safetensors
local state = {w = lg.randn(2, 3), ["a.b"] = lg.tensor {1, 2}, flags = lg.tensor({1, 0}):bool()}
io_.safetensors.save(path, state, {metadata = {format = "pt"}})
local tensors, metadata = io_.safetensors.load(path)
expect.equal(tensors, state)
expect.equal(metadata, {format = "pt"})
expect.equal(io_.load(path), state)
expect.raises("'n' is a number, not a tensor", function() io_.safetensors.save(path, {n = 1}) end)
expect.raises("the names of tensors must be strings", function() io_.safetensors.save(path, {lg.zeros(1)}) end)
expect.equal(io_.load(path), state)

-- Nested tables are restored exactly: number types, lists, unusual keys, shared tensors.
local shared = lg.randn(3)
local value = {
  model = {["fc.weight"] = lg.randn(2, 2), ["fc.bias"] = shared},
  tied = shared,
  step = 7, rate = 7.0, big = math.maxinteger, small = math.mininteger, tiny = 5e-324, tenth = 0.1,
  inf = math.huge, minus = -math.huge, text = "line\n\"quoted\" ü", bytes = "\0\xff\xfe", yes = true, no = false,
  list = {1, {2, {}}, "three", shared}, zero = {[0] = "a", "b", "c"}, sparse = {[10] = 1, [20] = 2},
  mixed = {1, 2, name = "x", [1.5] = "y", [true] = "z"},
}
io_.save(path, value)
back = io_.load(path)
expect.equal(back, value)
assert(back.tied == back.model["fc.bias"] and back.list[4] == back.tied)
io_.save(value, path, nil)  -- PyTorch's order of the two
expect.equal(io_.load(path), value)
io_.save(path, {nan = 0 / 0})
back = io_.load(path).nan
assert(back ~= back)
io_.save(path, {})
expect.equal(io_.load(path), {})

-- Two paths with the same flattened name keep both tensors.
value = {["a.b"] = lg.tensor {1}, a = {b = lg.tensor {2}}}
io_.save(path, value)
expect.equal(io_.load(path), value)

-- The same table gives the same bytes, independent of Lua's table order.
local function content()
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end
local function filled(first, last, step)
  local t = {}
  for i = first, last, step do t["key" .. i] = i end
  return t
end
io_.save(path, filled(1, 50, 1))
local forwards = content()
io_.save(path, filled(50, 1, -1))
assert(content() == forwards)

-- If a table cannot be saved, the old file is kept.
local loop = {a = {}}
loop.a.b = loop
expect.raises("io.save: a.b contains itself", function() io_.save(path, loop) end)
expect.raises("io.save: f is a function", function() io_.save(path, {f = print}) end)
expect.raises("io.save: model is an object with a metatable; save what its state_dict() gives", function()
  io_.save(path, {model = lg.nn.Linear(1, 1)})
end)
expect.raises("has a table as a key", function() io_.save(path, {[{}] = 1}) end)
local deep = {}
for _ = 1, 200 do deep = {deep} end
expect.raises("io.save: more than 100 tables within each other", function() io_.save(path, deep) end)
assert(content() == forwards)

-- A damaged description of the table is an error.
for _, description in ipairs {
  "", "{", "null", '{"tensor":"none"}', '{"table":1}', '{"table":[[1]]}', '{"table":[[null,1]]}', '{"bytes":"0"}',
  '{"bytes":"zz"}', '{"number":"1"}', '{"other":"x"}', '{"a":1,"b":2}', '{"table":[[{"number":"nan"},1]]}',
  '[18446744073709551615]', ("["):rep(100000),
} do
  io_.safetensors.save(path, {}, {metadata = {lunagrad = description}})
  expect.raises(path .. ": ", function() io_.load(path) end)
end
os.remove(path)
