// All rows of elementwise.def and their gradients: a shader for each row and computation type, specialized by
// operand types and number of dims.
#include "runtime/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "gpu/generate/integer_division.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "gpu/ops/parts.h"

namespace lunagrad::gpu {
namespace {

// Push constants and arguments of elementwise.glsl.
struct ElementwisePushConstants {
  uint64_t result;
  uint64_t operand[5];
  uint32_t count;
  uint32_t fault_kind;
  uint64_t fault;  // for rows that divide integers
};
struct ElementwiseArguments {
  uint64_t param[3];
  uint32_t size[8];
  int64_t stride[6][8];
};
static_assert(sizeof(ElementwisePushConstants) <= kPushConstantBytes &&
              offsetof(ElementwiseArguments, stride) == 56);

bool known_type(DType type) { return type != DType::f64; }

bool supports_elementwise(const Call& call) {
  if (!indexable(call.output()) || !known_type(call.output().dtype())) return false;
  for (const Tensor& x : call.in)
    if (x.defined() && !x.is_number() && !known_type(x.dtype())) return false;
  return computing_type(call) != DType::f64;
}

// The kind of numbers that a shader computes with.
enum Numbers : size_t { kFloats, kIntegers, kComplexNumbers };

Numbers numbers_of(DType computing) {
  return is_complex(computing) ? kComplexNumbers : is_floating(computing) ? kFloats : kIntegers;
}

// A number as the shader reads it: the bits of an f32, or a 64-bit integer that fits the computation type.
template <class Number>
uint64_t packed(Number value, DType computing) {
  if (!is_integral(computing)) return std::bit_cast<uint32_t>(float(value));
  return visit_dtype(computing, [&]<class T>() -> uint64_t {
    if constexpr (std::is_integral_v<T>)
      return uint64_t(int64_t(convert<T>(value)));
    else
      return 0;
  });
}
uint64_t packed_number(const Tensor& x, DType computing) {
  return x.dtype() == DType::i64 ? packed(*x.data<int64_t>(), computing)
                                 : packed(*x.data<double>(), computing);
}

// The shaders of a row, indexed by Numbers; null if the row has none for that kind.
using RowCode = std::array<const ShaderCode*, 3>;

const ShaderCode& code_of(int row, Numbers numbers) {
  static const std::array<RowCode, kRowCount> all = [] {
    std::array<RowCode, kRowCount> codes{};
    for (int i = 0; i < kRowCount; ++i) {
      const RowTraits& traits = row_traits(i);
      const std::string name = std::string("elementwise_") + traits.name;
      if (traits.types != RowTypes::kinteger) codes[size_t(i)][kFloats] = &find_shader(name + "_f32");
      if (traits.types != RowTypes::kfloat) codes[size_t(i)][kIntegers] = &find_shader(name + "_i64");
      if (takes_complex(Row(i))) codes[size_t(i)][kComplexNumbers] = &find_shader(name + "_c64");
    }
    return codes;
  }();
  return *all[size_t(row)][numbers];
}

// Whether operand `at` (0: the result) can be accessed in vectors of four elements along the innermost dim,
// or has one element for that whole dim.
bool has_vectors(const Iteration& space, size_t at, DType type, uint64_t address) {
  const bool bytes = type == DType::boolean || (type == DType::u8 && at > 0);
  const bool in_fours = bytes ? address % 4 == 0 : moves_in_fours(type, address);
  if (space.dims == 0) return in_fours;
  const int inner = space.dims - 1;
  if (space.stride[at][inner] == 0) return at > 0;
  bool whole = space.stride[at][inner] == 1;
  for (int d = 0; d < inner; ++d) whole = whole && space.stride[at][d] % 4 == 0;
  return whole && in_fours;
}
// Counts the innermost dim in vectors, and also the strides of operands that have vectors.
void count_vectors(Iteration& space) {
  if (space.dims == 0) return;
  const int inner = space.dims - 1;
  space.size[inner] /= 4;
  for (auto& stride : space.stride)
    for (int d = 0; stride[inner] == 1 && d < inner; ++d) stride[d] /= 4;
}

void run_elementwise(const Call& call, Recorder& recorder) {
  const ElementwiseUse use = elementwise_use(*call.op);
  const DType computing = computing_type(call);
  const Numbers numbers = numbers_of(computing);
  const bool integer = numbers == kIntegers;
  const Tensor& out = call.output();
  Launch launch(recorder);
  ElementwisePushConstants push{};
  push.result = launch.writes(out);
  const Tensor* visited[kMaxIterated] = {&out};
  uint32_t types[5];
  std::fill(std::begin(types), std::end(types), ElementType::kAbsent);
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor& x = call.in[i];
    if (!x.defined()) continue;
    if (x.is_number()) {
      push.operand[i] = packed_number(x, computing);
      types[i] = ElementType::kNumber;
    } else {
      push.operand[i] = launch.reads(x);
      types[i] = uint32_t(x.dtype());
      visited[i + 1] = &x;
    }
  }
  Iteration space = iterate(out.shape(), visited);
  push.count = uint32_t(space.count);
  if (integer && divides_integers(Row(use.row))) {
    push.fault = recorder.stream.fault_address();
    push.fault_kind = uint32_t(FaultKind::division);
  }

  // Only the part of the block that this call needs is sent: parameters, then dims.
  ElementwiseArguments arguments;
  size_t bytes = 0;
  if (!call.params.empty()) {
    double params[kMaxRowParams] = {};
    pack_params(call, params);
    for (int i = 0; i < kMaxRowParams; ++i) arguments.param[i] = packed(params[i], computing);
    bytes = sizeof arguments.param;
  }
  // Adjacent elements can be loaded and stored four at a time.
  const uint64_t together = space.dims == 0 ? space.count : space.size[space.dims - 1];
  bool vector = numbers == kFloats && together % 4 == 0 && has_vectors(space, 0, out.dtype(), push.result);
  for (size_t i = 0; i < call.in.size() && vector; ++i)
    if (types[i] != ElementType::kAbsent && types[i] != ElementType::kNumber)
      vector = has_vectors(space, i + 1, DType(types[i]), push.operand[i]);
  if (vector) count_vectors(space);
  if (space.dims > 0) {
    std::memcpy(arguments.size, space.size, sizeof space.size);
    std::memcpy(arguments.stride, space.stride, sizeof space.stride);
    bytes = sizeof arguments;
  }
  const Visit visit = visit_elements(vector ? space.count / 4 : space.count, recorder);
  launch.run(code_of(use.row, numbers),
             shaders::Elementwise{.mode = uint32_t(use.gradient + 1),
                                  .dims = uint32_t(space.dims),
                                  .result_type = uint32_t(out.dtype()),
                                  .type_0 = types[0],
                                  .type_1 = types[1],
                                  .type_2 = types[2],
                                  .type_3 = types[3],
                                  .type_4 = types[4],
                                  .per_thread = visit.per_thread,
                                  .vector = vector,
                                  .computed = uint32_t(integer ? computing : DType::i64)}
                 .values(),
             {visit.groups}, bytes_of(arguments).first(bytes), bytes_of(push));
}

}  // namespace

std::vector<KernelEntry> elementwise_kernels() {
  std::vector<KernelEntry> entries;
  for (const Op* op : all_ops())
    if (elementwise_use(*op))
      entries.push_back({op, {supports_elementwise, run_elementwise, op->complex, nullptr, slice_pointwise}});
  return entries;
}

}  // namespace lunagrad::gpu
