-- lg.distributions with probabilities of 0, of 1 and near them: logarithms, entropies, divergences and their gradients.
local lg = require "lunagrad"
local d = lg.distributions

describe("probabilities of 0, of 1 and near them", function()
  local inf = math.huge
  local function each(f)
    for _, dtype in ipairs {"f32", "f64"} do
      f(function(list, grad) return lg.tensor(list, {dtype = dtype, requires_grad = grad}) end)
    end
  end
  local function is(found, wanted)
    local numbers = found:double():cpu():reshape(-1):tolist()
    for i, number in ipairs(wanted) do
      if not (numbers[i] == number or math.abs(numbers[i] - number) <= 1e-5 * math.abs(number)) then
        error(("%.9g at place %d; %.9g expected"):format(numbers[i], i, number), 2)
      end
    end
  end
  local log_ten = -23.025850929940457  -- log(1e-10)
  it("have their logarithms", function()
    each(function(of)
      local success = d.Bernoulli {probs = of {0, 1e-10, 1}}
      is(success:log_prob(1), {-inf, log_ten, 0})
      is(success:log_prob(0), {0, -1e-10, -inf})
      is(d.Bernoulli {logits = of {-inf, -200, inf}}:log_prob(1), {-inf, -200, 0})
      is(d.Bernoulli {logits = of {-inf, 200, inf}}:log_prob(0), {0, -200, -inf})
      is(d.Categorical {probs = of {0, 1e-10, 0.5, 0.5}}:log_prob(lg.tensor {0, 1, 2}), {-inf, log_ten, -math.log(2)})
      is(d.OneHotCategorical {probs = of {0, 1e-10, 1}}:log_prob(of {{1, 0, 0}, {0, 1, 0}}), {-inf, log_ten})
      is(d.Multinomial(2, {probs = of {0, 0.5, 0.5}}):log_prob(of {{0, 1, 1}, {1, 1, 0}}), {-math.log(2), -inf})
      is(d.Binomial(3, {probs = of {0, 0, 1e-10, 1, 1}}):log_prob(of {0, 1, 1, 3, 2}), {0, -inf, log_ten + math.log(3), 0, -inf})
      is(d.Geometric {probs = of {1, 1, 1e-10}}:log_prob(of {0, 1, 0}), {0, -inf, log_ten})
      is(d.Geometric {logits = of {50, -200}}:log_prob(of {3, 2}), {-150, -200})
      is(d.Categorical {probs = of {0, 1}}.logits, {-inf, 0})
    end)
  end)
  it("have their entropies", function()
    each(function(of)
      local near = -1e-10 * log_ten + 1e-10
      is(d.Bernoulli {probs = of {0, 1e-10, 1}}:entropy(), {0, near, 0})
      is(d.Bernoulli {logits = of {-inf, 0, inf}}:entropy(), {0, math.log(2), 0})
      is(d.Binomial(2, {probs = of {0, 1}}):entropy(), {0, 0})
      is(d.Geometric {probs = of {1, 1e-10}}:entropy(), {0, near * 1e10})
      is(d.Categorical {probs = of {{0, 1}, {0.5, 0.5}}}:entropy(), {0, math.log(2)})
    end)
  end)
  it("have their divergences", function()
    each(function(of)
      local kl = d.kl_divergence
      is(kl(d.Bernoulli {probs = of {0.5, 0.5, 0, 1}}, d.Bernoulli {probs = of {0, 1, 0, 1}}), {inf, inf, 0, 0})
      is(kl(d.Bernoulli {probs = of {1e-10}}, d.Bernoulli {probs = of {2e-10}}), {3.0685282e-11})
      is(kl(d.Binomial(3, {probs = of {0.5, 0, 1}}), d.Binomial(3, {probs = of {0, 0, 1}})), {inf, 0, 0})
      is(kl(d.Categorical {probs = of {{0.5, 0.5}, {0, 1}}}, d.Categorical {probs = of {{0, 1}, {0.5, 0.5}}}), {inf, math.log(2)})
      is(kl(d.Categorical {logits = of {{0, 0}}}, d.Categorical {logits = of {{0, -240}}}), {119.3068528})
      is(kl(d.Geometric {probs = of {1, 0.5}}, d.Geometric {probs = of {1, 1}}), {0, inf})
      is(kl(d.Bernoulli {probs = of {0, 0.5}}, d.Poisson(of {0, 0})), {0, inf})
    end)
  end)
  it("have gradients that are numbers", function()
    each(function(of)
      local probs = of({0.2, 0, 0.8}, true)
      d.Categorical {probs = probs}:log_prob(lg.tensor {2}):sum():backward()
      is(probs.grad, {-1, -1, 0.25})
      probs.grad = nil
      d.kl_divergence(d.Categorical {probs = of {0.3, 0, 0.7}}, d.Categorical {probs = probs}):backward()
      is(probs.grad, {-0.5, 1, 0.125})
      local ends = of({0, 1}, true)
      d.Bernoulli {probs = ends}:log_prob(of {0, 1}):sum():backward()
      is(ends.grad, {-1, 1})
    end)
  end)
end)
