-- live(fn): fn, marked to run in Lua also when the function around it is a captured graph (lg.compile(fn, {captured =
-- true})): for code that counts steps or reads settings that change. It must return nothing that the captured function
-- uses.
local core = require "lunagrad.core"
local run = core._live

return function(fn)
  return function(...) return run(fn, ...) end
end
