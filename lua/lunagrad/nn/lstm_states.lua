-- The states h and c that an LSTM is called with: two arguments, or a pair {h, c} as in PyTorch. Without states both are zeros.
local core = require "lunagrad.core"

local states = {}

-- pair(class, object, h, c) -> h, c. With h alone c would begin with zeros at each call of a loop.
function states.pair(class, object, h, c)
  if type(h) == "table" and c == nil then h, c = h[1], h[2] end
  if (h == nil) ~= (c == nil) then
    local made = class == "LSTM" and "local out, h, c" or "h, c"
    core._fail(("%s: h and c are given together; write %s = %s(x, h, c)"):format(class, made, object))
  end
  return h, c
end

return states
