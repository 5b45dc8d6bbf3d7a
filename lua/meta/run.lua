---@meta
-- lg.run: the current run. Functions that write to the run's folder do nothing if there is none.

---@class lunagrad.run
local run = {}

---The value of a parameter: from --set name=value, else from a resumed checkpoint, else `default`.
---@generic T: number|string|boolean
---@param name string
---@param default T
---@param options? {min: number?, max: number?, log: boolean?}
---@return T
function run.param(name, default, options) end

---As lg.run.param, but returns a handle: calling it returns the current value. lg.optim and Dropout accept it in place
---of a number.
---@param name string
---@param default number|string|boolean
---@param options? {min: number?, max: number?, log: boolean?}
---@return fun(): any
function run.live(name, default, options) end

---Iterates over steps: for step in lg.run.steps(n) do … end counts from 1, or from the step after a resumed checkpoint, to n.
---Pause, stop, checkpoints and changed parameters take effect between two steps. One loop per run.
---@param n? integer default: endless
---@return fun(): integer?
function run.steps(n) end

---Logs numbers or one-element tensors for this step.
---@param metrics table<string, number|boolean|lunagrad.Tensor>
function run.log(metrics) end

---Logs a text for this step, shown by `lunagrad runs show` and TensorBoard.
---@param name string
---@param value string
function run.text(name, value) end

---Saves an image as PNG in the run's folder: [channels, height, width] with 1 to 4 channels, [height, width], or
---[pictures, channels, height, width], placed side by side. u8, bool, or floats from 0 (black) to 1 (white); `normalize`
---maps the smallest value to 0 and the largest to 1.
---@param name string
---@param picture lunagrad.Tensor
---@param options? {normalize: boolean?}
function run.image(name, picture, options) end

---Logs the distribution of a tensor's values: extremes, mean, std, norm, zeros, percentiles, bins. NaN and infinities are
---counted separately. Complex numbers count by absolute value.
---Defaults: density = false.
---@param name string
---@param values lunagrad.Tensor
function run.histogram(name, values) end

---Records, in the first and then every n-th step (default 100): norms of parameters and gradients, sizes of updates,
---outputs of layers, dead ReLU units. Warns of dead units and exploding norms. `name` is a prefix, for several models.
---@param model lunagrad.nn.Module
---@param options? {every: integer?, histograms: boolean?, activations: boolean?, name: string?}
function run.watch(model, options) end

---Registers and returns the result of build(): an object with state_dict and load_state_dict, a tensor, or a table of
---objects, tensors, numbers, strings and booleans. Checkpoints save it. A resumed run restores it from the checkpoint;
---a reloaded script restores the values that still fit.
---@generic T
---@param name string
---@param build fun(): T
---@return T
function run.state(name, build) end

---Writes a checkpoint: inside lg.run.steps at the end of the step, elsewhere immediately. If it cannot be written
---(disk full), this is a warning inside lg.run.steps and an error elsewhere; older checkpoints stay unchanged. All
---checkpoints are kept, unless options say how many: keep_last keeps the latest ones, keep_best also the one with the
---lowest (mode "max": highest) logged value of this metric.
---@param options? {keep_last: integer?, keep_best: string?, mode: "min"|"max"?}
function run.checkpoint(options) end

---Resumes from a checkpoint, or from the newest checkpoint in a run's folder. The folder may be given by its name in
---runs/, as for --resume. Call it before the first run.state.
---@param path string
---@return integer? step nil: the folder has no checkpoint
function run.resume(path) end

---Pauses here if a viewer can resume the run (the window does), and if the condition is not false.
---@param condition? any
function run.breakpoint(condition) end

---Ends the run with exit code 4 at a NaN or infinity: checked at each step, or after each op (true).
---@param level boolean|"off"|"step"|"op"
function run.assert_finite(level) end

return run
