-- The updates of PPO over one batch of experience: epochs of small minibatches through small networks. Schulman and others,
-- "Proximal policy optimization algorithms", 2017.
local lg = require "lunagrad"
local nn = lg.nn
local Categorical = lg.distributions.Categorical

local function net(inputs, width, outputs)
  return nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs))
end

local Agent = nn.class("Agent")
function Agent:init(s)
  self.actor, self.critic = net(s.observations, s.width, s.actions), net(s.observations, s.width, 1)
end
function Agent:forward(obs) return self.actor(obs), self.critic(obs):squeeze(-1) end

return function(zoo)
  local s = zoo.sizes
  local agent = Agent(s):to(zoo.device)
  local optimizer = lg.optim.Adam(agent:parameters(), {lr = 3e-4, eps = 1e-5})
  local obs, actions = zoo.wave({s.samples, s.observations}), zoo.ids({s.samples}, s.actions)
  local old, advantages = zoo.wave({s.samples}, 1) * 0.05 - math.log(s.actions), zoo.wave({s.samples}, 2)
  local returns = zoo.wave({s.samples}, 3)

  local function minibatch(index)
    local adv = advantages[index]
    adv = (adv - adv:mean()) / (adv:std() + 1e-8)
    local loss = zoo.autocast(function()
      local logits, value = agent(obs[index])
      local policy = Categorical {logits = logits}
      local ratio = (policy:log_prob(actions[index]) - old[index]):exp()
      local pg_loss = lg.max(-adv * ratio, -adv * ratio:clamp(0.8, 1.2)):mean()
      local v_loss = 0.5 * ((value - returns[index]) ^ 2):mean()
      return pg_loss - 0.01 * policy:entropy():mean() + 0.5 * v_loss
    end)
    optimizer:zero_grad()
    loss:backward()
    nn.utils.clip_grad_norm_(agent:parameters(), 0.5)
    optimizer:step()
    return loss
  end
  local function step()
    local loss
    for epoch = 1, s.epochs do
      local order = zoo.fixed and zoo.ids({s.samples}, s.samples, epoch) or lg.randperm(s.samples, {device = zoo.device})
      for _, index in ipairs(order:split(s.minibatch)) do loss = minibatch(index) end
    end
    return loss
  end
  return {module = agent, step = step, infer = function() return zoo.autocast(function() return (agent(obs)) end) end}
end
