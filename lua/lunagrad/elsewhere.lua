-- PyTorch's tables without a counterpart of the same name, as torch.cuda and torch.autograd: reading a field of them is
-- an error that says what to write. Flags of torch.backends may be set and have no effect.
local core = require "lunagrad.core"

local seed = "lg.manual_seed(1) seeds every device"
local autocast = "write lg.autocast(\"bf16\", function() … end)"
local devices = "a GPU is the device \"vulkan\": --device vulkan makes it the default, x:to(\"vulkan\"); lg.devices() lists what there is"
local curves = "write lg.run.log{loss = loss}, lg.run.image, lg.run.histogram"

-- The advice for a whole table, and for its fields that are not in the list of PyTorch's names.
local tables = {
  amp = {autocast, fields = {GradScaler = "write lg.GradScaler()"}},
  autograd = {
    "torch.autograd.grad is lg.grad, its functional part lg.grad.jacobian …, a Function lg.custom_op",
    tables = {functional = {"torch.autograd.functional is lg.grad.jacobian, lg.grad.hessian, lg.grad.vjp …"},
      profiler = {"lg.run.profile and `lunagrad run --profile` time a script"}},
  },
  backends = {"there is nothing to set", flags = true},
  cuda = {
    devices,
    fields = {
      is_available = "write lg.devices()[2] ~= nil; " .. devices, device_count = "write #lg.devices() - 1",
      manual_seed = seed, manual_seed_all = seed, seed_all = seed,
      memory_allocated = "write lg.memory().in_use", max_memory_allocated = "write lg.memory().peak",
      memory_reserved = "write lg.memory().reserved", reset_peak_memory_stats = "write lg.reset_peak_memory()",
      empty_cache = "memory that is not used goes back by itself",
    },
    tables = {amp = {autocast, fields = {GradScaler = "write lg.GradScaler()"}}},
  },
  random = {seed},
  utils = {
    "torch.utils.data is lg.data, torch.utils.checkpoint lg.checkpoint",
    tables = {
      data = {"torch.utils.data is lg.data", here = "lg.data."},
      checkpoint = {"write lg.checkpoint(f, x)"},
      tensorboard = {curves},
    },
  },
}

local guides = {}  -- the guides, as keys, to tell them from other tables
local guide

local function refuse(path, name, described)
  local instead = core._pytorch(path .. "." .. name)
  local here = described.here
  if instead == "" then
    instead = described.fields and described.fields[name] or here and "write " .. here .. name or described[1]
  end
  core._fail(("%s.%s does not exist; %s"):format(path, name, instead))
end

function guide(path, described)
  local function absent() core._fail(("%s does not exist; %s"):format(path, described[1])) end
  local made = setmetatable({}, {
    __index = function(_, name)
      local inner = described.tables and described.tables[name] or described.flags and described
      if inner then return guide(path .. "." .. tostring(name), inner) end
      refuse(path, tostring(name), described)
    end,
    __newindex = function(_, name)
      if not described.flags then refuse(path, tostring(name), described) end
    end,
    __call = absent, __tostring = absent, __len = absent,
  })
  guides[made] = true
  return made
end
setmetatable(guides, {__mode = "k"})

local elsewhere = {}

-- The guide for lg[name]; nil if there is none.
function elsewhere.of(name)
  return tables[name] and guide("lg." .. name, tables[name])
end

function elsewhere.is_guide(value) return guides[value] == true end

return elsewhere
