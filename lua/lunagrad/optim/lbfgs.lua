-- LBFGS(params, {lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn}): Nocedal,
-- Wright, "Numerical Optimization" (2006), algorithm 7.4, as PyTorch has it. step(closure) calls the closure up to
-- max_eval times; the closure recomputes the gradients and returns the loss. Only one parameter group is supported.
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader
local follow = require "lunagrad.optim.follow"
local live = require "lunagrad.live"
local search = require "lunagrad.optim.wolfe"
local shards = require "lunagrad.shards"

local fail = core._fail

local read = reader("LBFGS", "params", {"lr", 1}, {"max_iter", 20}, {"max_eval"}, {"tolerance_grad", 1e-7},
  {"tolerance_change", 1e-9}, {"history_size", 100}, {"line_search_fn"})

local LBFGS
LBFGS = Optimizer.class("LBFGS", function(...)
  local a = read(...)
  local line_search = a.line_search_fn
  if line_search ~= nil and line_search ~= "strong_wolfe" then
    fail(("LBFGS: line_search_fn must be 'strong_wolfe' or nil (got '%s')"):format(tostring(line_search)))
  end
  a.max_eval = a.max_eval or a.max_iter * 5 // 4
  a.line_search_fn = line_search ~= nil
  return a
end)

-- All parameters share one state. It is stored with the first parameter, and its tensors have shapes of their own.
LBFGS.free_state = true
function LBFGS.further_states()
  return {"func_evals", "old_dirs", "old_stps", "ro", "H_diag", "d", "t", "prev_flat_grad", "prev_loss"}
end

-- Complex tensors are used as pairs of real numbers.
local function reals(tensor)
  return tensor:dtype():find "^c" and tensor:detach():view_as_real() or tensor
end

local function flat(tensors)
  local pieces = {}
  for i, tensor in ipairs(tensors) do pieces[i] = reals(tensor):reshape(-1) end
  return #pieces == 1 and pieces[1]:clone() or core.cat(pieces)
end

local function flat_gradient(parameters)
  local pieces = {}
  for i, parameter in ipairs(parameters) do pieces[i] = parameter.grad or core.zeros_like(parameter:detach()) end
  return flat(pieces)
end

local function write(parameters, values)
  local at = 1
  for _, parameter in ipairs(parameters) do
    local numbers = reals(parameter)
    local n = numbers:numel()
    numbers:copy_(values:narrow(1, at, n):reshape(numbers:size()))
    at = at + n
  end
end

local function dot(a, b) return (a * b):sum():item() end
local function largest(x) return x:abs():max():item() end

-- The two-loop recursion: -H g, where H approximates the inverse Hessian from the history of steps and gradient
-- differences.
local function direction(memory, gradient)
  local q, shares = -gradient, {}
  for i = #memory.old_stps, 1, -1 do
    shares[i] = dot(memory.old_stps[i], q) * memory.ro[i]
    q = q - memory.old_dirs[i] * shares[i]
  end
  q = q * memory.H_diag
  for i = 1, #memory.old_stps do
    q = q + memory.old_stps[i] * (shares[i] - dot(memory.old_dirs[i], q) * memory.ro[i])
  end
  return q
end

-- Adds the newest pair to the history: y, the gradient difference, and s, the step.
local function remember(memory, gradient, history_size)
  local y, s = gradient - memory.prev_flat_grad, memory.d * memory.t
  local curvature = dot(y, s)
  if curvature <= 1e-10 then return end
  if #memory.old_dirs == history_size then
    for _, list in ipairs {memory.old_dirs, memory.old_stps, memory.ro} do table.remove(list, 1) end
  end
  local n = #memory.old_dirs + 1
  memory.old_dirs[n], memory.old_stps[n], memory.ro[n] = y, s, 1 / curvature
  memory.H_diag = curvature / dot(y, y)
end

-- Moves along memory.d. Returns the loss and the gradient at the new point (nil when they are not needed), and the number
-- of evaluations.
local function advance(memory, s, parameters, loss, gradient, slope, last, evaluate)
  local origin = flat(parameters)
  local function at(t)
    write(parameters, origin + memory.d * t)
    local value, g = evaluate()
    return {t = t, f = value, g = g, slope = dot(g, memory.d)}
  end
  if s.line_search_fn then
    local start = {t = 0, f = loss, g = gradient, slope = slope}
    local point, evaluations = search(start, memory.t, largest(memory.d), 1e-9, at)
    write(parameters, origin + memory.d * point.t)
    memory.t = point.t
    return point.f, point.g, evaluations
  end
  write(parameters, origin + memory.d * memory.t)
  if last then return loss, gradient, 0 end
  local value, g = evaluate()
  return value, g, 1
end

function LBFGS:step(closure)
  if type(closure) ~= "function" then fail("LBFGS: step(closure) needs a function that returns the loss") end
  if #self.param_groups ~= 1 then fail(("LBFGS: one group of parameters is taken (got %d)"):format(#self.param_groups)) end
  self:_run_hooks("step_pre", closure)
  local group = self.param_groups[1]
  local s, parameters = self:settings_of(group), group.params
  for _, parameter in ipairs(parameters) do shards.refuse("LBFGS", parameter) end
  local memory = self.state[parameters[1]]
  follow.state(memory, parameters[1])
  local evaluations = 0

  local _ <close> = core.no_grad()
  local function evaluate()
    local loss
    do
      local _ <close> = core.enable_grad()
      loss = closure()
    end
    evaluations = evaluations + 1
    memory.func_evals = (memory.func_evals or 0) + 1
    return core.is_tensor(loss) and loss:item() or loss, flat_gradient(parameters), loss
  end

  local loss, gradient, first = evaluate()
  self:about_to_update()
  local iterations = 0
  while iterations < s.max_iter and largest(gradient) > s.tolerance_grad do
    iterations, memory.step = iterations + 1, memory.step + 1
    if memory.step == 1 then
      memory.old_dirs, memory.old_stps, memory.ro, memory.H_diag = {}, {}, {}, 1
      memory.d = -gradient
      memory.t = math.min(1, 1 / gradient:abs():sum():item()) * s.lr
    else
      remember(memory, gradient, s.history_size)
      memory.d = direction(memory, gradient)
      memory.t = s.lr
    end
    memory.prev_flat_grad, memory.prev_loss = gradient, loss
    local slope = dot(gradient, memory.d)
    if slope > -s.tolerance_change then break end
    loss, gradient = advance(memory, s, parameters, loss, gradient, slope, iterations == s.max_iter, evaluate)
    if evaluations >= s.max_eval or largest(memory.d * memory.t) <= s.tolerance_change
      or math.abs(loss - memory.prev_loss) < s.tolerance_change then
      break
    end
  end
  self.lists[group] = {all = core._step_list(parameters)}
  core._stepped(self.lists[group].all)
  if core.run then core.run._count_step() end
  self:_run_hooks("step_post", closure)
  return first
end
LBFGS.step = live(LBFGS.step)

return LBFGS
