-- lg.distributions against PyTorch 1.13 in f64, samples by their moments, gradients of samples by the gradients of
-- expectations.
local lg = require "lunagrad"
local d = lg.distributions
local f64 = {dtype = "f64"}
local nan = 0 / 0

-- Numbers or nested tables against a tensor; NaN equals NaN.
local function agree(tensor, expected, what)
  local wanted = lg.tensor(expected, f64):cpu()
  local found = tensor:double():cpu()
  expect.equal(table.concat(found:size(), ","), table.concat(wanted:size(), ","), what .. ": shape")
  local both = found:isnan():logical_and(wanted:isnan()):logical_or(found:eq(wanted))
  local apart = (found - wanted):abs():le(wanted:abs() * 2e-9 + 1e-9)
  if not both:logical_or(apart):all():item() then
    error(("%s: %s instead of %s"):format(what, tostring(found), tostring(wanted)))
  end
end

-- What PyTorch 1.13 gives; icdf at 0.2 and 0.7.
local cases = {
  {"Normal", d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.1, -2.3},
      log_prob = {-0.603079915797, -1.97042926508},
      cdf = {0.387548481098, 0.301531787547},
      icdf = {-0.289134863501, 0.31100128177},
      entropy = {1.06226358927, 2.33522926508},
      mean = {0.3, -1},
      variance = {0.49, 6.25},
      stddev = {0.7, 2.5},
      mode = {0.3, -1}}},
  {"LogNormal", d.LogNormal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 0.5}, f64)),
    {value = {0.4, 1.9},
      log_prob = {-1.15552708642, -6.2590136059},
      cdf = {0.041144346302, 0.999487744526},
      icdf = {0.748911197806, 0.478164844178},
      entropy = {1.36226358927, -0.274208647355},
      mean = {1.72460838238, 0.416862019679},
      variance = {1.88068173867, 0.049356216698},
      stddev = {1.37137950206, 0.222162590681},
      mode = {0.826959133943, 0.28650479686}}},
  {"HalfNormal", d.HalfNormal(lg.tensor({0.7, 2.5}, f64)),
    {value = {0.4, 1.9},
      log_prob = {-0.0323817148284, -1.43088208452},
      cdf = {0.432290833803, 0.552745415125},
      icdf = {0.177342972195, 2.59108347373},
      entropy = {0.369116408706, 1.64208208452},
      mean = {0.558519192562, 1.99471140201},
      variance = {0.17805631154, 2.2711264227},
      stddev = {0.421967192492, 1.50702568747},
      mode = {0, 0}}},
  {"Laplace", d.Laplace(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.1, -2.3},
      log_prob = {-0.622186522335, -2.12943791243},
      cdf = {0.375738646538, 0.297260273985},
      icdf = {-0.341403512312, 0.277064059415},
      entropy = {1.33647223662, 2.60943791243},
      mean = {0.3, -1},
      variance = {0.98, 12.5},
      stddev = {0.989949493661, 3.53553390593},
      mode = {0.3, -1}}},
  {"Cauchy", d.Cauchy(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.1, -2.3},
      log_prob = {-0.866526557352, -2.30035242923},
      cdf = {0.411414467217, 0.347364268743},
      icdf = {-0.66346734433, 0.816356320013},
      entropy = {2.17434930303, 3.44731497884},
      mean = {0/0, 0/0},
      variance = {math.huge, math.huge},
      stddev = {math.huge, math.huge},
      mode = {0.3, -1}}},
  {"Gumbel", d.Gumbel(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.1, -2.3},
      log_prob = {-0.688322967794, -2.07831838157},
      cdf = {0.264288968328, 0.18599645777},
      icdf = {-0.033119496729, 1.5773260829},
      entropy = {1.22054072096, 2.49350639678},
      mean = {0.704050965431, 0.443039162254},
      variance = {0.806017692756, 10.2808379178},
      stddev = {0.897784881113, 3.2063745754},
      mode = {0.3, -1}}},
  {"Uniform", d.Uniform(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.4, 2.3},
      log_prob = {0.916290731874, -1.2527629685},
      cdf = {0.25, 0.942857142857},
      icdf = {0.38, 1.45},
      entropy = {-0.916290731874, 1.2527629685},
      mean = {0.5, 0.75},
      variance = {0.0133333333333, 1.02083333333},
      stddev = {0.115470053838, 1.01036297108},
      mode = {0/0, 0/0}}},
  {"Exponential", d.Exponential(lg.tensor({0.3, 2.5}, f64)),
    {value = {0.4, 1.9},
      log_prob = {-1.32397280433, -3.83370926813},
      cdf = {0.113079563283, 0.991348304797},
      icdf = {0.743811837714, 0.48158912173},
      entropy = {2.20397280433, 0.0837092681258},
      mean = {3.33333333333, 0.4},
      variance = {11.1111111111, 0.16},
      stddev = {3.33333333333, 0.4},
      mode = {0, 0}}},
  {"StudentT", d.StudentT(lg.tensor({2.5, 7}, f64), lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.1, -2.3},
      log_prob = {-0.716194386342, -2.02242952888},
      entropy = {1.49108512664, 2.48266899359},
      mean = {0.3, -1},
      variance = {2.45, 8.75},
      stddev = {1.56524758425, 2.95803989155},
      mode = {0.3, -1}}},
  {"Gamma", d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.2, 1.9},
      log_prob = {-0.113685047817, -1.13932132536},
      entropy = {0.0165220348894, 1.02679126886},
      mean = {0.571428571429, 1.4},
      variance = {0.816326530612, 0.56},
      stddev = {0.903507902905, 0.748331477355},
      mode = {0, 1}}},
  {"Chi2", d.Chi2(lg.tensor({1.5, 6}, f64)),
    {value = {0.2, 1.9},
      log_prob = {-0.420781858743, -2.43888094989},
      entropy = {1.37496291204, 2.54072569092},
      mean = {1.5, 6},
      variance = {3, 12},
      stddev = {1.73205080757, 3.46410161514},
      mode = {0, 4}}},
  {"Beta", d.Beta(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)),
    {value = {0.2, 0.9},
      log_prob = {-0.0748116926386, -0.415443658674},
      entropy = {-0.414040840997, -0.289991158816},
      mean = {0.363636363636, 0.583333333333},
      variance = {0.110192837466, 0.0347222222222},
      stddev = {0.331953065155, 0.186338998125},
      mode = {1, 0.625}}},
  {"Dirichlet", d.Dirichlet(lg.tensor({{0.4, 3.5, 1.2}, {2, 2, 5}}, f64)),
    {value = {{0.2, 0.5, 0.3}, {0.1, 0.1, 0.8}},
      log_prob = {0.409487073625, 1.92880468115},
      entropy = {-2.44558117646, -1.45273954859},
      mean = {{0.078431372549, 0.686274509804, 0.235294117647}, {0.222222222222, 0.222222222222, 0.555555555556}},
      variance = {{0.0118491626802, 0.0352953781963, 0.0294968517783}, {0.0172839506173, 0.0172839506173, 0.0246913580247}},
      stddev = {{0.10885385928, 0.187870642188, 0.171746475301}, {0.131468439624, 0.131468439624, 0.157134840264}},
      mode = {{0, 0.925925925926, 0.0740740740741}, {0.166666666667, 0.166666666667, 0.666666666667}}}},
  {"Bernoulli", d.Bernoulli(lg.tensor({0.3, 0.8}, f64)),
    {value = {1, 0},
      log_prob = {-1.20397280433, -1.60943791243},
      entropy = {0.610864302055, 0.500402423538},
      mean = {0.3, 0.8},
      variance = {0.21, 0.16},
      stddev = {0.458257569496, 0.4},
      mode = {0, 1}}},
  {"Geometric", d.Geometric(lg.tensor({0.3, 0.8}, f64)),
    {value = {3, 0},
      log_prob = {-2.27399763614, -0.223143551314},
      entropy = {2.03621434018, 0.625503029423},
      mean = {2.33333333333, 0.25},
      variance = {7.77777777778, 0.3125},
      stddev = {2.78886675511, 0.559016994375},
      mode = {0, 0}}},
  {"Binomial", d.Binomial(7, {probs = lg.tensor({0.3, 0.8}, f64)}),
    {value = {3, 6},
      log_prob = {-1.48327012724, -1.00238907126},
      entropy = {1.59269725532, 1.4271703778},
      mean = {2.1, 5.6},
      variance = {1.47, 1.12},
      stddev = {1.2124355653, 1.05830052443},
      mode = {2, 6}}},
  {"Poisson", d.Poisson(lg.tensor({0.3, 4.8}, f64)),
    {value = {1, 7},
      log_prob = {-1.50397280433, -2.34484993567},
      mean = {0.3, 4.8},
      variance = {0.3, 4.8},
      stddev = {0.547722557505, 2.19089023002},
      mode = {0, 4}}},
  {"Categorical", d.Categorical(lg.tensor({{0.3, 0.2, 0.5}, {0.1, 0.1, 0.8}}, f64)),
    {value = {0, 2},
      log_prob = {-1.20397280433, -0.223143551314},
      entropy = {1.02965301406, 0.63903185965},
      mean = {0/0, 0/0},
      variance = {0/0, 0/0},
      stddev = {0/0, 0/0},
      mode = {2, 2}}},
  {"OneHotCategorical", d.OneHotCategorical(lg.tensor({{0.3, 0.2, 0.5}, {0.1, 0.1, 0.8}}, f64)),
    {value = {{0, 1, 0}, {0, 0, 1}},
      log_prob = {-1.60943791243, -0.223143551314},
      entropy = {1.02965301406, 0.63903185965},
      mean = {{0.3, 0.2, 0.5}, {0.1, 0.1, 0.8}},
      variance = {{0.21, 0.16, 0.25}, {0.09, 0.09, 0.16}},
      stddev = {{0.458257569496, 0.4, 0.5}, {0.3, 0.3, 0.4}},
      mode = {{0, 0, 1}, {0, 0, 1}}}},
  {"Multinomial", d.Multinomial(5, {probs = lg.tensor({{0.3, 0.2, 0.5}, {0.1, 0.1, 0.8}}, f64)}),
    {value = {{1, 2, 2}, {0, 1, 4}},
      log_prob = {-2.40794560865, -1.58572138582},
      entropy = {2.59180859627, 1.81364853421},
      mean = {{1.5, 1, 2.5}, {0.5, 0.5, 4}},
      variance = {{1.05, 0.8, 1.25}, {0.45, 0.45, 0.8}},
      stddev = {{1.0246950766, 0.894427191, 1.11803398875}, {0.67082039325, 0.67082039325, 0.894427191}}}},
  {"MultivariateNormal", d.MultivariateNormal(lg.tensor({0.3, -1}, f64), {covariance_matrix = lg.tensor({{2, 0.6}, {0.6, 0.9}}, f64)}),
    {value = {0.1, -2.3},
      log_prob = -3.09797640098,
      entropy = 3.0201986232,
      mean = {0.3, -1},
      variance = {2, 0.9},
      stddev = {1.41421356237, 0.948683298051},
      mode = {0.3, -1}}},
  {"MultivariateNormal", d.MultivariateNormal(lg.tensor({0.3, -1}, f64), {precision_matrix = lg.tensor({{2, 0.6}, {0.6, 0.9}}, f64)}),
    {value = {0.1, -2.3},
      log_prob = -2.61205550962,
      entropy = 2.65555550962,
      mean = {0.3, -1},
      variance = {0.625, 1.38888888889},
      stddev = {0.790569415042, 1.17851130198},
      mode = {0.3, -1}}},
  {"MultivariateNormal", d.MultivariateNormal(lg.tensor({0.3, -1}, f64), {scale_tril = lg.tensor({{2, 0}, {0.6, 0.9}}, f64)}),
    {value = {0.1, -2.3},
      log_prob = -3.37979953378,
      entropy = 3.42566373131,
      mean = {0.3, -1},
      variance = {4, 1.17},
      stddev = {2, 1.08166538264},
      mode = {0.3, -1}}},
}

