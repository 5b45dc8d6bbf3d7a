-- PPO on a pole that is balanced on a cart, with many carts in one tensor: Categorical, GAE, a clipped ratio.
-- Schulman and others, "Proximal policy optimization algorithms", 2017.
local lg = require "lunagrad"
local nn, optim, D = lg.nn, lg.optim, lg.distributions
local num_envs, num_steps, num_updates, minibatch = 16, 32, 12, 128
local gamma, gae_lambda, clip_coef, ent_coef, vf_coef = 0.98, 0.95, 0.2, 0.01, 0.5

-- Barto, Sutton, Anderson, 1983.
local Env = {}
Env.__index = Env
function Env.new(n) return setmetatable({n = n, state = (lg.rand(n, 4) - 0.5) * 0.1, steps = lg.zeros(n)}, Env) end
function Env:step(action)
  local _, x_dot, theta, theta_dot = table.unpack(self.state:unbind(2))
  local force = lg.where(action:eq(1), 10.0, -10.0)
  local cos, sin = theta:cos(), theta:sin()
  local temp = (force + 0.05 * theta_dot:pow(2) * sin) / 1.1
  local theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos ^ 2 / 1.1))
  local x_acc = temp - 0.05 * theta_acc * cos / 1.1
  self.state = self.state + 0.02 * lg.stack({x_dot, x_acc, theta_dot, theta_acc}, -1)
  self.steps = self.steps + 1
  local done = self.state[{{}, 1}]:abs():gt(2.4) | self.state[{{}, 3}]:abs():gt(0.2095) | self.steps:ge(200)
  local lengths = self.steps[done]
  self.state[done] = (lg.rand(#lengths, 4) - 0.5) * 0.1
  self.steps[done] = 0
  return self.state:clone(), lg.ones(self.n), done:float(), lengths:tolist()
end

local function layer_init(layer, std, bias_const)
  nn.init.orthogonal_(layer.weight, std or math.sqrt(2))
  nn.init.constant_(layer.bias, bias_const or 0.0)
  return layer
end

local Agent = nn.class("Agent")
function Agent:init()
  self.critic = nn.Sequential(layer_init(nn.Linear(4, 64)), nn.Tanh(), layer_init(nn.Linear(64, 1), 1.0))
  self.actor = nn.Sequential(layer_init(nn.Linear(4, 64)), nn.Tanh(), layer_init(nn.Linear(64, 2), 0.01))
end
function Agent:get_action_and_value(x, action)
  local probs = D.Categorical {logits = self.actor(x)}
  if action == nil then action = probs:sample() end
  return action, probs:log_prob(action), probs:entropy(), self.critic(x)
end

local agent = Agent()
local optimizer = optim.Adam(agent:parameters(), {lr = 1e-2, eps = 1e-5})
local env = Env.new(num_envs)
local obs, actions = lg.zeros(num_steps, num_envs, 4), lg.zeros(num_steps, num_envs, {dtype = lg.long})
local logprobs, rewards = lg.zeros(num_steps, num_envs), lg.zeros(num_steps, num_envs)
local dones, values = lg.zeros(num_steps, num_envs), lg.zeros(num_steps, num_envs)
local next_obs, next_done = env.state:clone(), lg.zeros(num_envs)
local means = {}
for update = 1, num_updates do
  optimizer.param_groups[1]["lr"] = (1 - (update - 1) / num_updates) * 1e-2
  local sum, count = 0, 0
  local advantages, returns = lg.zeros_like(rewards), nil
  lg.no_grad(function()
    for step = 1, num_steps do
      obs[step], dones[step] = next_obs, next_done
      local action, logprob, _, value = agent:get_action_and_value(next_obs)
      values[step], actions[step], logprobs[step] = value:flatten(), action, logprob
      local lengths
      next_obs, rewards[step], next_done, lengths = env:step(action)
      for _, length in ipairs(lengths) do sum, count = sum + length, count + 1 end
    end
    local next_value, lastgaelam = agent.critic(next_obs):reshape(1, -1), 0
    for t = num_steps, 1, -1 do
      local nextnonterminal = 1.0 - (t == num_steps and next_done or dones[t + 1])
      local nextvalues = t == num_steps and next_value or values[t + 1]
      local delta = rewards[t] + gamma * nextvalues * nextnonterminal - values[t]
      lastgaelam = delta + gamma * gae_lambda * nextnonterminal * lastgaelam
      advantages[t] = lastgaelam
    end
    returns = advantages + values
  end)
  means[update] = count > 0 and sum / count or num_steps
  local b_obs, b_actions, b_logprobs = obs:reshape(-1, 4), actions:reshape(-1), logprobs:reshape(-1)
  local b_advantages, b_returns = advantages:reshape(-1), returns:reshape(-1)
  for _ = 1, 4 do
    for _, mb in ipairs(lg.randperm(num_envs * num_steps):split(minibatch)) do
      local _, newlogprob, entropy, newvalue = agent:get_action_and_value(b_obs[mb], b_actions[mb])
      local ratio = (newlogprob - b_logprobs[mb]):exp()
      local adv = b_advantages[mb]
      adv = (adv - adv:mean()) / (adv:std() + 1e-8)
      local pg_loss = lg.max(-adv * ratio, -adv * lg.clamp(ratio, 1 - clip_coef, 1 + clip_coef)):mean()
      local v_loss = 0.5 * ((newvalue:view(-1) - b_returns[mb]) ^ 2):mean()
      local loss = pg_loss - ent_coef * entropy:mean() + v_loss * vf_coef
      optimizer:zero_grad()
      loss:backward()
      nn.utils.clip_grad_norm_(agent:parameters(), 0.5)
      optimizer:step()
    end
  end
end
print(("mean length of an episode: %.0f steps at first, %.0f at the end"):format(means[1], means[num_updates]))
assert(means[num_updates] > 2 * means[1])
