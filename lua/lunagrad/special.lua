-- lg.special: torch.special's names for functions of lg.
local core = require "lunagrad.core"

local names = {
  expit = "sigmoid", psi = "digamma", gammaln = "lgamma", multigammaln = "mvlgamma",
}
for _, name in ipairs {"digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expm1", "i0", "i0e", "i1", "i1e",
  "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "ndtr", "ndtri", "polygamma", "round", "sinc", "softmax",
  "xlog1py", "xlogy", "zeta"} do
  names[name] = name
end

local special = {}
for name, op in pairs(names) do special[name] = assert(core[op], op) end
return special