describe("a distribution", function()
  for _, case in ipairs(cases) do
    local name, dist, wanted = table.unpack(case)
    it(name .. " has PyTorch's values", function()
      local value = lg.tensor(wanted.value, f64)
      for field, expected in pairs(wanted) do
        if field == "log_prob" or field == "cdf" then
          agree(dist[field](dist, value), expected, name .. "." .. field)
        elseif field == "icdf" then
          agree(dist:icdf(lg.tensor({0.2, 0.7}, f64)), expected, name .. ".icdf")
        elseif field == "entropy" then
          agree(dist:entropy(), expected, name .. ".entropy")
        elseif field ~= "value" then
          agree(dist[field], expected, name .. "." .. field)
        end
      end
    end)
  end
end)

local divergences = {
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {0.478998696731, 11.6705620876}},
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Laplace(lg.tensor({0.3, 0.5}, f64), lg.tensor({1.9, 0.5}, f64)), {0.566694947236, 2.35149805734}},
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Gumbel(lg.tensor({0.5, 0.4}, f64), lg.tensor({1.8, 0.5}, f64)), {0.619711839716, 4412706.06397}},
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {math.huge, math.huge}},
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {math.huge, math.huge}},
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {math.huge, math.huge}},
  {d.Normal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Laplace(lg.tensor({0.1, -0.5}, f64), lg.tensor({0.9, 1.5}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {0.142056935974, 7.30717906398}},
  {d.Laplace(lg.tensor({0.1, -0.5}, f64), lg.tensor({0.9, 1.5}, f64)), d.Laplace(lg.tensor({0.3, 0.5}, f64), lg.tensor({1.9, 0.5}, f64)), {0.231774224264, 1.44163906843}},
  {d.Laplace(lg.tensor({0.1, -0.5}, f64), lg.tensor({0.9, 1.5}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {math.huge, math.huge}},
  {d.Laplace(lg.tensor({0.1, -0.5}, f64), lg.tensor({0.9, 1.5}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {math.huge, math.huge}},
  {d.Laplace(lg.tensor({0.1, -0.5}, f64), lg.tensor({0.9, 1.5}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Laplace(lg.tensor({0.1, -0.5}, f64), lg.tensor({0.9, 1.5}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {math.huge, math.huge}},
  {d.Laplace(lg.tensor({0.1, -0.5}, f64), lg.tensor({0.9, 1.5}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Cauchy(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 2.5}, f64)), d.Cauchy(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {0.197610249309, 0.656483196188}},
  {d.Gumbel(lg.tensor({0.2, -0.4}, f64), lg.tensor({0.8, 1.5}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {0.332232764175, 6.5319557397}},
  {d.Gumbel(lg.tensor({0.2, -0.4}, f64), lg.tensor({0.8, 1.5}, f64)), d.Gumbel(lg.tensor({0.5, 0.4}, f64), lg.tensor({1.8, 0.5}, f64)), {0.369955075645, 27.1740135875}},
  {d.Gumbel(lg.tensor({0.2, -0.4}, f64), lg.tensor({0.8, 1.5}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {math.huge, math.huge}},
  {d.Gumbel(lg.tensor({0.2, -0.4}, f64), lg.tensor({0.8, 1.5}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {math.huge, math.huge}},
  {d.Gumbel(lg.tensor({0.2, -0.4}, f64), lg.tensor({0.8, 1.5}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Gumbel(lg.tensor({0.2, -0.4}, f64), lg.tensor({0.8, 1.5}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {math.huge, math.huge}},
  {d.Gumbel(lg.tensor({0.2, -0.4}, f64), lg.tensor({0.8, 1.5}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Uniform(lg.tensor({0.2, 0.1}, f64), lg.tensor({0.7, 0.9}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {2.16751211938, 1.53560157063}},
  {d.Uniform(lg.tensor({0.2, 0.1}, f64), lg.tensor({0.7, 0.9}, f64)), d.Gumbel(lg.tensor({0.5, 0.4}, f64), lg.tensor({1.8, 0.5}, f64)), {2.28463201347, 0.638895970266}},
  {d.Uniform(lg.tensor({0.2, 0.1}, f64), lg.tensor({0.7, 0.9}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {1.22377543162, 0.916290731874}},
  {d.Uniform(lg.tensor({0.2, 0.1}, f64), lg.tensor({0.7, 0.9}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {0.943143551314, 1.16629073187}},
  {d.Uniform(lg.tensor({0.2, 0.1}, f64), lg.tensor({0.7, 0.9}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {0.937882617517, 3.73675553842}},
  {d.Uniform(lg.tensor({0.2, 0.1}, f64), lg.tensor({0.7, 0.9}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {1.90020175897, 1.80743580626}},
  {d.Uniform(lg.tensor({0.2, 0.1}, f64), lg.tensor({0.7, 0.9}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {0.476831587978, 1.21775162764}},
  {d.Exponential(lg.tensor({0.6, 2.5}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {0.843969918671, 1.18208208452}},
  {d.Exponential(lg.tensor({0.6, 2.5}, f64)), d.Gumbel(lg.tensor({0.5, 0.4}, f64), lg.tensor({1.8, 0.5}, f64)), {0.410593906356, 0.459555178254}},
  {d.Exponential(lg.tensor({0.6, 2.5}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {math.huge, math.huge}},
  {d.Exponential(lg.tensor({0.6, 2.5}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {0.685837413655, 0.809437912434}},
  {d.Exponential(lg.tensor({0.6, 2.5}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {0.486571260362, 4.37410114891}},
  {d.Exponential(lg.tensor({0.6, 2.5}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {0.107267359129, 1.78198246347}},
  {d.Exponential(lg.tensor({0.6, 2.5}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.HalfNormal(lg.tensor({0.6, 2.5}, f64)), d.HalfNormal(lg.tensor({1.6, 0.5}, f64)), {0.551141753012, 10.3905620876}},
  {d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {1.61272838754, 5.43900008378}},
  {d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Gumbel(lg.tensor({0.5, 0.4}, f64), lg.tensor({1.8, 0.5}, f64)), {1.65600951148, 0.564495752845}},
  {d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {math.huge, math.huge}},
  {d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {0.427760050151, 0.3663559117}},
  {d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {0.974297911138, 1.41046068986}},
  {d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {1.58853179026, 0.498714309959}},
  {d.Gamma(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Chi2(lg.tensor({1.5, 6}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {0.932735360111, 98.5650656617}},
  {d.Chi2(lg.tensor({1.5, 6}, f64)), d.Gumbel(lg.tensor({0.5, 0.4}, f64), lg.tensor({1.8, 0.5}, f64)), {0.522175671001, 7.98393145595}},
  {d.Chi2(lg.tensor({1.5, 6}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {math.huge, math.huge}},
  {d.Chi2(lg.tensor({1.5, 6}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {0.55503345871, 1.15242148964}},
  {d.Chi2(lg.tensor({1.5, 6}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {0.469630101987, 0.0529278574622}},
  {d.Chi2(lg.tensor({1.5, 6}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {0.24137765204, 0.570247084453}},
  {d.Chi2(lg.tensor({1.5, 6}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {math.huge, math.huge}},
  {d.Beta(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Normal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {1.89469706639, 1.81244917813}},
  {d.Beta(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Uniform(lg.tensor({0, -0.1}, f64), lg.tensor({1.7, 1.9}, f64)), {0.944669092059, 0.983138339376}},
  {d.Beta(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Exponential(lg.tensor({1.6, 0.5}, f64)), {0.52585539357, 1.27480500604}},
  {d.Beta(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Gamma(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {1.02478203519, 3.50365018904}},
  {d.Beta(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Chi2(lg.tensor({2.5, 3}, f64)), {1.89842856314, 1.80207687258}},
  {d.Beta(lg.tensor({0.4, 3.5}, f64), lg.tensor({0.7, 2.5}, f64)), d.Beta(lg.tensor({1.4, 2.5}, f64), lg.tensor({1.7, 0.5}, f64)), {0.823685017114, 0.85685281944}},
  {d.Bernoulli(lg.tensor({0.3, 0.8}, f64)), d.Bernoulli(lg.tensor({0.6, 0.1}, f64)), {0.183786897387, 1.36273775399}},
  {d.Bernoulli(lg.tensor({0.3, 0.8}, f64)), d.Poisson(lg.tensor({1.3, 2.8}, f64)), {0.610426418605, 1.47590204272}},
  {d.Geometric(lg.tensor({0.3, 0.8}, f64)), d.Geometric(lg.tensor({0.6, 0.1}, f64)), {0.612622991289, 1.70342219249}},
  {d.Poisson(lg.tensor({0.3, 4.8}, f64)), d.Bernoulli(lg.tensor({0.6, 0.1}, f64)), {math.huge, math.huge}},
  {d.Poisson(lg.tensor({0.3, 4.8}, f64)), d.Poisson(lg.tensor({1.3, 2.8}, f64)), {0.560098879362, 0.587183203517}},
  {d.LogNormal(lg.tensor({0.3, -1}, f64), lg.tensor({0.7, 0.5}, f64)), d.LogNormal(lg.tensor({0.1, -0.2}, f64), lg.tensor({1.7, 0.5}, f64)), {0.478998696731, 1.28}},
  {d.Categorical(lg.tensor({{0.3, 0.2, 0.5}}, f64)), d.Categorical(lg.tensor({{0.1, 0.1, 0.8}}, f64)), {0.23321130809}},
  {d.OneHotCategorical(lg.tensor({{0.3, 0.2, 0.5}}, f64)), d.OneHotCategorical(lg.tensor({{0.1, 0.1, 0.8}}, f64)), {0.23321130809}},
  {d.Dirichlet(lg.tensor({{0.4, 3.5, 1.2}}, f64)), d.Dirichlet(lg.tensor({{2, 2, 5}}, f64)), {6.80147676871}},
  {d.MultivariateNormal(lg.tensor({0.3, -1}, f64), lg.tensor({{2, 0.6}, {0.6, 0.9}}, f64)), d.MultivariateNormal(lg.tensor({0.1, 0.4}, f64), lg.tensor({{1, -0.2}, {-0.2, 0.5}}, f64)), 2.78593578759},
  {d.Binomial(7, lg.tensor({0.3, 0.8}, f64)), d.Binomial(7, lg.tensor({0.6, 0.1}, f64)), {1.28650828171, 9.53916427792}},}

describe("kl_divergence", function()
  it("has PyTorch's values for its pairs", function()
    for _, row in ipairs(divergences) do
      local p, q, expected = table.unpack(row)
      agree(d.kl_divergence(p, q), expected, tostring(p) .. " | " .. tostring(q))
    end
  end)
  it("names a pair without a formula, and takes one", function()
    local p, q = d.Poisson(1.0), d.Cauchy(0.0, 1.0)
    expect.raises(function() d.kl_divergence(p, q) end, "no formula for Poisson and Cauchy")
    d.register_kl("Poisson", "Cauchy", function(a) return a.rate * 2 end)
    expect.equal(d.kl_divergence(p, q):item(), 2)
  end)
  it("sums over the dims of Independent, and follows equal transforms", function()
    local p, q = d.Normal(lg.zeros(3), lg.ones(3)), d.Normal(lg.ones(3), lg.ones(3))
    expect.close(d.kl_divergence(d.Independent(p, 1), d.Independent(q, 1)), d.kl_divergence(p, q):sum())
    local a, b = d.TransformedDistribution(p, d.TanhTransform()), d.TransformedDistribution(q, d.TanhTransform())
    expect.close(d.kl_divergence(a, b), d.kl_divergence(p, q))
    local c = d.TransformedDistribution(q, d.ExpTransform())
    expect.raises(function() d.kl_divergence(a, c) end, "different transforms")
  end)
end)

describe("distributions made of others", function()
  local normal = d.Normal(lg.tensor({0.3, -1.0}, f64), lg.tensor({0.7, 2.5}, f64))
  it("have PyTorch's values", function()
    local t = d.TransformedDistribution(normal, {d.TanhTransform(), d.AffineTransform(1.0, -2.0)})
    local v = lg.tensor({0.5, 2.0}, f64)
    agree(t:log_prob(v), {-1.19290083782, -2.25694436931}, "tanh, affine: log_prob")
    agree(t:cdf(v), {0.525393848332, 0.428467342744}, "tanh, affine: cdf")
    t = d.TransformedDistribution(normal, d.SigmoidTransform())
    agree(t:log_prob(lg.tensor({0.2, 0.7}, f64)), {-1.63130321975, -0.547582267613}, "sigmoid: log_prob")
    agree(t:icdf(lg.tensor({0.2, 0.7}, f64)), {0.428215679987, 0.57712964382}, "sigmoid: icdf")
    local both = d.ComposeTransform {d.TanhTransform(), d.AffineTransform(1.0, -2.0)}
    agree(d.TransformedDistribution(normal, both):log_prob(v), {-1.19290083782, -2.25694436931}, "compose")
    local x = lg.tensor({0.1, -2.3}, f64)
    agree(d.Independent(normal, 1):log_prob(x), -2.57350918088, "independent: log_prob")
    agree(d.Independent(normal, 1):entropy(), 3.39749285434, "independent: entropy")
    local weights = d.Categorical(lg.tensor({0.3, 0.7}, f64))
    local mix = d.MixtureSameFamily(weights, normal)
    agree(mix:log_prob(x), {-1.32600880889, -2.32533633122}, "mixture: log_prob")
    agree(mix.mean, -0.61, "mixture: mean")
    agree(mix.variance, 4.8769, "mixture: variance")
    agree(mix:cdf(x), {0.585286556767, 0.211102818052}, "mixture: cdf")
    local parts = d.Independent(d.Normal(lg.tensor({{0.3, -1.0}, {2.0, 0.5}}, f64), lg.tensor({{0.7, 2.5}, {1.0, 0.3}}, f64)), 1)
    mix = d.MixtureSameFamily(weights, parts)
    agree(mix:log_prob(x), -3.7774819852, "mixture of vectors: log_prob")
    agree(mix.mean, {1.49, 0.05}, "mixture of vectors: mean")
    agree(mix.variance, {1.4539, 2.4105}, "mixture of vectors: variance")
    local logits = lg.tensor({0.3, -0.8}, f64)
    agree(d.Bernoulli {logits = logits}:log_prob(lg.tensor({1.0, 0.0}, f64)), {-0.554355244469, -0.371100665948}, "logits")
    agree(d.Categorical {logits = lg.tensor({0.3, -0.8, 1.0}, f64)}:log_prob(1), -2.30795201411, "logits of classes")
  end)
end)

describe("samples", function()
  local n = 20000
  -- Every distribution with a mean and a variance: the sample mean within 5 standard errors, and the sample variance within
  -- 5 of its own, whose scale comes from the fourth moment of the samples.
  for _, case in ipairs(cases) do
    local name, dist, wanted = table.unpack(case)
    local finite = wanted.mean and wanted.variance and name ~= "Cauchy" and name ~= "Categorical" and name ~= "StudentT"
    if finite then
      it("of " .. name .. " have its mean and variance", function()
        local x = dist:sample {n}
        expect.equal(x:size(1), n)
        local mean, variance = lg.tensor(wanted.mean, f64), lg.tensor(wanted.variance, f64)
        local from = x - mean
        local bound = 5 * (variance / n):sqrt() + 1e-9
        assert((x:mean(1) - mean):abs():le(bound):all():item(), "mean " .. tostring(x:mean(1)))
        local square = from:square()
        local spread = 5 * ((square - variance):square():mean(1) / n):sqrt() + 1e-9
        assert((square:mean(1) - variance):abs():le(spread):all():item(), "variance " .. tostring(square:mean(1)))
      end)
    end
  end
  it("follow the distribution function", function()
    -- Kolmogorov and Smirnov: sqrt(n) D exceeds 2.2 with probability 1.3e-4.
    for _, dist in ipairs {d.Normal(0.5, 2.0), d.Laplace(0.5, 2.0), d.Cauchy(0.5, 2.0), d.Gumbel(0.5, 2.0),
      d.LogNormal(0.5, 0.7), d.HalfNormal(2.0), d.Exponential(1.7), d.Uniform(-1.0, 2.0)} do
      local p = dist:cdf(dist:sample {n}):sort(1)
      local steps = lg.arange(1, n + 1):float() / n
      local apart = (p - steps):abs():max():item()
      assert(apart * math.sqrt(n) < 2.2, tostring(dist) .. " " .. apart)
    end
  end)
  it("of Categorical appear as often as their probabilities say", function()
    local dist = d.Categorical(lg.tensor {{0.3, 0.2, 0.5}, {0.1, 0.1, 0.8}})
    local counts = lg.one_hot(dist:sample {n}, 3):float():mean(1)
    assert((counts - dist.probs):abs():le(5 * (dist.probs * (1 - dist.probs) / n):sqrt()):all():item())
  end)
  it("of StudentT have its distribution", function()
    local dist = d.StudentT(7.0, 1.0, 2.0)
    local x = dist:sample {n}
    local mean, variance = x:mean():item(), x:var():item()
    assert(math.abs(mean - 1) < 5 * math.sqrt(4 * 7 / 5 / n))
    assert(math.abs(variance - 4 * 7 / 5) < 0.5)
  end)
  it("have shapes [sample, batch, event]", function()
    local function shape(x) return table.concat(x:size(), ",") end
    expect.equal(shape(d.Normal(lg.zeros(3), 1.0):sample {4, 2}), "4,2,3")
    expect.equal(shape(d.Normal(0.0, 1.0):sample()), "")
    expect.equal(shape(d.Dirichlet(lg.ones(5, 3)):sample {4}), "4,5,3")
    expect.equal(shape(d.Categorical(lg.ones(5, 3)):sample {4}), "4,5")
    expect.equal(shape(d.OneHotCategorical(lg.ones(5, 3)):sample {4}), "4,5,3")
    expect.equal(shape(d.Multinomial(6, lg.ones(5, 3)):sample {4}), "4,5,3")
    expect.equal(shape(d.MultivariateNormal(lg.zeros(5, 2), {covariance_matrix = lg.eye(2)}):sample {4}), "4,5,2")
    expect.equal(shape(d.MixtureSameFamily(d.Categorical(lg.ones(2)), d.Normal(lg.zeros(5, 2), 1.0)):sample {4}), "4,5")
    expect.equal(shape(d.Normal(0.0, 1.0):expand {3, 2}:sample {4}), "4,3,2")
    expect.equal(shape(d.Dirichlet(lg.ones(3)):expand {2}:sample {4}), "4,2,3")
    expect.equal(shape(d.LogNormal(0.0, 1.0):expand {2}:log_prob(lg.ones(2))), "2")
  end)
  it("repeat with the seed", function()
    lg.manual_seed(3)
    local a = d.Gamma(lg.full({50}, 0.6), 1.0):sample {7}
    lg.manual_seed(3)
    expect.equal(a:tolist(), d.Gamma(lg.full({50}, 0.6), 1.0):sample {7}:tolist())
  end)
  it("of a concentration over many magnitudes stay positive and finite", function()
    for _, dtype in ipairs {"f32", "f64"} do
      local a = lg.tensor({1e-3, 0.1, 0.999, 1, 1.5, 10, 1e3, 1e6}, {dtype = dtype})
      local x = d.Gamma(a, lg.ones_like(a)):sample {500}
      assert(x:gt(0):logical_and(x:isfinite()):all():item())
    end
  end)
end)

describe("gradients of samples", function()
  local n = 40000
  -- d/dp E f(x) by the mean of the gradients of samples, within 6 standard errors of the exact derivative.
  local function check(name, parameter, make, f, exact)
    local wide = lg.full({n}, parameter, f64):requires_grad_()
    local each = lg.grad(f(make(wide):rsample()):sum(), wide)
    local error_bound = 6 * each:std():item() / math.sqrt(n)
    local found = each:mean():item()
    assert(math.abs(found - exact) <= error_bound + 1e-9,
      ("%s: %g instead of %g (within %g)"):format(name, found, exact, error_bound))
  end
  local function identity(x) return x end
  local function square(x) return x * x end
  it("equal the gradients of expectations", function()
    check("Normal loc", 0.7, function(p) return d.Normal(p, 1.5) end, square, 1.4)
    check("Normal scale", 0.7, function(p) return d.Normal(0.0, p) end, square, 1.4)
    check("LogNormal", 0.2, function(p) return d.LogNormal(p, 0.5) end, identity, math.exp(0.2 + 0.125))
    check("Laplace", 0.7, function(p) return d.Laplace(0.0, p) end, square, 4 * 0.7)
    check("Exponential", 1.7, function(p) return d.Exponential(p) end, identity, -1 / 1.7 ^ 2)
    check("Gumbel", 0.8, function(p) return d.Gumbel(0.0, p) end, identity, 0.57721566490153)
    check("Uniform", 1.5, function(p) return d.Uniform(0.0, p) end, square, 1.0)
    check("HalfNormal", 1.5, function(p) return d.HalfNormal(p) end, identity, math.sqrt(2 / math.pi))
    for _, a in ipairs {0.1, 0.6, 1.0, 3.3, 40, 900} do
      check("Gamma " .. a, a, function(p) return d.Gamma(p, 2.0) end, identity, 0.5)
      check("Gamma square " .. a, a, function(p) return d.Gamma(p, 1.0) end, square, 2 * a + 1)
    end
    check("Beta", 1.3, function(p) return d.Beta(p, 2.0) end, identity, 2.0 / 3.3 ^ 2)
    check("Chi2", 3.0, function(p) return d.Chi2(p) end, identity, 1.0)
    check("StudentT", 9.0, function(p) return d.StudentT(p) end, square, -2 / 49)
    check("Dirichlet", 1.3, function(p) return d.Dirichlet(lg.stack({p, lg.full_like(p, 2.0)}, 2)) end,
      function(x) return x:select(2, 1) end, 2.0 / 3.3 ^ 2)
  end)
  it("of a gamma sample are -(dF/da) / f", function()
    -- Computed with 30 digits by mpmath; PyTorch's approximation agrees to 1e-4.
    local a = lg.tensor({0.5, 1.0, 2.0, 5.0, 30.0}, f64):requires_grad_()
    local z = lg.tensor({0.2, 1.5, 0.7, 9.0, 25.0}, f64)
    local standard_gamma = require "lunagrad.distributions.standard_gamma"
    agree(standard_gamma.gradient(a, z):detach(), {0.7940505663308434, 1.4309374423012802, 0.6108532080947827, 1.367118188723254,
      0.9166815997356572}, "dz/da")
  end)
  it("of second order exist for gamma samples", function()
    local a = lg.tensor({0.8, 2.5}, f64):requires_grad_()
    local z = d.Gamma(a, 1.0):rsample()
    local first = lg.grad(z:sum(), a, {create_graph = true})
    assert(lg.grad(first:sum(), a):isfinite():all():item())
  end)
  it("do not exist for discrete distributions", function()
    expect.raises(function() d.Bernoulli(0.5):rsample() end, "no rsample")
    assert(not d.Normal(lg.zeros(2):requires_grad_(), 1.0):sample().requires_grad)
  end)
end)

describe("wrong calls", function()
  local function refused(f, text) expect.raises(f, text) end
  it("name the parameter and its constraint", function()
    refused(function() d.Normal(0, -1) end, "Normal: scale must be positive (got -1)")
    refused(function() d.Bernoulli(1.5) end, "probs must lie in [0, 1]")
    refused(function() d.Bernoulli() end, "either probs or logits")
    refused(function() d.Bernoulli {probs = 0.5, logits = 0.1} end, "either probs or logits")
    refused(function() d.Normal(0) end, "'scale' is missing")
    refused(function() d.Uniform(1, 1) end, "low must be smaller than high")
    refused(function() d.Normal(lg.zeros(2), lg.ones(3)) end, "do not broadcast")
    refused(function() d.Normal("0", 1) end, "loc")
    refused(function() d.Gamma(lg.tensor {1, nan}, 1.0) end, "concentration must be positive")
    refused(function() d.Categorical(lg.tensor {0.5, -0.5}) end, "probs must be at least 0")
    refused(function() d.MultivariateNormal(lg.zeros(2)) end, "exactly one of")
    refused(function() d.MultivariateNormal(lg.zeros(2), {covariance_matrix = -lg.eye(2)}) end, "positive definite")
    refused(function() d.Independent(d.Normal(0, 1), 1) end, "reinterpreted_batch_ndims")
    refused(function() d.Multinomial(2.5, lg.ones(2)) end, "total_count")
  end)
  it("name the value and the support", function()
    refused(function() d.Exponential(1.0):log_prob(lg.tensor {1.0, -2.0}) end, "the value must be at least 0 (got -2)")
    refused(function() d.Poisson(1.0):log_prob(1.5) end, "whole number")
    refused(function() d.Categorical(lg.ones(3)):log_prob(3) end, "from 0 to 2")
    refused(function() d.Dirichlet(lg.ones(3)):log_prob(lg.ones(3)) end, "add up to 1")
    refused(function() d.Dirichlet(lg.ones(3)):log_prob(lg.ones(2)) end, "an event [3]")
    refused(function() d.Normal(0, 1):sample {2.5} end, "integers")
    refused(function() d.Normal(0, 1):icdf(1.5) end, "probabilities")
    refused(function() return d.Normal(0, 1).foo end, "Normal has no field or method 'foo'")
    refused(function() d.Gamma(1, 1):cdf(1) end, "no cdf")
  end)
  it("pass without validate_args", function()
    assert(d.Normal(0, -1, {validate_args = false}):log_prob(0):isnan():item())
  end)
end)

describe("vmap of distributions", function()
  it("equals the loop", function()
    local loc, x = lg.randn(5, f64), lg.randn(5, f64)
    local function f(l, v) return d.Normal(l, 2.0):log_prob(v) end
    expect.close(lg.func.vmap(f)(loc, x), f(loc, x))
    local draws = lg.func.vmap(function(l) return d.Normal(l, 0.1):sample {3} end, {randomness = "different"})(loc)
    expect.equal(table.concat(draws:size(), ","), "5,3")
    local gamma = lg.func.vmap(function(a) return d.Gamma(a, 1.0):sample() end, {randomness = "different"})(loc:exp())
    assert(gamma:gt(0):all():item())
  end)
end)
