-- Sets the gradients of parameters to nil, or to zero with {set_to_none = false} or with false, which is PyTorch's
-- positional argument.
local core = require "lunagrad.core"

return function(parameters, set_to_none)
  if type(set_to_none) == "table" then
    for name in pairs(set_to_none) do
      if name ~= "set_to_none" then
        core._fail(("zero_grad: unknown option '%s' (known: set_to_none)"):format(tostring(name)))
      end
    end
    set_to_none = set_to_none.set_to_none
  elseif set_to_none ~= nil and type(set_to_none) ~= "boolean" then
    core._fail(("zero_grad: true, false or {set_to_none = …} expected (got %s)"):format(type(set_to_none)))
  end
  for _, parameter in ipairs(parameters) do
    if set_to_none ~= false then
      parameter.grad = nil
    elseif parameter.grad then
      -- A gradient with a history of its own (create_graph) is detached before it is set to zero.
      if parameter.grad.grad_fn then parameter.grad = parameter.grad:detach() end
      parameter.grad:zero_()
    end
  end
end
