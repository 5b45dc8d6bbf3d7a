-- Attacks of a sandboxed script on files and programs outside of its folder and its run's. Run in a sandbox with a
-- number and the folder outside, it makes that attack and prints "through" when the attack succeeded, "stream" for a
-- stream of its own; without a number it prints how many there are.
local lg = require "lunagrad"
local number, outside = ...

local own = (arg[0]:match "^(.*)/" or ".")
local secret = outside and outside .. "/secret.csv" or ""
local function at(name) return outside .. "/" .. name end

-- A call that ends without an error counts as a success.
local function succeeds(f, ...) return (pcall(f, ...)) end
local function any(list, f)
  for _, value in ipairs(list) do
    if f(value) then return true end
  end
end

-- Each loader of lg.io, with the function's name.
local function loaders()
  local found = {lg.io.load, lg.io.onnx_import}
  for _, format in pairs(lg.io) do
    if type(format) == "table" and format.load then found[#found + 1] = format.load end
  end
  return found
end
local function savers()
  local found = {}
  for _, format in pairs(lg.io) do
    if type(format) == "table" and format.save then found[#found + 1] = format.save end
  end
  return found
end

local attacks = {
  -- Reading.
  {"read a file outside", function() return succeeds(lg.io.csv.load, secret) end},
  {"read through ..", function() return succeeds(lg.io.csv.load, own .. "/../outside/secret.csv") end},
  {"read through a link to a file", function() return succeeds(lg.io.csv.load, own .. "/link.csv") end},
  {"read through a link to a folder", function() return succeeds(lg.io.csv.load, own .. "/out/secret.csv") end},
  {"read through the working folder of the process",
    function() return succeeds(lg.io.csv.load, "/proc/self/cwd/outside/secret.csv") end},
  {"read through the root of the process", function() return succeeds(lg.io.csv.load, "/proc/self/root" .. secret) end},
  {"read with each loader", function()
    return any(loaders(), function(load)
      return any({"secret.csv", "secret.st", "secret.npy", "secret.npz", "secret.png", "secret.pt", "secret.onnx"},
        function(name) return succeeds(load, at(name)) end)
    end)
  end},
  {"read accounts", function()
    return any(loaders(), function(load) return succeeds(load, "/etc/passwd") end) or
      succeeds(lg.data.text, "/etc/passwd", 1)
  end},
  {"read the environment", function() return succeeds(lg.data.text, "/proc/self/environ", 1) end},
  {"read own memory", function() return succeeds(lg.data.text, "/proc/self/mem", 1) end},
  {"read a descriptor", function() return succeeds(lg.data.text, "/proc/self/fd/0", 1) end, "stream"},
  {"data.csv", function() return succeeds(lg.data.csv, secret) end},
  {"data.text", function() return succeeds(lg.data.text, secret, 1) end},
  {"data.image_folder", function() return succeeds(lg.data.image_folder, outside) end},
  {"describe a file outside", function() return succeeds(lg.io.safetensors.load, at "secret.st", {metadata = true}) end},
  {"resume a checkpoint outside", function() return succeeds(lg.run.resume, at "secret.st") end},
  {"find a checkpoint outside", function() return lg.run._find_checkpoint(at "run") end},
  {"list checkpoints outside",
    function() return #lg.run._checkpoints_before(at "run/checkpoints/step-00000002.safetensors") > 0 end},
  {"resume there without reading", function()
    lg.run._resume_at(at "run/checkpoints/step-00000001.safetensors", 1, 0, {}, {seed = 0, stream = 0})
    lg.run.log{a = 1}
  end},
  {"require a file outside", function() return succeeds(require, "../outside/secret") end},
  {"require by an absolute name", function() return succeeds(require, at "secret") end},
  {"require through a link", function() return succeeds(require, "link") end},
  {"require through a linked folder", function() return succeeds(require, "out.secret") end},
  {"help of a file outside", function() return lg.help and tostring(lg.help "../../../../../etc/passwd"):find "root:" end},
  -- Writing.
  {"write beside", function() return any(savers(), function(save) return succeeds(save, at "new", lg.ones(2, 2)) end) end},
  {"write into the script's folder",
    function() return any(savers(), function(save) return succeeds(save, own .. "/new", lg.ones(2, 2)) end) end},
  {"write over its own script", function() return succeeds(lg.io.csv.save, arg[0], lg.ones(2)) end},
  {"write through ..", function() return succeeds(lg.io.csv.save, "result/../new.csv", lg.ones(2)) end},
  {"write through a link", function() return succeeds(lg.io.csv.save, own .. "/out/new.csv", lg.ones(2)) end},
  {"write to a device", function() return succeeds(lg.io.csv.save, "/dev/stdout", lg.ones(2)) end, "stream"},
  {"write to a descriptor", function() return succeeds(lg.io.csv.save, "/dev/fd/2", lg.ones(2)) end, "stream"},
  {"write to own memory", function() return succeeds(lg.io.csv.save, "/proc/self/mem", lg.ones(2)) end},
  {"save a value", function() return succeeds(lg.io.save, at "new.st", {1}) end},
  {"export a model", function()
    return succeeds(lg.io.onnx_export, at "new.onnx", lg.nn.Linear(2, 1), lg.ones(1, 2))
  end},
  {"name an image out of the folder", function()
    lg.run.image("../../outside/new", lg.zeros(2, 2))
    lg.run.image("/" .. at "new", lg.zeros(2, 2))
  end},
  {"name values out of the folder", function()
    lg.run.log{["../../outside/new"] = 1}
    lg.run.text("../../outside/new", "x")
    lg.run.histogram("../../outside/new", lg.ones(3))
  end},
  {"make a folder for shards", function() return succeeds(lg.run._shard_folder, at "new", true) end},
  {"remove shards", function() lg.run._keep_shards(at "kept", "x") end},
  {"remove a checkpoint", function() lg.run._remove_checkpoint(at "run/checkpoints/step-00000001.safetensors") end},
  -- Programs and the network.
  {"find a function of the system", function()
    return io or debug or package or dofile or loadfile or string.dump or os.execute or os.remove or os.rename or
      os.tmpname or os.getenv or os.exit
  end},
  {"find a library of the system", function()
    return any({"io", "debug", "package", "ffi", "posix", "socket", "lfs"}, function(name) return succeeds(require, name) end)
  end},
  {"load bytecode", function() return load("\27Lua", "x", "b") or load(function() return nil end, "\27Lua") and false end},
  {"load bytecode of a file", function() return succeeds(require, "bytes") end},
  {"change the methods of texts", function() return getmetatable "" end},
  {"reach a finalizer", function() return succeeds(setmetatable, {}, {__gc = print}) end},
  {"call a finalizer of the engine", function() return getmetatable(lg.ones(1)).__gc end},
  {"draw with another program", function()
    local leaf = lg.ones(1):requires_grad_()
    return succeeds(function() lg.tape((leaf * 2):sum()):svg(at "new.svg") end)
  end},
  {"bring a shader", function() return succeeds(lg.kernel, {source = "void main() {}"}) end},
  {"join other processes", function() return succeeds(lg.distributed.init) end},
  -- Memory and time.
  {"fill the memory with text", function()
    local text = ("x"):rep(1 << 20)
    for _ = 1, 20 do text = text .. text end
    return true
  end},
  {"fill the memory with tensors", function()
    local all = {}
    for i = 1, 1000 do all[i] = lg.ones(1 << 20) end
    return true
  end},
  {"fill the memory with tables", function()
    local all = {}
    for i = 1, 1e8 do all[i] = {} end
    return true
  end},
  {"fill the memory with a graph", function()
    local x = lg.ones(1, {requires_grad = true})
    for _ = 1, 1e7 do x = x + 1 end
    return true
  end},
  {"fill the memory with names", function()
    for i = 1, 1e5 do lg.run.log{[("x"):rep(1000) .. i] = 1} end
  end},
  {"fill the disk with files", function()
    for i = 1, 1000 do lg.io.npy.save("result/" .. i .. ".npy", lg.ones(1 << 18)) end
    return true
  end},
  {"fill the disk with one file", function()
    return succeeds(lg.io.npy.save, "result/big.npy", lg.ones(1 << 22))
  end},
  {"fill the disk with text", function()
    local line = ("x"):rep(1 << 16)
    for _ = 1, 1000 do lg.run.text("a", line) end
  end},
  {"fill the disk with pictures", function()
    for i = 1, 300 do lg.run.image("a" .. i, lg.rand(3, 200, 200)) end
  end},
  {"fill the disk with checkpoints", function()
    local w = lg.run.state("w", function() return lg.zeros(1 << 18) end)
    for _ in lg.run.steps(20) do
      w:add_(1)
      lg.run.checkpoint()
    end
  end},
}

if not number then return print(#attacks) end
local name, attack, got_through = table.unpack(attacks[tonumber(number)])
print(name)
lg.run.log{begun = 1}
local good, got = pcall(attack)
print(good and got and (got_through or "through") or "held", good and "" or got)
