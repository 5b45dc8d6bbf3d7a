#pragma once
// Batches of small matrices, for gpu/shaders/matrices.glsl: one work group computes a matrix in shared
// memory. Larger matrices are left to the CPU. Pure values, except the functions that record.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// The matrices of up to two operands; batches of the second are broadcast to the shape.
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
// The matrices of x at an address, or their transposes.
Matrix matrix_of(const Tensor& x, uint64_t memory, bool transposed = false);

// Numbers in shared memory: at most 32000 bytes, or less if the shader holds vectors beside them.
uint32_t most_words(DType);
inline uint32_t words_beside_vectors(DType type) { return most_words(type) - 512; }
// Of a matrix with so many columns, padded against bank conflicts.
inline uint32_t words_of(int64_t rows, int64_t columns) { return uint32_t(rows * (columns | 1)); }
// `needed` numbers, rounded up so that there are few pipelines; no more shared memory than that keeps work
// groups from running side by side.
uint32_t rounded_words(uint32_t needed, DType);

// Whether there are matrices of f32 or c64 that fit, and whether their number fits into the record of a
// fault.
bool has_small_matrices(const Tensor&);
// The longest side of such matrices.
int64_t longest_side(DType);

// Records a shader of the type's numbers, with a work group for each item.
template <ShaderConstants C>
void run_matrices(Launch& launch, const char* shader, DType type, const C& constants, uint32_t items,
                  Bytes arguments) {
  launch.run_in_turns(find_shader(std::string(shader) + (is_complex(type) ? "_c64" : "_f32")),
                      constants.values(), items, arguments);
}

// P A = L U of each matrix, or of its transpose, into contiguous matrices and i32 pivots that count from 1. A
// fault of this kind is noted where a pivot is 0.
void factor_lu(const Tensor& a, bool transposed, const Scratch& factors, const Scratch& pivots, FaultKind,
               Recorder&);

}  // namespace lunagrad::gpu
