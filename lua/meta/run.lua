---@meta
-- lg.run: the run that is going on. Without a window what only a window shows does nothing.

---@class lunagrad.run
local run = {}

---A parameter's value: --set name=value, else a resumed checkpoint's, else `default`.
---@generic T: number|string|boolean
---@param name string
---@param default T
---@param options? {min: number?, max: number?, log: boolean?}
---@return T
function run.param(name, default, options) end

---The same as a handle whose call gives the value of now; what lg.optim and Dropout take for a number.
---@param name string
---@param default number|string|boolean
---@param options? {min: number?, max: number?, log: boolean?}
---@return fun(): any
function run.live(name, default, options) end

---for step in lg.run.steps(n) do … end: 1 to n, or behind the step of the checkpoint that the run goes on from. Pause,
---stop, checkpoints and changed parameters act between two steps. One loop a run.
---@param n? integer none: without end
---@return fun(): integer?
function run.steps(n) end

---Numbers or tensors of one element, under their names, for this step.
---@param metrics table<string, number|boolean|lunagrad.Tensor>
function run.log(metrics) end

---@param name string
---@param value string
function run.text(name, value) end

---What build() returns, registered under a name. Checkpoints keep it: what has state_dict and load_state_dict, a tensor,
---or a table of these, numbers, strings and booleans. Resumed, it has the checkpoint's values.
---@generic T
---@param name string
---@param build fun(): T
---@return T
function run.state(name, build) end

---Writes a checkpoint: in lg.run.steps at the end of the step, elsewhere now.
function run.checkpoint() end

---Goes on from a checkpoint, or the newest of a run's folder, as --resume does. Before the first run.state.
---@param path string
---@return integer? step nil: the folder has no checkpoint
function run.resume(path) end

---Pauses here when somebody can resume: in the window.
---@param condition? any
function run.breakpoint(condition) end

---A NaN or infinity ends the run with exit code 4.
---@param level boolean|"off"|"step"|"op"
function run.assert_finite(level) end

function run.image(...) end
function run.histogram(...) end
function run.watch(...) end

return run
