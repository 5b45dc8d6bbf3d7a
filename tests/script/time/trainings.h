#pragma once
// Small trainings for tests of replays, probes and forks. Each prints "STEP FINGERPRINT" at the end of a
// step: a number in which every bit of the weights and gradients counts.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"
#include "script/time/replay.h"
#include "tests/support/program.h"

namespace lunagrad::tests {

inline const std::string kFingerprint = R"lua(
local lg = require "lunagrad"
function fingerprint()
  local sum = lg.zeros(1, {dtype = "f64"})
  for _, p in ipairs(model:parameters()) do
    for _, x in ipairs {p:detach(), p.grad or p:detach()} do
      local flat = x:flatten():double()
      sum = sum + (flat * lg.arange(1, #flat + 1):double()):sum()
    end
  end
  return ("%a"):format(sum:item())
end
)lua";

// A CNN with a loader that is not registered, dropout, running statistics, a schedule, and deferred calls.
inline const std::string kCnn = kFingerprint + R"lua(
local nn, data = lg.nn, lg.data
local rate = lg.run.live("rate", 1e-2)
local images = lg.rand(60, 1, 8, 8)
local set = data.TensorDataset(images, lg.randint(0, 3, {60}))
local loader = data.DataLoader(set, {batch_size = 16, shuffle = true})
model = lg.run.state("model", function()
  return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(144, 3))
end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.SGD(model:parameters(), {lr = rate, momentum = 0.9}) end)
local schedule = lg.run.state("schedule", function() return lg.optim.lr_scheduler.StepLR(optimizer, 5, 0.9) end)
local forward = lg.compile(function(x) return model(x) end)
local next_batch = loader:cycle()
for step in lg.run.steps(40) do
  local x, y = next_batch()
  optimizer:zero_grad()
  local loss = nn.functional.cross_entropy(forward(x), y)
  loss:backward()
  optimizer:step()
  schedule:step()
  lg.run.log {loss = loss}
  print(step .. " " .. fingerprint())
end
)lua";

// A small language model with a registered loader.
inline const std::string kGpt = kFingerprint + R"lua(
local nn, data = lg.nn, lg.data
local rate = lg.run.live("rate", 1e-2)
local tokens = lg.randint(0, 11, {200})
local set = data.TensorDataset(tokens:unfold(1, 9, 1):contiguous())
local loader = lg.run.state("loader", function() return data.DataLoader(set, {batch_size = 8, shuffle = true, drop_last = true}) end)
local Block = nn.class("Block")
function Block:init(width)
  self.norm = nn.LayerNorm(width)
  self.attention = nn.MultiheadAttention(width, 2, {batch_first = true})
  self.drop = nn.Dropout(0.1)
  self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
end
function Block:forward(x)
  local h = self.norm(x)
  local n = x:size(2)
  local mask = lg.ones(n, n):triu(1):bool()
  x = x + self.drop((self.attention(h, h, h, {attn_mask = mask})))
  return x + self.mlp(x)
end
local Model = nn.class("Model")
function Model:init()
  self.token, self.place = nn.Embedding(11, 16), nn.Embedding(8, 16)
  self.block, self.head = Block(16), nn.Linear(16, 11)
end
function Model:forward(x) return self.head(self.block(self.token(x) + self.place(lg.arange(8)))) end
model = lg.run.state("model", function() return Model() end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.AdamW(model:parameters(), {lr = rate}) end)
local next_batch = loader:cycle()
for step in lg.run.steps(30) do
  local x = next_batch()
  optimizer:zero_grad()
  local logits = model(x:narrow(2, 1, 8))
  local loss = nn.functional.cross_entropy(logits:reshape(-1, 11), x:narrow(2, 2, 8):reshape(-1))
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
  print(step .. " " .. fingerprint())
end
)lua";

// The text with `to` in place of the first `from`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

using Rows = std::vector<std::pair<int64_t, double>>;  // steps and values
Rows rows_of(const std::string& lines);                // that `lunagrad probe --json` printed
Rows logged(const RunRecord&, const std::string& metric);

// A run in a folder, by a session of its own.
struct MadeRun {
  std::string folder;
  std::map<int64_t, std::string> fingerprints;  // by step
  Outcome outcome = Outcome::ok;
};

// Runs the file `script`; `also` sees the events on the session's thread.
MadeRun make_run(const std::string& script, const std::string& folder, RunOptions options = {},
                 const std::function<void(Session&, const Event&)>& also = {});
// A replay whose session's output is kept.
class Scrubber {
 public:
  explicit Scrubber(const std::string& folder, std::shared_ptr<KeyframeSource> keyframes = nullptr);

  std::string evaluated(const std::string& expression);  // what print() shows of it
  std::string fingerprint(int64_t step);                 // at the end of the step
  std::vector<std::string> warnings;

 private:
  ReplayOptions options(std::shared_ptr<KeyframeSource>);
  std::mutex mutex_;
  std::string output_;

 public:
  Replay replay;  // last: its thread uses the other members
};

}  // namespace lunagrad::tests
