---@meta
-- lg.distributions for editors; the code is in lua/lunagrad/distributions.

---@class lunagrad
---@field distributions lunagrad.distributions

---Probability distributions, as PyTorch's torch.distributions. Parameters are numbers or tensors and broadcast; every class takes
---{validate_args = false} to skip the checks of parameters and values.
---@class lunagrad.distributions
local distributions = {}

---A distribution. batch_shape: the dims of independent distributions; event_shape: the dims of one value. Samples have
---the shape [sample shape, batch_shape, event_shape].
---@class lunagrad.distributions.Distribution
---@field batch_shape integer[]
---@field event_shape integer[]
---@field mean Tensor
---@field mode Tensor
---@field variance Tensor
---@field stddev Tensor
---@field has_rsample boolean
local Distribution = {}
distributions.Distribution = Distribution

---Values without a gradient: sample{2, 3} has sample shape [2, 3].
---@param shape? integer[]
---@return Tensor
function Distribution:sample(shape) end

---Values that carry gradients to the parameters, for distributions with has_rsample.
---@param shape? integer[]
---@return Tensor
function Distribution:rsample(shape) end

---The logarithm of the probability, or of its density, at value.
---@param value Tensor|number
---@return Tensor
function Distribution:log_prob(value) end

---@return Tensor
function Distribution:entropy() end

---e to the entropy.
---@return Tensor
function Distribution:perplexity() end

---The probability of values up to value.
---@param value Tensor|number
---@return Tensor
function Distribution:cdf(value) end

---The value at which cdf is p.
---@param p Tensor|number
---@return Tensor
function Distribution:icdf(p) end

---The values of a discrete distribution along a new dim 1.
---@param expand? boolean
---@return Tensor
function Distribution:enumerate_support(expand) end

---The same distributions with another batch shape, without a copy.
---@param batch_shape integer[]
---@return lunagrad.distributions.Distribution
function Distribution:expand(batch_shape) end

---Turns the checks of parameters and values on or off for all later distributions.
---@param value boolean
function Distribution.set_default_validate_args(value) end

---The normal distribution.
---@param loc Tensor|number
---@param scale Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Normal(loc, scale, options) end

---The magnitude of a normal number with mean 0.
---@param scale Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.HalfNormal(scale, options) end

---e to a normal number.
---@param loc Tensor|number
---@param scale Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.LogNormal(loc, scale, options) end

---The Laplace distribution.
---@param loc Tensor|number
---@param scale Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Laplace(loc, scale, options) end

---The Cauchy distribution; it has no mean.
---@param loc Tensor|number
---@param scale Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Cauchy(loc, scale, options) end

---The Gumbel distribution.
---@param loc Tensor|number
---@param scale Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Gumbel(loc, scale, options) end

---Uniform in [low, high).
---@param low Tensor|number
---@param high Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Uniform(low, high, options) end

---The exponential distribution; its mean is 1 / rate.
---@param rate Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Exponential(rate, options) end

