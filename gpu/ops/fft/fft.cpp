// Fourier transforms of c64 along a dim: one dispatch, or two for a length that is the product of two short
// lengths (runtime/ops/fft/fft_geometry.h). Other lengths are composed of these.
#include <algorithm>
#include <vector>

#include "gpu/ops/divisor.h"
#include "gpu/ops/kernels.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/fft/fft_geometry.h"

namespace lunagrad::gpu {
namespace {

using shaders::Fft;

struct Arguments {
  uint64_t result, operand;
  uint32_t extent, together, rows;
  uint32_t middle, inner;
  int64_t in_stride[3];
  int64_t out_stride[3];
  int64_t in_step, out_step;
  uint32_t turns;
  float scale;
  uint32_t passes;
  uint32_t radices[12];
  Divisor by_extent, by_together, by_middle, by_inner;
  Divisor by_stride[12];
};

static_assert(Fft::kLongest == kLongestSharedFft);

constexpr uint32_t kBusyGroups = 8;  // workgroups per processor that keep a device busy: as many fit

// At most 11 radices: the length is at most 2^11.
std::vector<uint32_t> radices_of(int64_t n) {
  std::vector<uint32_t> radices;
  for (const uint32_t radix : {4, 2, 3, 5})
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  return radices;
}

bool supports(const Call& call) {
  const Tensor& x = call.input(0);
  return x.dtype() == DType::c64 && x.is_contiguous() && indexable(x) &&
         fft_side(x.size(int(call.integer(0)))) > 0;
}

// The rows as outer, middle and inner loops, with their strides in the operand and in the result.
struct Loops {
  int64_t outer, middle, inner;
  int64_t in_stride[3], out_stride[3];
  int64_t in_step, out_step;
};

template <class From, class To>
void transform(const From& from, const To& to, int64_t length, const Loops& loops, bool swap_in,
               bool swap_out, int64_t turns, double scale, Recorder& recorder) {
  Launch launch(recorder);
  Arguments arguments{};
  arguments.result = launch.writes(to);
  arguments.operand = launch.reads(from);
  arguments.extent = uint32_t(length);
  arguments.rows = uint32_t(loops.outer * loops.middle * loops.inner);
  arguments.together = uint32_t(
      std::min<int64_t>({Fft::kLongest / length, Fft::kMostTogether, std::max<uint32_t>(arguments.rows, 1)}));
  arguments.middle = uint32_t(loops.middle);
  arguments.inner = uint32_t(loops.inner);
  std::copy(loops.in_stride, loops.in_stride + 3, arguments.in_stride);
  std::copy(loops.out_stride, loops.out_stride + 3, arguments.out_stride);
  arguments.in_step = loops.in_step;
  arguments.out_step = loops.out_step;
  arguments.turns = uint32_t(turns);
  arguments.scale = float(scale);
  const std::vector<uint32_t> radices = radices_of(length);
  arguments.passes = uint32_t(radices.size());
  std::copy(radices.begin(), radices.end(), arguments.radices);
  arguments.by_extent = Divisor(arguments.extent);
  arguments.by_together = Divisor(arguments.together);
  arguments.by_middle = Divisor(arguments.middle);
  arguments.by_inner = Divisor(arguments.inner);
  uint32_t stride = arguments.together;
  for (size_t i = 0; i < radices.size(); stride *= radices[i++]) arguments.by_stride[i] = Divisor(stride);
  // A workgroup computes its table of roots once and transforms several blocks.
  const uint64_t blocks = (arguments.rows + arguments.together - 1) / arguments.together;
  launch.multiplies(double(length) * arguments.rows * double(radices.size()) * 8);
  launch.run(Fft{.swap_in = swap_in,
                 .swap_out = swap_out,
                 .rows_first_in = loops.in_step != 1,
                 .rows_first_out = loops.out_step != 1},
             {group_count(std::min(blocks, uint64_t(recorder.rates.busy_groups(kBusyGroups))), recorder)},
             bytes_of(arguments));
}

void run_fft(const Call& call, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output();
  const Split split(x.shape(), int(call.integer(0)));
  const bool inverse = call.flag(1);
  const double scale = call.real(2);
  const int64_t n = split.size, inner = split.inner, n1 = fft_side(n), n2 = n / n1;
  if (n2 == 1) {
    const Loops loops{split.outer, 1, inner, {n * inner, 0, 1}, {n * inner, 0, 1}, inner, inner};
    return transform(x, out, n, loops, inverse, inverse, 0, scale, recorder);
  }
  // As in ops/fft/cpu/fft.cpp: j = n2 j1 + j2, k = k1 + n1 k2. The matrix between the two dispatches is [k1,
  // j2].
  const Scratch scratch(recorder, size_t(x.numel()) * item_size(DType::c64));
  const int64_t whole = n * inner;
  const Loops columns{split.outer, n2, inner, {whole, inner, 1}, {whole, inner, 1}, n2 * inner, n2 * inner};
  transform(x, scratch, n1, columns, inverse, false, n, 1.0, recorder);
  const Loops rows{split.outer, n1, inner, {whole, n2 * inner, 1}, {whole, inner, 1}, inner, n1 * inner};
  transform(scratch, out, n2, rows, false, inverse, 0, scale, recorder);
}

}  // namespace

std::vector<KernelEntry> fft_kernels() { return {{find_op("_fft"), {supports, run_fft, true}}}; }

}  // namespace lunagrad::gpu
