-- live(fn): fn, which stays with the script when a function around it is sealed (lg.compile(fn, {sealed = true})): for
-- what counts steps, or reads settings that change. It must return nothing that the sealed function uses.
local core = require "lunagrad.core"
local run = core._live

return function(fn)
  return function(...) return run(fn, ...) end
end
