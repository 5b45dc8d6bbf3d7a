#pragma once
// Batches of small matrices, for gpu/ops/linalg/matrices.glsl: one workgroup computes a matrix in shared
// memory. Larger matrices are computed on the CPU. Pure values, except the functions that record.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// A batch of the matrices of up to two operands; the second operand is broadcast to the shape.
struct Batch {
  uint32_t count, dims;
  uint32_t size[8];
  int64_t stride[2][8];
};
struct Matrix {
  uint64_t memory;
  int64_t row_step, column_step;
};
static_assert(sizeof(Batch) == 168 && sizeof(Matrix) == 24);

// The dims before the last two.
Shape batch_dims(const Tensor&);
Batch batch_of(const Shape& batch, const Tensor& a, const Tensor& b = {});
// The matrices of x at the address `memory`, or their transposes.
Matrix matrix_of(const Tensor& x, uint64_t memory, bool transposed = false);

// Most numbers in shared memory: 32000 bytes of them, or less if the shader also holds vectors.
uint32_t most_words(DType);
inline uint32_t words_beside_vectors(DType type) { return most_words(type) - 512; }
// Numbers that a matrix takes: columns are padded against bank conflicts.
inline uint32_t words_of(int64_t rows, int64_t columns) { return uint32_t(rows * (columns | 1)); }
// `needed` numbers, rounded up so that there are few pipelines, but not so far that fewer workgroups run
// concurrently.
uint32_t rounded_words(uint32_t needed, DType);

// Whether the matrices are f32 or c64 and fit into shared memory, and their number fits into a fault record.
bool has_small_matrices(const Tensor&);
inline bool supports_small_matrices(const Call& call) { return has_small_matrices(call.input(0)); }
// The longest side of a square matrix that fits.
int64_t longest_side(DType);

// Records the shader for this type, with a workgroup for each item.
template <ShaderConstants C>
void run_matrices(Launch& launch, const char* shader, DType type, const C& constants, uint32_t items,
                  Bytes arguments) {
  launch.run_in_turns(find_shader(std::string(shader) + (is_complex(type) ? "_c64" : "_f32")),
                      constants.values(), items, arguments);
}

// P A = L U for each matrix, or for its transpose: writes contiguous matrices and i32 pivots that count from
// 1. A pivot of 0 is noted as a fault of the given kind.
void factor_lu(const Tensor& a, bool transposed, const Scratch& factors, const Scratch& pivots, FaultKind,
               Recorder&);

}  // namespace lunagrad::gpu
