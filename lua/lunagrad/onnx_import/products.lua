-- Matrix products.
local core = require "lunagrad.core"

local M = {}

function M.MatMul(call) return core.matmul(call[1], call[2]) end
function M.Gemm(call)
  local a = call:get("transA", 0) == 1 and call[1]:t() or call[1]
  local b = call:get("transB", 0) == 1 and call[2]:t() or call[2]
  local y = core.matmul(a, b)
  local alpha, beta = call:get("alpha", 1.0), call:get("beta", 1.0)
  if alpha ~= 1 then y = y * alpha end
  if not call[3] then return y end
  return y + (beta == 1 and call[3] or call[3] * beta)
end
function M.Einsum(call)
  local operands = {}
  for i = 1, #call.node.inputs do operands[i] = call[i] end
  return core.einsum(call:get "equation", operands)
end
function M.Det(call) return core.linalg.det(call[1]) end

return M
