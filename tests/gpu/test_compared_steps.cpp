// Steps compared node by node with the Vulkan device: no op is accused, and an error in one kernel is found
// where it is made.
#include <map>

#include "gpu/ops/kernels.h"
#include "tests/gpu/run_sample.h"
#include "tests/samples/networks.h"
#include "tests/support/compared_step.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

// All cases, or one in twelve: each creates its own pipelines.
const size_t kEvery = long_run() ? 1 : 24;

void check_nothing_accused(const std::vector<ComparedNode>& rows, const std::string& name) {
  const std::string wrong = accused(rows);
  CHECK_MESSAGE(wrong.empty(), name << ":\n" << wrong);
}

// Puts itself before every kernel of the device for its life, and spoils the results of chosen calls by a
// thousandth of each element.
class SpoiltKernels {
 public:
  SpoiltKernels() {
    current_ = this;
    for (const Op* op : all_ops())
      if (gpu::Kernel* const kernel = kernel_of(*op)) {
        kernels_[op] = kernel->run;
        kernel->run = run;
      }
  }
  ~SpoiltKernels() {
    for (const auto& [op, kernel] : kernels_) kernel_of(*op)->run = kernel;
    current_ = nullptr;
  }
  SpoiltKernels(const SpoiltKernels&) = delete;

  std::function<bool(const Call&)> spoils;

 private:
  using Run = void (*)(const Call&, gpu::Recorder&);
  static gpu::Kernel* kernel_of(const Op& op) { return const_cast<gpu::Kernel*>(gpu::find_kernel(op)); }
  static void run(const Call& call, gpu::Recorder& recorder) {
    current_->kernels_.at(call.op)(call, recorder);
    if (call.out.empty() || call.out[0].dtype() != DType::f32 || !call.out[0].is_contiguous() ||
        call.out[0].numel() == 0 || !current_->spoils(call))
      return;
    static const Op* const mul = find_op("mul");
    for (const Tensor& out : call.out) {
      if (out.dtype() != DType::f32 || out.numel() == 0) continue;
      Call more;
      more.op = mul;
      more.in = {out, Tensor::number(1.001)};
      more.out = {out};
      current_->kernels_.at(mul)(more, recorder);
    }
  }

  static inline SpoiltKernels* current_ = nullptr;
  std::map<const Op*, Run> kernels_;
};

TEST_CASE("no op sample is accused on the device") {
  int rows = 0;
  size_t at = 0;
  for (const Sample& sample : samples()) {
    if (++at % kEvery) continue;
    const Op* const op = find_op(sample.op);
    if (asks_for_c128(*op, sample)) continue;
    ComparedStep step([&] {
      context().generator.seed(11);
      TensorList inputs = sample_inputs(sample);
      for (Tensor& x : inputs)
        if (x.defined() && is_differentiable(x.dtype())) x = x.detach().requires_grad_();
      return weighted_loss(sample, apply(*op, inputs, complete(*op, sample.params)));
    });
    const std::vector<ComparedNode> compared = step.compare(Side(&gpu()));
    check_nothing_accused(compared, name_of(sample));
    for (const ComparedNode& row : compared) {
      ++rows;
      CHECK_MESSAGE(row.verdict != Verdict::not_compared, name_of(sample)
                                                              << ": " << name_of(row) << ": " << row.note);
    }
  }
  CHECK(rows > 2000 / int(kEvery));
}

TEST_CASE("an error of a thousandth in one kernel of the device is found at the node that ran it") {
  SpoiltKernels kernels;
  int forward = 0, backward = 0;
  for (const Network& network : networks()) {
    context().generator.seed(5);
    ComparedStep step(network.loss);
    ComparedNode now;
    const auto begins = [&](const ComparedNode& row) { now = row; };
    // The kernel that ran last at each node makes its result.
    std::map<std::pair<bool, uint64_t>, const Op*> last;
    kernels.spoils = [&](const Call& call) {
      last[{now.backward, now.node}] = call.op;
      return false;
    };
    check_nothing_accused(step.compare(Side(&gpu()), false, begins), network.name);
    size_t at = 0;
    for (const auto& [place, kernel] : last) {
      if (++at % std::min<size_t>(kEvery, 4)) continue;
      const auto& [is_backward, node] = place;
      kernels.spoils = [&](const Call& call) {
        return now.backward == is_backward && now.node == node && kernel == call.op;
      };
      const std::vector<ComparedNode> rows = step.compare(Side(&gpu()), false, begins);
      const std::string all = accused(rows);
      for (const ComparedNode& row : rows) {
        const bool spoilt = row.node == node && row.backward == is_backward;
        CHECK_MESSAGE((row.verdict == Verdict::wrong) == spoilt,
                      network.name << ": " << kernel->name << " was spoilt, "
                                   << (spoilt ? "not found" : "another is accused") << ": " << name_of(row)
                                   << "\n"
                                   << all);
        if (spoilt) (is_backward ? backward : forward)++;
      }
    }
  }
  MESSAGE(forward << " errors in forward kernels, " << backward << " in gradient kernels");
  const int expected = long_run() ? 20 : 5;
  CHECK(forward >= expected);
  CHECK(backward >= expected);
}

}  // namespace
}  // namespace lunagrad::tests
