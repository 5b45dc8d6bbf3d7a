---@meta
-- lg.run: the run that is going on. What belongs to a run's folder does nothing where there is none.

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

---A line of metrics.jsonl, shown by `lunagrad runs show` and TensorBoard.
---@param name string
---@param value string
function run.text(name, value) end

---A PNG in the run's folder: [channels, height, width] with 1 to 4 channels, [height, width], or [pictures, channels,
---height, width], which are laid side by side. u8, bool, or floats of which 0 to 1 are black to white; `normalize` scales
---the least value to 0 and the largest to 1.
---@param name string
---@param picture lunagrad.Tensor
---@param options? {normalize: boolean?}
function run.image(name, picture, options) end

---What a tensor's values look like: extremes, mean, std, norm, zeros, percentiles, bins; NaN and infinities are counted
---apart. Of complex numbers the absolute values.
---@param name string
---@param values lunagrad.Tensor
function run.histogram(name, values) end

---In every n-th step (100 when left out), from the first on: norms of the model's parameters and gradients, how far an
---update moved them, what the layers gave out, which units of a ReLU are dead; warns of dead units and of norms that
---explode. `name` stands before the names of the parts, when several models are watched.
---@param model lunagrad.nn.Module
---@param options? {every: integer?, histograms: boolean?, activations: boolean?, name: string?}
function run.watch(model, options) end

---What build() returns, registered under a name. Checkpoints keep it: what has state_dict and load_state_dict, a tensor,
---or a table of these, numbers, strings and booleans. Resumed, it has the checkpoint's values; after a reload what fits
---of those before it.
---@generic T
---@param name string
---@param build fun(): T
---@return T
function run.state(name, build) end

---Writes a checkpoint: in lg.run.steps at the end of the step, elsewhere now. When it cannot be written (the disk is full)
---the run goes on with a warning, elsewhere it is an error; the older ones stay as they are.
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

return run
