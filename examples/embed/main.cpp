// Embeds Lunagrad in a C++ program. It first calls the engine's ops directly, then runs a script in a Session
// whose events arrive as callbacks, and which shares tensors, a function and an op with the program.
#include <lunagrad/runtime/ops.h>
#include <lunagrad/runtime/tape/tape.h>
#include <lunagrad/script/session.h>

#include <cmath>
#include <cstdio>

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

// An op of this program: a composition of the engine's ops, which gives it its gradient.
static Operands distance(const Call& call) { return {sum(square(sub(call.in[0], call.in[1])), {}, false)}; }
const Op kDistance{.name = "distance",
                   .doc = "The sum of the squared differences.",
                   .inputs = {{"input"}, {"target"}},
                   .compose = distance,
                   .family = OpFamily::reduction};

constexpr const char* kScript = R"(
local lg = require "lunagrad"
local w = lg.zeros(3, {requires_grad = true})
local optimizer = lg.optim.Adam({w}, {lr = lg.run.param("lr", 0.5)})
for step in lg.run.steps(100) do
  optimizer:zero_grad()
  local loss = lg.host.distance(w, {target = lg.host.target})
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
  lg.host.found = w
end
print("the script found", w:detach(), "twice that is", lg.host.doubled(w:detach()))
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
  session.set("target", ones({3}));
  session.add_function("doubled", [](const TensorList& in) -> TensorList { return {in.at(0) * 2.0}; });
  session.add_op(kDistance);
  session.run_text(kScript, "=embedded", {.set = {{"lr", "0.1"}}, .write_run = false});
  const Outcome outcome = session.wait();
  const Tensor found = session.get("found");
  std::printf("loss %.6f\n", loss);
  const bool close = found.defined() && std::abs(sum(found, {}, false).item() - 3) < 0.1;
  return outcome == Outcome::ok && std::abs(slope - 3) < 1e-3 && loss < 1e-2 && close ? 0 : 1;
}