---Student's t distribution with df degrees of freedom.
---Defaults: loc = 0, scale = 1.
---@param df Tensor|number
---@param loc? Tensor|number
---@param scale? Tensor|number
---@param options? {loc?: Tensor|number, scale?: Tensor|number, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.StudentT(df, loc, scale, options) end

---The gamma distribution; its mean is concentration / rate. rsample differentiates the concentration implicitly.
---@param concentration Tensor|number
---@param rate Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Gamma(concentration, rate, options) end

---The chi-squared distribution with df degrees of freedom.
---@param df Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Chi2(df, options) end

---The beta distribution.
---@param concentration1 Tensor|number
---@param concentration0 Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Beta(concentration1, concentration0, options) end

---The Dirichlet distribution over the last dim.
---@param concentration Tensor
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Dirichlet(concentration, options) end

---0 or 1, with the probability of 1 as probs, or its log-odds as logits.
---@param probs? Tensor|number
---@param logits? Tensor|number
---@param options? {probs?: Tensor|number, logits?: Tensor|number, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Bernoulli(probs, logits, options) end

---The failures before the first success.
---@param probs? Tensor|number
---@param logits? Tensor|number
---@param options? {probs?: Tensor|number, logits?: Tensor|number, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Geometric(probs, logits, options) end

---The successes of total_count trials.
---Defaults: total_count = 1.
---@param total_count? Tensor|integer
---@param probs? Tensor|number
---@param logits? Tensor|number
---@param options? {total_count?: Tensor|integer, probs?: Tensor|number, logits?: Tensor|number, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Binomial(total_count, probs, logits, options) end

---The Poisson distribution.
---@param rate Tensor|number
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Poisson(rate, options) end

---Class ids from 0, with probabilities or logits over the last dim.
---@param probs? Tensor
---@param logits? Tensor
---@param options? {probs?: Tensor, logits?: Tensor, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Categorical(probs, logits, options) end

---A 1 at the position of the class, else 0.
---@param probs? Tensor
---@param logits? Tensor
---@param options? {probs?: Tensor, logits?: Tensor, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.OneHotCategorical(probs, logits, options) end

---How often each class appears in total_count draws.
---Defaults: total_count = 1.
---@param total_count? integer
---@param probs? Tensor
---@param logits? Tensor
---@param options? {total_count?: integer, probs?: Tensor, logits?: Tensor, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Multinomial(total_count, probs, logits, options) end

---The normal distribution of vectors, by exactly one of the three matrices.
---@param loc Tensor
---@param covariance_matrix? Tensor
---@param precision_matrix? Tensor
---@param scale_tril? Tensor
---@param options? {covariance_matrix?: Tensor, precision_matrix?: Tensor, scale_tril?: Tensor, validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.MultivariateNormal(loc, covariance_matrix, precision_matrix, scale_tril, options) end

---Counts the last reinterpreted_batch_ndims batch dims as dims of an event: log_prob sums over them.
---@param base_distribution lunagrad.distributions.Distribution
---@param reinterpreted_batch_ndims integer
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.Independent(base_distribution, reinterpreted_batch_ndims, options) end

---A mixture of the distributions along the last batch dim, with a Categorical of weights.
---@param mixture_distribution lunagrad.distributions.Distribution
---@param component_distribution lunagrad.distributions.Distribution
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.MixtureSameFamily(mixture_distribution, component_distribution, options) end

---The distribution of transformed values of another distribution.
---@param base_dist lunagrad.distributions.Distribution
---@param transforms lunagrad.distributions.Transform|lunagrad.distributions.Transform[]
---@param options? {validate_args?: boolean}
---@return lunagrad.distributions.Distribution
function distributions.TransformedDistribution(base_dist, transforms, options) end

---An invertible function of tensors: y = transform(x).
---@class lunagrad.distributions.Transform
---@field event_dim integer
---@overload fun(x: Tensor): Tensor
local Transform = {}

---The x for which y = transform(x).
---@param y Tensor
---@return Tensor
function Transform:inv(y) end

---@param x Tensor
---@param y Tensor
---@return Tensor
function Transform:log_abs_det_jacobian(x, y) end

---e^x
---@return lunagrad.distributions.Transform
function distributions.ExpTransform() end

---1 / (1 + e^-x)
---@return lunagrad.distributions.Transform
function distributions.SigmoidTransform() end

---tanh(x)
---@return lunagrad.distributions.Transform
function distributions.TanhTransform() end

---loc + scale x
---@param loc Tensor|number
---@param scale Tensor|number
---@param options? {event_dim?: integer}
---@return lunagrad.distributions.Transform
function distributions.AffineTransform(loc, scale, options) end

---Applies the transforms one after the other, from the first to the last.
---@param parts lunagrad.distributions.Transform[]
---@return lunagrad.distributions.Transform
function distributions.ComposeTransform(parts) end

---The Kullback-Leibler divergence of p from q, for PyTorch's pairs of classes.
---@param p lunagrad.distributions.Distribution
---@param q lunagrad.distributions.Distribution
---@return Tensor
function distributions.kl_divergence(p, q) end

---Makes kl_divergence use f(p, q) for two classes, given by name, and for classes derived from them.
---@param p string
---@param q string
---@param f fun(p: lunagrad.distributions.Distribution, q: lunagrad.distributions.Distribution): Tensor
function distributions.register_kl(p, q, f) end
