-- lg.io.onnx_import: names of values, wrong graphs and nodes, data in other files. tests/fuzz/onnx_nodes.lua draws more of them.
local lg = require "lunagrad"
local expect = require "expect"
local onnx_file = require "onnx_file"
local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir -p " .. folder .. "/models/inner"))
local path = folder .. "/models/model.onnx"

local function import(model)
  onnx_file.write(path, model)
  return lg.io.onnx_import(path)
end
local function refused(message, model, ...)
  local inputs = {...}
  expect.raises(message, function() import(model)(table.unpack(inputs)) end)
end
local function one_node(op, inputs, attributes, operands, opset)
  local initializers = {}
  for name, x in pairs(operands or {}) do initializers[#initializers + 1] = {name, x} end
  return {opset = opset, initializers = initializers, outputs = {"y"}, nodes = {{op, inputs, {"y"}, attributes, "the node"}}}
end

-- Names of initializers: numbers as PyTorch 0.4 wrote them, and names that no field can have.
local x = lg.randn(2, 3, 4)
local scale, shift, mean, var = lg.randn(3), lg.randn(3), lg.randn(3), lg.rand(3) + 0.5
local numbered = import {
  inputs = {"0"}, outputs = {"5"}, initializers = {{"1", scale}, {"2", shift}, {"3", mean}, {"4", var}},
  nodes = {{"BatchNormalization", {"0", "1", "2", "3", "4"}, {"5"}, {}}},
}
expect.equal(numbered(x), lg.batch_norm(x, mean, var, scale, shift, false, 0.1, 1e-5))
local keys = {}
for name in pairs(numbered:state_dict()) do keys[#keys + 1] = name end
table.sort(keys)
expect.equal(keys, {"1", "2", "3", "4"})
local copy = import {
  inputs = {"0"}, outputs = {"5"}, initializers = {{"1", scale}, {"2", shift}, {"3", mean * 2}, {"4", var}},
  nodes = {{"BatchNormalization", {"0", "1", "2", "3", "4"}, {"5"}, {}}},
}
copy:load_state_dict(numbered:state_dict())
expect.equal(copy(x), numbered(x))
for _, name in ipairs {
  ".", "..", "a..b", ".a", "4", "00", "0.1.2", "99999999999999999999", "forward", "forward.weight", "training", "training.x", "_graph", "_kinds",
  "_fields.1", "_hooks", "_label", "_placed", "__index", "__call", "register_buffer", "end", "nil", "a b", "a'b\"c", "a\nb", "\xff\xfe", "a/b",
  ("a."):rep(5000) .. "b", ("x"):rep(10000), "initializer_1", "initializer_2",
} do
  for _, value in ipairs {lg.tensor {1.5, 2.5}, lg.tensor({3, 4}, {dtype = "i64"})} do
    local model = import {
      initializers = {{name, value}, {"initializer_2_", value * 2}, {".#", value * 3}}, outputs = {"y", "z", "w"},
      nodes = {{"Identity", {name}, {"y"}}, {"Identity", {"initializer_2_"}, {"z"}}, {"Identity", {".#"}, {"w"}}},
    }
    local y, z, w = model()
    expect.equal(y, value)
    expect.equal(z, value * 2)
    expect.equal(w, value * 3)
    local count = 0
    for _ in pairs(model:state_dict()) do count = count + 1 end
    expect.equal(count, 3)
  end
end

-- Each name stands for one value.
local two = lg.ones(2)
refused("an initializer is called 'a', as another value is", {initializers = {{"a", two}, {"a", two}}, outputs = {"a"}})
refused("an input is called 'x', as another value is", {inputs = {"x", "x"}, outputs = {"x"}})
refused("an output of node 'n' (Relu) is called 'y', as another value is",
  {inputs = {"x"}, outputs = {"y"}, nodes = {{"Relu", {"x"}, {"y"}}, {"Relu", {"x"}, {"y"}}}})
refused("an output of node 'n' (Relu) is called 'x'", {inputs = {"x"}, outputs = {"x"}, nodes = {{"Relu", {"x"}, {"x"}}}})
refused("an output of node 'n' (Split) is called 'y'", {inputs = {"x"}, outputs = {"y"}, nodes = {{"Split", {"x"}, {"y", "y"}}}})
refused("the output 'y' is listed twice", {inputs = {"x"}, outputs = {"y", "y"}, nodes = {{"Relu", {"x"}, {"y"}}}})
refused("an initializer has no name", {initializers = {{"", two}}, outputs = {}})
refused("an input has no name", {inputs = {""}, outputs = {}})
refused("nothing computes the output 'q'", {inputs = {"x"}, outputs = {"q"}})
refused("reads 'b', which nothing before it computes",
  {outputs = {"a"}, nodes = {{"Relu", {"b"}, {"a"}}, {"Relu", {"a"}, {"b"}}}})  -- a cycle
refused("names no operator", {inputs = {"x"}, outputs = {"y"}, nodes = {{"", {"x"}, {"y"}}}})
refused("the model uses Nothing?Such, which is not read", {inputs = {"x"}, outputs = {"y"}, nodes = {{"Nothing\nSuch", {"x"}, {"y"}}}})
refused("has the attribute 'axis' twice", {
  inputs = {"x"}, outputs = {"y"}, extra = onnx_file.bytes(1, onnx_file.node("Softmax", {"x"}, {"y"}, {axis = 1}, "twice") ..
    onnx_file.bytes(5, onnx_file.bytes(1, "axis") .. onnx_file.whole(3, 0) .. onnx_file.whole(20, 2))),
})
local identity = import {inputs = {"x"}, outputs = {"y"}, nodes = {{"Identity", {"x"}, {"y"}}}}
expect.raises("input 1 ('x') of the ONNX model is a number, not a tensor", function() identity(3) end)
expect.raises("the ONNX model takes 1 inputs (x), got 0", function() identity() end)

-- Attributes and operands of nodes. The error names the node and what is wrong.
local image, four = lg.randn(1, 4, 4, 4), lg.randn(4, 4)
local function list(...) return lg.tensor({...}, {dtype = "i64"}) end
for _, case in ipairs {
  {"attribute 'dtype': it is 99; an element type that is read is expected", one_node("EyeLike", {"x"}, {dtype = 99}, {x = four})},
  {"attribute 'dtype': it is 'f32'; an element type", one_node("EyeLike", {"x"}, {dtype = "f32"}, {x = four})},
  {"step 1 is 0", one_node("Slice", {"x", "s", "e", "a", "t"}, {}, {x = four, s = list(0), e = list(2), a = list(0), t = list(0)})},
  {"it has 1 starts and 2 ends", one_node("Slice", {"x", "s", "e"}, {}, {x = four, s = list(0), e = list(2, 2)})},
  {"axis 5 is out of range for 2 dims", one_node("Slice", {"x", "s", "e", "a"}, {}, {x = four, s = list(0), e = list(2), a = list(5)})},
  {"its starts or ends are missing", one_node("Slice", {"x"}, {}, {x = four}, 9)},
  {"attribute 'blocksize': it is 0; an integer from 1 on", one_node("DepthToSpace", {"x"}, {blocksize = 0}, {x = image})},
  {"attribute 'blocksize': it is -2; an integer from 1 on", one_node("SpaceToDepth", {"x"}, {blocksize = -2}, {x = image})},
  {"attribute 'blocksize': it is missing", one_node("DepthToSpace", {"x"}, {}, {x = image})},
  {"no multiple of the square of blocksize 3", one_node("DepthToSpace", {"x"}, {blocksize = 3}, {x = image})},
  {"input 1 ('x') has 2 dims; 4 are expected", one_node("DepthToSpace", {"x"}, {blocksize = 2}, {x = four})},
  {"attribute 'mode': it is 'ABC'; one of DCR, CRD", one_node("DepthToSpace", {"x"}, {blocksize = 2, mode = "ABC"}, {x = image})},
  {"attribute 'axis': it is missing", one_node("Concat", {"x"}, {}, {x = four})},
  {"axis 2 is out of range for 2 dims", one_node("Concat", {"x", "x"}, {axis = 2}, {x = four})},
  {"axis -3 is out of range", one_node("Gather", {"x", "i"}, {axis = -3}, {x = four, i = list(0)})},
  {"axis 9 is out of range", one_node("Flatten", {"x"}, {axis = 9}, {x = four})},
  {"axis 1 is given twice", one_node("Unsqueeze", {"x", "a"}, {}, {x = four, a = list(1, 1)})},
  {"attribute 'strides': it is {0, 1}; a list of integers from 1 on",
    one_node("MaxPool", {"x"}, {kernel_shape = {2, 2}, strides = {0, 1}}, {x = image})},
  {"attribute 'kernel_shape': it is missing", one_node("MaxPool", {"x"}, {}, {x = image})},
  {"its windows have 1 dims, and its input has 2", one_node("AveragePool", {"x"}, {kernel_shape = {2}}, {x = image})},
  {"attribute 'pads' has 2 numbers; 4 are expected", one_node("MaxPool", {"x"}, {kernel_shape = {2, 2}, pads = {1, 1}}, {x = image})},
  {"attribute 'auto_pad': it is 'BOTH'", one_node("MaxPool", {"x"}, {kernel_shape = {2, 2}, auto_pad = "BOTH"}, {x = image})},
  {"attribute 'num_groups': it is 0", one_node("GroupNormalization", {"x", "s", "s"}, {num_groups = 0}, {x = image, s = lg.ones(4)})},
  {"attribute 'size': it is 0", one_node("LRN", {"x"}, {size = 0}, {x = image})},
  {"attribute 'equation': it is missing", one_node("Einsum", {"x"}, {}, {x = four})},
  {"attribute 'alpha': it is 'x'; a number", one_node("Elu", {"x"}, {alpha = "x"}, {x = four})},
  {"has 1 input; 2 are expected", one_node("Add", {"x"}, {}, {x = four})},
  {"has 3 inputs; 1 are expected", one_node("Relu", {"x", "x", "x"}, {}, {x = four})},
  {"lacks input 2", one_node("Add", {"x", ""}, {}, {x = four})},
  {"is f32 of shape [4, 4]; a list of integers", one_node("Reshape", {"x", "x"}, {}, {x = four})},
  {"name 3 dims from dim 1 on, and its first input has 2", one_node("GatherND", {"x", "i"}, {}, {x = four, i = list(0, 0, 0)})},
  {"its 1 outputs are not as many as its num_outputs",
    one_node("Split", {"x"}, {num_outputs = (1 << 31) - 1}, {x = four}, 18)},
  {"3 pads are given for 2 dims", one_node("Pad", {"x", "p"}, {}, {x = four, p = list(1, 2, 3)})},
  {"scale 1 is 0.0", one_node("Resize", {"x", "", "s"}, {}, {x = four, s = lg.zeros(2)})},
  {"no numbers are given for 2 dims", one_node("Resize", {"x"}, {}, {x = four})},
  {"its depth is 0", one_node("OneHot", {"i", "d", "v"}, {}, {i = list(0), d = list(0), v = lg.ones(2)})},
  {"input 3 ('r') has the shape [1, 8, 3]; [1, 8, 2] is expected", one_node("LSTM", {"x", "w", "r"}, {},
    {x = lg.ones(3, 1, 5), w = lg.ones(1, 8, 5), r = lg.ones(1, 8, 3)}), instead = "input 2 ('w') has the shape"},
  {"its output 2 is not computed", {initializers = {{"x", four}}, outputs = {"z"}, nodes = {{"Relu", {"x"}, {"y", "z"}, {}, "the node"}}}},
  {"a Constant holds neither", one_node("Constant", {}, {})},
} do
  refused(case.instead or case[1], case[2])
  local _, message = pcall(function() import(case[2])() end)
  assert(message:find("the node", 1, true) or message:find("a Constant", 1, true), message)
end

-- Data in other files: they lie in the model's folder, also after links are followed, and are regular files.
local function external(location, offset)
  local function entry(key, text) return onnx_file.bytes(13, onnx_file.bytes(1, key) .. onnx_file.bytes(2, text)) end
  local tensor = onnx_file.whole(1, 2) .. onnx_file.whole(2, 1) .. onnx_file.bytes(8, "w") .. entry("location", location) ..
    (offset and entry("offset", offset) or "") .. onnx_file.whole(14, 1)
  return {outputs = {"w"}, extra = onnx_file.bytes(5, tensor)}
end
onnx_file.write(folder .. "/models/inner/data", string.pack("<ff", 1, 2))
onnx_file.write(folder .. "/secret", string.pack("<ff", 3, 4))
expect.equal(import(external "inner/data")(), lg.tensor {1.0, 2.0})
assert(os.execute(("cd %s/models && ln -s inner/data own && ln -s ../secret link && ln -s .. up && mkfifo pipe && ln -s /dev/zero zero"):format(folder)))
expect.equal(import(external "own")(), lg.tensor {1.0, 2.0})
for _, location in ipairs {"link", "up/secret", "../secret", "inner/../../secret", folder .. "/secret", "/etc/passwd", "", "zero", "a\0b"} do
  refused("outside of the model's folder", external(location))
end
refused("it is not a regular file", external "pipe")
refused("it is not a regular file", external "inner")
refused("cannot open", external "nothing")
refused("does not hold", external("inner/data", "4"))
refused("is no offset in its file", external("inner/data", "-4"))
refused("is no offset in its file", external("inner/data", "99999999999999999999999"))
os.execute("rm -r " .. folder)
