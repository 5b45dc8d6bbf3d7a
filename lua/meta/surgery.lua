---@meta
-- lg.surgery for editors; the code is in lua/lunagrad/surgery.

---@class lunagrad
---@field surgery lunagrad.surgery

---Changes of a running model, at a pause or in a script, that can be undone. A path begins with a state of
---lg.run.state, a local variable of the script's active functions or a global, and continues as in named_modules and
---named_parameters: "model.layers.2.fc1". The variable may be left out if only one model has the rest of the path. The
---module or tensor itself works too. Shapes that do not fit are an error, and an error changes nothing. Optimizers,
---averages, hooks, lg.run.watch and lg.compile are updated.
---@class lunagrad.surgery
local surgery = {}

---The module or tensor at a path, as in a probe: "norm of lg.surgery.get('fc1.weight').grad".
---@param path string
---@return lunagrad.nn.Module|Tensor
function surgery.get(path) end

---Replaces a module by another. The new module moves to the old module's device and type, and gets its hooks.
---Optimizers train its parameters in the groups of the old parameters.
---@param path string|lunagrad.nn.Module
---@param module lunagrad.nn.Module
function surgery.replace(path, module) end

---Inserts a module beside another: as an item of its own in a ModuleList or Sequential; elsewhere both become a
---Sequential. It must keep the shape of the tensor that flows there. Optimizers train it in the group of its nearest
---neighbours.
---@param path string|lunagrad.nn.Module
---@param module lunagrad.nn.Module
---@param where? "before"|"after" default "after"
function surgery.insert(path, module, where) end

---Removes a module: an item of a ModuleList or Sequential is removed, a field gets an Identity. The module's output
---must have the shape of its input.
---@param path string|lunagrad.nn.Module
function surgery.remove(path) end

---Parameters get no gradients any more, and optimizers skip them.
---@param path string|lunagrad.nn.Module|Tensor
function surgery.freeze(path) end

---Parameters are trained again.
---@param path string|lunagrad.nn.Module|Tensor
function surgery.unfreeze(path) end

---Initializes parameters again: as their layers do, with running statistics; or by `init`, a name of lg.nn.init or a
---function of a tensor, which fills the parameters of two and more dims of a module.
---@param path string|lunagrad.nn.Module|Tensor
---@param init? string|fun(x: Tensor): Tensor?
function surgery.reinit(path, init) end

---Multiplies parameters by a number.
---@param path string|lunagrad.nn.Module|Tensor
---@param factor number
function surgery.rescale(path, factor) end

---x[index] = value for a parameter or buffer.
---@param x string|Tensor
---@param index integer|table|Tensor
---@param value number|boolean|table|Tensor
function surgery.edit(x, index, value) end

---Sets a setting of an optimizer for the groups that hold the parameters at `path` (nil: for all groups), as "lr"; or a state of
---these parameters, as "exp_avg": a number fills it.
---@param optimizer string|lunagrad.optim.Optimizer
---@param path? string|lunagrad.nn.Module|Tensor
---@param key string
---@param value number|boolean|string|table|Tensor
function surgery.optimizer(optimizer, path, key, value) end

---Restores the state from before the latest change: all values, optimizer states, flags, modules, and the position of
---the random generator. Training since then is undone; the step counter and data loaders are not. Returns what was
---undone.
---@return string
function surgery.undo() end

---Restores the state from before the latest undo.
---@return string
function surgery.redo() end

---Undoes or redoes until `count` changes of the history are in effect.
---@param count integer
---@return string? report of the last one
function surgery.go_to(count) end

---The changes, oldest first. `line` is the Lua line that makes the same change, `bytes` the memory that undo keeps for
---this change alone.
---@return {title: string, line: string, step: integer, bytes: integer, undone: boolean}[]
function surgery.history() end

---The bytes that the copies for undo may take, 512 MiB at first; sets them when given. The oldest changes are dropped first, with a
---warning.
---@param bytes? integer
---@return integer
function surgery.budget(bytes) end

---A hash of 64 bits of the state: all tensors of models, optimizer states and settings, requires_grad and training flags, the
---structure of modules, and the position of the random generator. Equal states have equal hashes, in every process.
---@return integer
function surgery.hash() end

return surgery
