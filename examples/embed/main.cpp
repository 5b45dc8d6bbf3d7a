// Embeds Lunagrad in a C++ program. It first calls the engine's ops directly, then runs a script in a Session
// whose events arrive as callbacks.
#include <cmath>
#include <cstdio>

#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "script/session.h"

using namespace lunagrad;

// Fits y = 3 x + 1 by gradient descent and returns the fitted slope.
static double fit_line() {
  const Tensor x = randn({64, 1});
  const Tensor y = x * 3.0 + 1.0;
  Tensor slope = zeros({1, 1}).requires_grad_();
  Tensor offset = zeros({1}).requires_grad_();
  for (int step = 0; step < 100; ++step) {
    backward(mse_loss(linear(x, slope, offset), y));
    sgd_step({slope, offset}, {slope.grad(), offset.grad()}, {}, {.lr = 0.2});
    slope.set_grad({});
    offset.set_grad({});
  }
  return slope.item();
}

constexpr const char* kScript = R"(
local lg = require "lunagrad"
local w = lg.zeros(3, {requires_grad = true})
local optimizer = lg.optim.Adam({w}, {lr = lg.run.param("lr", 0.5)})
for step in lg.run.steps(50) do
  optimizer:zero_grad()
  local loss = ((w - 1) ^ 2):sum()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end
print("the script found", w:detach())
)";

int main() {
  const double slope = fit_line();
  std::printf("slope %.3f\n", slope);

  double loss = INFINITY;
  Session session([&](const Event& event) {
    if (event.kind == Event::Kind::output) std::fputs(event.text.c_str(), stdout);
    if (event.kind == Event::Kind::error) std::fputs((event.text + "\n").c_str(), stderr);
    if (event.kind == Event::Kind::metrics) loss = event.metrics[0].second;
  });
  session.run_text(kScript, "=embedded", {.set = {{"lr", "0.1"}}, .write_run = false});
  const Outcome outcome = session.wait();
  std::printf("loss %.6f\n", loss);
  return outcome == Outcome::ok && std::abs(slope - 3) < 1e-3 && loss < 1e-2 ? 0 : 1;
}
