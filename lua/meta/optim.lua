---@meta
-- lg.optim for editors and for `help`. The optimizers with a fused step are annotated in their files in
-- lua/lunagrad/optim.

---@class lunagrad
---@field optim lunagrad.optim

---@class lunagrad.optim
local optim = {}

---A number, or a function or handle of lg.run.live that is called at every step.
---@alias lunagrad.Setting number|(fun(): number)

---A list of parameters, model:named_parameters(), or a list of groups {params = {…}, name = …, lr = …}.
---@alias lunagrad.Parameters Tensor[]|table[]|fun(): string, Tensor

---@class lunagrad.optim.Optimizer
---@field param_groups table[] settings may be read and set: optimizer.param_groups[1].lr = 0.1
local Optimizer = {}

---Updates every parameter that has a gradient. A closure is called first; its loss is returned.
---@param closure? fun(): Tensor
---@return Tensor?
function Optimizer:step(closure) end

---Sets the gradients to nil; with false or {set_to_none = false} to zero.
---@param options? boolean|{set_to_none?: boolean}
function Optimizer:zero_grad(options) end

---Calls hook(optimizer, closure) before each step.
---@param hook fun(optimizer: lunagrad.optim.Optimizer, closure?: function)
---@return lunagrad.nn.Handle
function Optimizer:register_step_pre_hook(hook) end
---Calls hook(optimizer, closure) after each step.
---@param hook fun(optimizer: lunagrad.optim.Optimizer, closure?: function)
---@return lunagrad.nn.Handle
function Optimizer:register_step_post_hook(hook) end
---Calls hook(optimizer) before state_dict().
---@param hook function
---@return lunagrad.nn.Handle
function Optimizer:register_state_dict_pre_hook(hook) end
---Calls hook(optimizer, state) after state_dict().
---@param hook function
---@return lunagrad.nn.Handle
function Optimizer:register_state_dict_post_hook(hook) end
---Calls hook(optimizer, state) before a state is loaded; it may change the state.
---@param hook function
---@return lunagrad.nn.Handle
function Optimizer:register_load_state_dict_pre_hook(hook) end
---Calls hook(optimizer) once a state is loaded.
---@param hook function
---@return lunagrad.nn.Handle
function Optimizer:register_load_state_dict_post_hook(hook) end

---Adds a parameter group.
---@param group table {params = {…}, and its own settings}
function Optimizer:add_param_group(group) end

---The state in PyTorch's layout: {state = {[0] = {step, exp_avg, …}}, param_groups = {{params = {0, …}, lr, …}}}.
---@return table
function Optimizer:state_dict() end

---Restores a state.
---@param state table
function Optimizer:load_state_dict(state) end

---L-BFGS, a quasi-Newton method: step(closure), where the closure recomputes the gradients and returns the loss.
---Defaults: lr = 1, max_iter = 20, tolerance_grad = 1e-7, tolerance_change = 1e-9, history_size = 100.
---@param params lunagrad.Parameters
---@param options? {lr?: lunagrad.Setting, max_iter?: integer, max_eval?: integer, tolerance_grad?: number, tolerance_change?: number, history_size?: integer, line_search_fn?: "strong_wolfe"}
---@return lunagrad.optim.Optimizer
function optim.LBFGS(params, options) end

---An exponential moving average of parameters: call update() after each optimizer step.
---@class lunagrad.optim.EMA
---@field averages Tensor[]
local EMA = {}

---Adds the current parameters to the averages.
function EMA:update() end
---Copies the averages into the parameters, or into other tensors of the same shapes.
---@param parameters? Tensor[]
function EMA:copy_to(parameters) end
---Swaps averages and parameters.
function EMA:swap() end
---Calls fn while the parameters hold the averages.
---@param fn fun(): any
---@return any
function EMA:average(fn) end
---The decay, the number of updates and the averages.
---@return table
function EMA:state_dict() end
---Restores a state.
---@param state table
function EMA:load_state_dict(state) end

---An exponential moving average of parameters.
---Defaults: decay = 0.999.
---@param params Tensor|Tensor[]
---@param options? {decay?: lunagrad.Setting}
---@return lunagrad.optim.EMA
function optim.EMA(params, options) end

---@class lunagrad.optim.GradScaler
local GradScaler = {}

