-- The states h and c in a call of an LSTM: two arguments, or a pair {h, c} as in PyTorch. Without states both are
-- zeros.
local core = require "lunagrad.core"

local states = {}

-- pair(class, object, h, c) returns h and c. h without c is an error: in a loop, c would start with zeros at each call.
function states.pair(class, object, h, c)
  if type(h) == "table" and c == nil then h, c = h[1], h[2] end
  if (h == nil) ~= (c == nil) then
    local made = class == "LSTM" and "local out, h, c" or "h, c"
    core._fail(("%s: h and c are given together; write %s = %s(x, h, c)"):format(class, made, object))
  end
  return h, c
end

return states
