#include "gpu/vulkan/portable_matrices.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

namespace lunagrad::gpu {
namespace {

// Numbers of the SPIR-V registry.
constexpr uint32_t kOpMemoryModel = 14, kGlslModel = 1, kVulkanModel = 5345, kOpLoad = 61, kOpStore = 62;
constexpr uint32_t kMemoryAligned = 2, kMemoryPlain = 7;  // Volatile, Aligned, Nontemporal
constexpr uint32_t kOpExtension = 10, kOpTypeFloat = 22, kOpConstantTrue = 41, kOpConstant = 43;
constexpr uint32_t kTypeNv = 5358, kLoadNv = 5359, kStoreNv = 5360, kMulAddNv = 5361, kCapabilityNv = 5357;
constexpr uint32_t kTypeKhr = 4456, kLoadKhr = 4457, kStoreKhr = 4458, kMulAddKhr = 4459,
                   kCapabilityKhr = 6022;
constexpr uint32_t kBfloatType = 5116, kBfloatMatrix = 5118, kBfloatEncoding = 0;
constexpr uint32_t kRowMajor = 0, kColumnMajor = 1, kUses = 3;  // A, B, accumulator
constexpr size_t kHeader = 5, kBound = 3;  // words of the header, and the position of the id bound in it

using Words = std::vector<uint32_t>;

template <class Visit>
void each_instruction(std::span<const uint32_t> words, Visit visit) {
  for (size_t at = kHeader; at < words.size(); at += words[at] >> 16)
    visit(words[at] & 0xffff, words.subspan(at, words[at] >> 16));
}

void emit(Words& to, uint32_t opcode, std::initializer_list<uint32_t> operands,
          std::span<const uint32_t> more = {}) {
  to.push_back(uint32_t(1 + operands.size() + more.size()) << 16 | opcode);
  to.insert(to.end(), operands);
  to.insert(to.end(), more.begin(), more.end());
}

void emit_extension(Words& to, std::string_view name) {
  Words letters(name.size() / 4 + 1, 0);
  std::memcpy(letters.data(), name.data(), name.size());
  emit(to, kOpExtension, {}, letters);
}

// Emits an instruction with its memory access operands, without the operands of the Vulkan memory model.
void emit_access(Words& to, uint32_t opcode, std::initializer_list<uint32_t> operands,
                 std::span<const uint32_t> access) {
  Words plain;
  if (!access.empty() && access[0] & kMemoryPlain) {
    plain.push_back(access[0] & kMemoryPlain);
    if (access[0] & kMemoryAligned) plain.push_back(access[1]);
  }
  emit(to, opcode, operands, plain);
}

}  // namespace

bool is_cooperative(std::span<const uint32_t> words) {
  bool found = false;
  each_instruction(words, [&](uint32_t opcode, std::span<const uint32_t> in) {
    found |= opcode == kOpCapability && in[1] == kCapabilityNv;
  });
  return found;
}

std::vector<uint32_t> portable_matrices(std::span<const uint32_t> words, bool bfloat) {
  std::unordered_map<uint32_t, uint32_t> type_of_constant;
  std::unordered_map<uint32_t, bool> truth;  // ids of true constants, which mark column-major operands
  std::unordered_map<uint32_t, uint32_t> float_bits;
  uint32_t sum_rows = 0, sum_columns = 0, scope = 0;
  each_instruction(words, [&](uint32_t opcode, std::span<const uint32_t> in) {
    if (opcode == kOpConstant) type_of_constant[in[2]] = in[1];
    if (opcode == kOpConstantTrue) truth[in[2]] = true;
    if (opcode == kOpTypeFloat) float_bits[in[1]] = in[2];
    if (opcode == kTypeNv && float_bits[in[2]] == 32) scope = in[3], sum_rows = in[4], sum_columns = in[5];
  });
  Words out(words.begin(), words.begin() + kHeader);
  const uint32_t constants = out[kBound], bfloat_id = constants + kUses;
  out[kBound] += kUses + 1;
  bool declared = false;
  each_instruction(words, [&](uint32_t opcode, std::span<const uint32_t> in) {
    const auto layout = [&](uint32_t constant) {
      return constants + (truth.contains(constant) ? kColumnMajor : kRowMajor);
    };
    if (opcode == kOpCapability && in[1] == kVulkanModel) {
      return;
    } else if (opcode == kOpCapability && in[1] == kCapabilityNv) {
      emit(out, kOpCapability, {kCapabilityKhr});
      if (bfloat) {
        emit(out, kOpCapability, {kBfloatType});
        emit(out, kOpCapability, {kBfloatMatrix});
      }
    } else if (opcode == kOpExtension &&
               std::strcmp(reinterpret_cast<const char*>(&in[1]), "SPV_NV_cooperative_matrix") == 0) {
      emit_extension(out, "SPV_KHR_cooperative_matrix");
      if (bfloat) emit_extension(out, "SPV_KHR_bfloat16");
    } else if (opcode == kTypeNv) {
      if (!declared) {  // constants 0 to 2, for matrix uses and layouts
        for (uint32_t i = 0; i < kUses; ++i)
          emit(out, kOpConstant, {type_of_constant[scope], constants + i, i});
        if (bfloat) emit(out, kOpTypeFloat, {bfloat_id, 16, kBfloatEncoding});
        declared = true;
      }
      const bool sum = float_bits[in[2]] == 32;
      const uint32_t use = sum ? 2 : in[4] == sum_rows ? 0 : 1;
      emit(out, kTypeKhr, {in[1], bfloat && !sum ? bfloat_id : in[2], in[3], in[4], in[5], constants + use});
    } else if (opcode == kLoadNv) {
      emit_access(out, kLoadKhr, {in[1], in[2], in[3], layout(in[5]), in[4]}, in.subspan(6));
    } else if (opcode == kStoreNv) {
      emit_access(out, kStoreKhr, {in[1], in[2], layout(in[4]), in[3]}, in.subspan(5));
    } else if (opcode == kOpLoad) {
      emit_access(out, kOpLoad, {in[1], in[2], in[3]}, in.subspan(4));
    } else if (opcode == kOpStore) {
      emit_access(out, kOpStore, {in[1], in[2]}, in.subspan(3));
    } else if (opcode == kOpMemoryModel) {
      emit(out, kOpMemoryModel, {in[1], kGlslModel});
    } else if (opcode == kMulAddNv) {
      emit(out, kMulAddKhr, {in[1], in[2], in[3], in[4], in[5]});
    } else {
      out.insert(out.end(), in.begin(), in.end());
    }
  });
  return out;
}

}  // namespace lunagrad::gpu