---Multiplies a tensor, or a list of tensors, by the scale.
---@param outputs Tensor|Tensor[]
---@return Tensor|Tensor[]
function GradScaler:scale(outputs) end
---Divides the gradients by the scale, so that they can be clipped at their true size. Call it once between backward and
---step.
---@param optimizer lunagrad.optim.Optimizer
function GradScaler:unscale_(optimizer) end
---Takes the optimizer's step, unless its gradients hold NaN or Inf.
---@param optimizer lunagrad.optim.Optimizer
---@return boolean made
function GradScaler:step(optimizer) end
---Adjusts the scale after the steps, or sets it.
---@param new_scale? number
function GradScaler:update(new_scale) end
---The current scale.
---@return number
function GradScaler:get_scale() end
---Whether the scaler scales.
---@return boolean
function GradScaler:is_enabled() end
---The scale and its counters.
---@return table
function GradScaler:state_dict() end
---Restores a state.
---@param state table
function GradScaler:load_state_dict(state) end

---Loss scaling against underflow in f16: scaler:scale(loss):backward(); scaler:step(optimizer); scaler:update(). A step with
---NaN or Inf in its gradients is skipped and lowers the scale; growth_interval good steps in a row raise it.
---Defaults: init_scale = 65536, growth_factor = 2, backoff_factor = 0.5, growth_interval = 2000, enabled = true.
---@param options? {init_scale?: number, growth_factor?: number, backoff_factor?: number, growth_interval?: integer, enabled?: boolean}
---@return lunagrad.optim.GradScaler
function optim.GradScaler(options) end

---@class lunagrad.optim.LRScheduler
---@field last_epoch integer
local Schedule = {}

---Sets the rates of the next step. ReduceLROnPlateau takes the metric: step(metric).
---@param epoch_or_metric? number|Tensor
function Schedule:step(epoch_or_metric) end
---The current rate of each parameter group.
---@return number[]
function Schedule:get_last_lr() end
---The schedule's state.
---@return table
function Schedule:state_dict() end
---Restores a state.
---@param state table
function Schedule:load_state_dict(state) end

---@class lunagrad.optim.lr_scheduler
local lr_scheduler = {}
optim.lr_scheduler = lr_scheduler

---Multiplies the rate by gamma every step_size steps.
---Defaults: gamma = 0.1.
---@param optimizer lunagrad.optim.Optimizer
---@param step_size integer
---@param options? {gamma?: number}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.StepLR(optimizer, step_size, options) end
---Multiplies the rate by gamma at each milestone.
---Defaults: gamma = 0.1.
---@param optimizer lunagrad.optim.Optimizer
---@param milestones integer[]
---@param options? {gamma?: number}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.MultiStepLR(optimizer, milestones, options) end
---Multiplies the rate by factor for the first total_iters steps.
---Defaults: factor = 0.333333, total_iters = 5.
---@param optimizer lunagrad.optim.Optimizer
---@param options? {factor?: number, total_iters?: integer}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.ConstantLR(optimizer, options) end
---Changes the factor linearly from start_factor to end_factor over total_iters steps.
---Defaults: start_factor = 0.333333, end_factor = 1, total_iters = 5.
---@param optimizer lunagrad.optim.Optimizer
---@param options? {start_factor?: number, end_factor?: number, total_iters?: integer}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.LinearLR(optimizer, options) end
---Multiplies the rate by gamma at every step.
---@param optimizer lunagrad.optim.Optimizer
---@param gamma number
---@return lunagrad.optim.LRScheduler
function lr_scheduler.ExponentialLR(optimizer, gamma) end
---Lowers the rate to 0 over total_iters steps by a polynomial.
---Defaults: total_iters = 5, power = 1.
---@param optimizer lunagrad.optim.Optimizer
---@param options? {total_iters?: integer, power?: number}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.PolynomialLR(optimizer, options) end
---Lowers the rate to eta_min along a cosine of half-period T_max.
---Defaults: eta_min = 0.
---@param optimizer lunagrad.optim.Optimizer
---@param T_max integer
---@param options? {eta_min?: number}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.CosineAnnealingLR(optimizer, T_max, options) end
---Cosine annealing that restarts after T_0 steps; each period is T_mult times as long.
---Defaults: T_mult = 1, eta_min = 0.
---@param optimizer lunagrad.optim.Optimizer
---@param T_0 integer
---@param options? {T_mult?: integer, eta_min?: number}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0, options) end
---Multiplies the initial rate by lr_lambda(step).
---@param optimizer lunagrad.optim.Optimizer
---@param lr_lambda (fun(t: integer): number)|(fun(t: integer): number)[]
---@return lunagrad.optim.LRScheduler
function lr_scheduler.LambdaLR(optimizer, lr_lambda) end
---Multiplies the rate of each group by lr_lambda(t) at each step t >= 1. A list has a function for each group.
---@param optimizer lunagrad.optim.Optimizer
---@param lr_lambda (fun(t: integer): number)|(fun(t: integer): number)[]
---@return lunagrad.optim.LRScheduler
function lr_scheduler.MultiplicativeLR(optimizer, lr_lambda) end
---Uses one scheduler after another, switching at the milestones.
---@param optimizer lunagrad.optim.Optimizer
---@param schedulers lunagrad.optim.LRScheduler[]
---@param milestones integer[]
---@return lunagrad.optim.LRScheduler
function lr_scheduler.SequentialLR(optimizer, schedulers, milestones) end
---Steps several schedulers of one optimizer at a time; their factors multiply.
---@param schedulers lunagrad.optim.LRScheduler[]
---@param optimizer? lunagrad.optim.Optimizer
---@return lunagrad.optim.LRScheduler
function lr_scheduler.ChainedScheduler(schedulers, optimizer) end
---Cycles the rate between base_lr and max_lr.
---Defaults: step_size_up = 2000, mode = "triangular", gamma = 1, scale_mode = "cycle", cycle_momentum = true,
---base_momentum = 0.8, max_momentum = 0.9.
---@param optimizer lunagrad.optim.Optimizer
---@param base_lr number|number[]
---@param max_lr number|number[]
---@param options? {step_size_up?: integer, step_size_down?: integer, mode?: "triangular"|"triangular2"|"exp_range", gamma?: number, scale_fn?: (fun(x: number): number), scale_mode?: "cycle"|"iterations", cycle_momentum?: boolean, base_momentum?: number, max_momentum?: number}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.CyclicLR(optimizer, base_lr, max_lr, options) end
---One cycle: up to max_lr, then down far below the initial rate.
---Defaults: pct_start = 0.3, anneal_strategy = "cos", cycle_momentum = true, base_momentum = 0.85,
---max_momentum = 0.95, div_factor = 25, final_div_factor = 10000, three_phase = false.
---@param optimizer lunagrad.optim.Optimizer
---@param max_lr number|number[]
---@param options? {total_steps?: integer, epochs?: integer, steps_per_epoch?: integer, pct_start?: number, anneal_strategy?: "cos"|"linear", cycle_momentum?: boolean, base_momentum?: number, max_momentum?: number, div_factor?: number, final_div_factor?: number, three_phase?: boolean}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.OneCycleLR(optimizer, max_lr, options) end
---Multiplies the rate by factor when a metric has stopped improving.
---Defaults: mode = "min", factor = 0.1, patience = 10, threshold = 0.0001, threshold_mode = "rel", cooldown = 0,
---min_lr = 0, eps = 1e-8.
---@param optimizer lunagrad.optim.Optimizer
---@param options? {mode?: "min"|"max", factor?: number, patience?: integer, threshold?: number, threshold_mode?: "rel"|"abs", cooldown?: integer, min_lr?: number|number[], eps?: number}
---@return lunagrad.optim.LRScheduler
function lr_scheduler.ReduceLROnPlateau(optimizer, options) end

