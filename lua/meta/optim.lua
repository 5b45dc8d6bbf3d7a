---@meta
-- lg.optim for editors; the code is in lua/lunagrad/optim.

---@class lunagrad
---@field optim lunagrad.optim

---@class lunagrad.optim
local optim = {}

---A number, or what is called for one at every step: a function or a handle of lg.run.live.
---@alias lunagrad.Setting number|(fun(): number)

---A list of parameters, or of groups {params = {…}, lr = …}.
---@alias lunagrad.Parameters Tensor[]|table[]

---@class lunagrad.optim.Optimizer
---@field param_groups table[] settings may be read and set: optimizer.param_groups[1].lr = 0.1
local Optimizer = {}

---One update of every parameter that has a gradient.
function Optimizer:step() end

---Gradients become nil; with {set_to_none = false} they become zero.
---@param options? {set_to_none?: boolean}
function Optimizer:zero_grad(options) end

---@param group table {params = {…}, and settings of its own}
function Optimizer:add_param_group(group) end

---PyTorch's layout: {state = {[0] = {step, exp_avg, …}}, param_groups = {{params = {0, …}, lr, …}}}.
---@return table
function Optimizer:state_dict() end

---@param state table
function Optimizer:load_state_dict(state) end

---@param params lunagrad.Parameters
---@param options? {lr?: lunagrad.Setting, momentum?: lunagrad.Setting, dampening?: lunagrad.Setting, weight_decay?: lunagrad.Setting, nesterov?: boolean, maximize?: boolean}
---@return lunagrad.optim.Optimizer
function optim.SGD(params, options) end

---@param params lunagrad.Parameters
---@param options? {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, amsgrad?: boolean, maximize?: boolean}
---@return lunagrad.optim.Optimizer
function optim.Adam(params, options) end

---Adam with the weight decay (0.01) apart from the gradient.
---@param params lunagrad.Parameters
---@param options? {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, amsgrad?: boolean, maximize?: boolean}
---@return lunagrad.optim.Optimizer
function optim.AdamW(params, options) end

return optim
