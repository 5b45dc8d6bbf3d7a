// Kernels that scripts define (lg.kernel). A prelude before the user's text declares its operands: x(i) is
// element i of x, x_count() the number of elements, x_size(d) a size. For an input x(i) is a function, which
// cannot be assigned to. For an output it is a function-like macro, so that a component .x is not replaced.
#include "gpu/ops/user.h"

#include <deque>
#include <map>
#include <mutex>

#include "gpu/ops/kernels.h"
#include "gpu/vulkan/glsl.h"

namespace lunagrad::gpu {
namespace {

// The layout that the prelude declares.
struct TensorArgument {
  uint64_t address;
  uint32_t count;
  uint32_t size[kMaxDims];
  uint32_t unused;
};
constexpr uint64_t kMostElements = uint64_t(1) << 32;

struct UserKernel {
  std::string name;
  std::vector<uint32_t> words;
  ShaderCode code;
  std::array<int64_t, 3> threads;
  size_t params;
};

struct Library {
  std::mutex mutex;
  std::deque<UserKernel> kernels;
  std::map<std::pair<std::string, std::string>, int64_t> by_text;  // key: name and text
};
Library& library() {
  static auto* all = new Library;  // never destroyed: devices may be closed after statics are destroyed
  return *all;
}

const UserKernel& find_user_kernel(int64_t number) {
  const std::lock_guard lock(library().mutex);
  return library().kernels[size_t(number)];
}

const char* glsl_type(const KernelSource& source, const KernelSource::Operand& operand,
                      const PhysicalDevice& device) {
  switch (operand.dtype) {
    case DType::boolean:
    case DType::u8:
      return "uint8_t";
    case DType::i32:
      return "int";
    case DType::i64:
      return "int64_t";
    case DType::f16:
      return "float16_t";
    case DType::f32:
      return "float";
    case DType::c64:
      return "vec2";
    case DType::f64:
      if (device.float64) return "double";
      break;
    default:
      break;
  }
  fail(source.name, ": ", operand.name, " is ", operand.dtype, ", which kernels cannot use on ", device.name);
}

std::string whole_text(const KernelSource& source, const PhysicalDevice& device) {
  const size_t tensors = source.inputs.size() + source.outputs.size();
  std::string whole = text(
      "#version 460\n"
      "#extension GL_EXT_buffer_reference : require\n"
      "#extension GL_EXT_scalar_block_layout : require\n"
      "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
      "#extension GL_EXT_shader_16bit_storage : require\n"
      "#extension GL_EXT_shader_8bit_storage : require\n"
      "#extension GL_EXT_spirv_intrinsics : require\n"
      // SignedZeroInfNanPreserve for f32, as in gpu/ops/glsl/memory.glsl.
      "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4466], 4461, 32);\n"
      "layout(local_size_x = ",
      source.threads[0], ", local_size_y = ", source.threads[1], ", local_size_z = ", source.threads[2],
      ") in;\n"
      "struct lg_Tensor { uint64_t address; uint count; uint size[",
      kMaxDims,
      "]; uint unused; };\n"
      "layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer lg_Arguments {\n"
      "  lg_Tensor tensor[",
      tensors, "];\n  float number[", kMostKernelParams,
      "];\n};\n"
      "layout(push_constant, scalar) uniform lg_Push { lg_Arguments lg; };\n"
      "#define each(i, n) for (uint i = gl_GlobalInvocationID.x; i < (n); i += gl_NumWorkGroups.x * "
      "gl_WorkGroupSize.x)\n");
  size_t at = 0;
  const auto declare = [&](const KernelSource::Operand& x, bool is_input) {
    // Not at[i], since an array index is a signed int.
    const std::string element =
        text("lg_Element", at, "(lg.tensor[", at, "].address + uint64_t(i) * ", item_size(x.dtype), ").at");
    const std::string type = glsl_type(source, x, device);
    const char* const read_as = type == "float16_t" ? "float" : type == "uint8_t" ? "uint" : type.c_str();
    whole += text("layout(buffer_reference, scalar, buffer_reference_align = ", item_size(x.dtype),
                  ") buffer lg_Element", at, " { ", type, " at; };\n");
    whole += is_input ? text(read_as, " ", x.name, "(uint i) { return ", read_as, "(", element, "); }\n")
                      : text("#define ", x.name, "(i) (", element, ")\n");
    whole += text("uint ", x.name, "_count() { return lg.tensor[", at, "].count; }\n");
    whole += text("uint ", x.name, "_size(uint d) { return lg.tensor[", at, "].size[d]; }\n");
    ++at;
  };
  for (const KernelSource::Operand& x : source.inputs) declare(x, true);
  for (const KernelSource::Operand& x : source.outputs) declare(x, false);
  for (size_t i = 0; i < source.params.size(); ++i)
    whole += text("float ", source.params[i], " = lg.number[", i, "];\n");
  whole += text("#line 1 ", kUserSource, "\n", source.glsl, "\n");
  return whole;
}

bool supports_user_kernel(const Call&) { return true; }

Groups groups_of(const Call& call, const UserKernel& kernel, const Recorder& recorder) {
  const Dims& given = call.list(kKernelGroups);
  if (given.empty()) {
    const uint64_t width = uint64_t(kernel.threads[0]);
    return {group_count((uint64_t(call.output().numel()) + width - 1) / width, recorder)};
  }
  uint32_t groups[3] = {1, 1, 1};
  for (int d = 0; d < given.size(); ++d) {
    const uint32_t most = recorder.physical.limits.maxComputeWorkGroupCount[d];
    if (given[d] < 1 || given[d] > int64_t(most))
      fail(kernel.name, ": ", given, " groups; ", recorder.physical.name, " takes 1 to ", most,
           " in direction ", d + 1);
    groups[d] = uint32_t(given[d]);
  }
  return {groups[0], groups[1], groups[2]};
}

void run_user_kernel(const Call& call, Recorder& recorder) {
  const UserKernel& kernel = find_user_kernel(call.integer(kKernelNumber));
  Launch launch(recorder);
  std::vector<std::byte> arguments;
  const auto append = [&](const auto& value) {
    const Bytes bytes = bytes_of(value);
    arguments.insert(arguments.end(), bytes.begin(), bytes.end());
  };
  const auto pass = [&](const Tensor& x, uint64_t address) {
    if (uint64_t(x.numel()) >= kMostElements)
      fail(kernel.name, ": a tensor of ", x.numel(), " elements; a kernel counts them with 32 bits");
    TensorArgument argument{};
    argument.address = address;
    argument.count = uint32_t(x.numel());
    for (int d = 0; d < x.ndim(); ++d) argument.size[d] = uint32_t(x.size(d));
    append(argument);
  };
  for (const Tensor& x : call.in) pass(x, launch.reads(x));
  for (const Tensor& y : call.out) pass(y, y.numel() > 0 ? launch.writes(y) : 0);
  for (size_t i = 0; i < kMostKernelParams; ++i) append(i < kernel.params ? float(call.args[i].f) : 0.0f);
  // Wait for the pipeline here: if the driver rejects the shader, this call fails and no other work is lost.
  recorder.pipelines.get(kernel.code, {}).handle();
  launch.run(kernel.code, Constants{}, groups_of(call, kernel, recorder), arguments);
}

}  // namespace

int64_t compile_user_kernel(const KernelSource& source, const PhysicalDevice& device) {
  int64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    const int64_t most = device.limits.maxComputeWorkGroupSize[d];
    if (source.threads[size_t(d)] < 1 || source.threads[size_t(d)] > most)
      fail(source.name, ": ", source.threads[size_t(d)], " threads in direction ", d + 1, "; ", device.name,
           " takes 1 to ", most);
    threads *= source.threads[size_t(d)];
  }
  if (threads > device.limits.maxComputeWorkGroupInvocations)
    fail(source.name, ": ", threads, " threads in a group; ", device.name, " takes ",
         device.limits.maxComputeWorkGroupInvocations);
  const std::pair key(source.name, whole_text(source, device));
  Library& all = library();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_text.find(key);
  if (found != all.by_text.end()) return found->second;
  UserKernel& kernel = all.kernels.emplace_back();
  try {
    kernel.words = compile_glsl(source.name, key.second, source.glsl);
  } catch (...) {
    all.kernels.pop_back();
    throw;
  }
  kernel.name = source.name;
  kernel.code = shader_code(kernel.name, kernel.words);
  kernel.threads = source.threads;
  kernel.params = source.params.size();
  return all.by_text[key] = int64_t(all.kernels.size()) - 1;
}

std::vector<KernelEntry> user_kernels() {
  return {{&user_kernel_op(), {supports_user_kernel, run_user_kernel, true}}};
}

}  // namespace lunagrad::gpu