---An error: there are no sparse tensors; write lg.optim.Adam.
function optim.SparseAdam() end

---Averages of a model's weights along training.
---@class lunagrad.optim.swa_utils
local swa_utils = {}
optim.swa_utils = swa_utils

---A copy of a model whose weights are averaged: update_parameters(model) adds the current weights. avg_fn(average,
---value, count) returns the next average (default: the mean); with use_buffers buffers are averaged too, else copied.
---Defaults: use_buffers = false.
---@param model lunagrad.nn.Module
---@param options? {device?: string, avg_fn?: (fun(average: Tensor, value: Tensor, count: integer): Tensor), use_buffers?: boolean}
---@return lunagrad.nn.Module
function swa_utils.AveragedModel(model, options) end
---Moves the rate from its current value to swa_lr within anneal_epochs steps, then keeps it constant.
---Defaults: anneal_epochs = 10, anneal_strategy = "cos".
---@param optimizer lunagrad.optim.Optimizer
---@param swa_lr number|number[]
---@param options? {anneal_epochs?: integer, anneal_strategy?: "cos"|"linear"}
---@return lunagrad.optim.LRScheduler
function swa_utils.SWALR(optimizer, swa_lr, options) end
---Recomputes the running statistics of all batch norms with one pass over the batches of a loader or a list. The first
---value of a batch is the model's input.
---@param loader lunagrad.data.DataLoader|(Tensor|Tensor[])[]
---@param model lunagrad.nn.Module
---@param device? string
function swa_utils.update_bn(loader, model, device) end
---Returns an avg_fn that computes the mean of all weights.
---@return fun(average: Tensor, value: Tensor, count: integer): Tensor
function swa_utils.get_swa_avg_fn() end
---Returns an avg_fn that computes decay average + (1 - decay) value.
---@param decay? number default 0.999
---@return fun(average: Tensor, value: Tensor, count: integer): Tensor
function swa_utils.get_ema_avg_fn(decay) end

return optim
