-- LoRA on a checkpoint of PyTorch (base.py wrote it): the model gives PyTorch's numbers, then adapters of rank 4 are
-- trained and merged. Hu and others, "LoRA: Low-rank adaptation of large language models", 2022.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Net = nn.class("Net")
function Net:init(d, heads)
  self.emb = nn.Embedding(12, d)
  local layer = nn.TransformerEncoderLayer(d, heads, 2 * d, {dropout = 0.0, batch_first = true})
  self.encoder = nn.TransformerEncoder(layer, 1)
  self.norm = nn.LayerNorm(d)
  self.head = nn.Linear(d, 12, {bias = false})
end
function Net:forward(x) return self.head(self.norm(self.encoder(self.emb(x)))) end

local LoRALinear = nn.class("LoRALinear")
function LoRALinear:init(base, r, alpha)
  self.base = base
  self.base:requires_grad_(false)
  self.scaling = alpha / r
  self.lora_A = nn.Parameter(lg.empty(r, base.in_features))
  self.lora_B = nn.Parameter(lg.zeros(base.out_features, r))
  nn.init.kaiming_uniform_(self.lora_A, {a = math.sqrt(5)})
end
function LoRALinear:forward(x)
  return self.base(x) + F.linear(F.linear(x, self.lora_A), self.lora_B) * self.scaling
end
function LoRALinear:merge()
  lg.no_grad(function() self.base.weight:add_(self.lora_B:matmul(self.lora_A), {alpha = self.scaling}) end)
  return self.base
end

local folder = arg[0]:match("^(.*)/") or "."
local checkpoint = lg.io.pt.load(folder .. "/base.pt")
local model = Net(checkpoint.config.d, checkpoint.config.heads)
local missing, unexpected = model:load_state_dict(checkpoint.model, {strict = true})
assert(#missing == 0 and #unexpected == 0)
model:eval()
assert(lg.allclose(model(checkpoint.x), checkpoint.y, {rtol = 1e-4, atol = 1e-5}))

for _, p in ipairs(model:parameters()) do p.requires_grad = false end
for name, module in model:named_modules() do
  if name:match("linear%d$") or name == "head" then model:set_submodule(name, LoRALinear(module, 4, 16)) end
end
local trainable, total = 0, 0
for _, p in ipairs(model:parameters()) do
  total = total + p:numel()
  if p.requires_grad then trainable = trainable + p:numel() end
end
print(("trainable params: %d || all params: %d || trainable%%: %.2f"):format(trainable, total, 100 * trainable / total))
assert(lg.allclose(model(checkpoint.x), checkpoint.y, {rtol = 1e-4, atol = 1e-5}))

local params = {}
for _, p in ipairs(model:parameters()) do
  if p.requires_grad then table.insert(params, p) end
end
local optimizer = lg.optim.AdamW(params, {lr = 2e-2, weight_decay = 0})
local function warmup(step) return math.min(1, (step + 1) / 10) end
local scheduler = lg.optim.lr_scheduler.LambdaLR(optimizer, {lr_lambda = warmup})
local scaler = lg.optim.GradScaler()
model:train()
local x = lg.randint(0, 12, {32, 5})
local y = (x + 1) % 12
local accuracy
for _ = 1, 100 do
  optimizer:zero_grad()
  local logits
  lg.autocast("bf16", function() logits = model(x) end)
  local loss = F.cross_entropy(logits:transpose(2, 3):float(), y)
  scaler:scale(loss):backward()
  scaler:unscale_(optimizer)
  nn.utils.clip_grad_norm_(params, 1.0)
  scaler:step(optimizer)
  scaler:update()
  scheduler:step()
  accuracy = logits:argmax(-1):eq(y):float():mean():item()
end
print(("accuracy %.3f"):format(accuracy))
assert(accuracy > 0.95)

model:eval()
local before = model(x)
for name, module in model:named_modules() do
  if nn.isinstance(module, LoRALinear) then model:set_submodule(name, module:merge()) end
end
assert(lg.allclose(model(x), before, {rtol = 1e-4, atol = 1e-4}))
local plain = Net(checkpoint.config.d, checkpoint.config.heads)
plain:load_state_dict(model:state_dict())
assert(lg.equal(plain:eval()(x), model(x)))
