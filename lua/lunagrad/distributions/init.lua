-- lg.distributions: probability distributions, as PyTorch's torch.distributions. Parameters broadcast; sample{...} takes a shape.
--
--   local d = lg.distributions
--   local normal = d.Normal(0, lg.tensor{1, 2})
--   normal:rsample{100}; normal:log_prob(0.5); normal.mean; d.kl_divergence(normal, d.Normal(0, 1))
local distributions = {Distribution = require("lunagrad.distributions.base").Distribution}
for _, file in ipairs {"continuous", "gamma", "discrete", "multivariate_normal", "transforms", "derived", "kl"} do
  for name, value in pairs(require("lunagrad.distributions." .. file)) do distributions[name] = value end
end
distributions.transforms = require "lunagrad.distributions.transforms"
return distributions
