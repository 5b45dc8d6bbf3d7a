#pragma once
// How the samples of a data set become batches without a line of Lua: rows of tensors, windows of a text,
// images of a folder, and the steps that change images by chance. fill() reads the plan and writes bytes that
// the caller owns, so that any thread may call it; the plan itself, and its tensors, belong to the thread
// that made it.
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace lunagrad {

// One step of a transform of an image [channels, height, width] of f32.
struct ImageStep {
  enum class Kind { normalize, crop, flip };
  Kind kind = Kind::normalize;
  std::vector<float> mean, deviation;          // normalize: one for all channels, or one each
  int64_t height = 0, width = 0, padding = 0;  // crop: a place by chance, after zeros on all four sides
  double probability = 0.5;                    // flip: left to right
};

struct BatchColumn {
  enum class Kind { rows, windows, images };
  Kind kind = Kind::rows;
  Tensor source;                   // rows: [samples, …]; windows: u8 [bytes]; contiguous, on the CPU
  int64_t stride = 0, start = 0;   // windows: sample i begins at byte start + i * stride
  std::vector<std::string> files;  // images: PNG files
  int channels = 0;                // images: 1, 3 or 4
  Shape shape;                     // of one sample in a batch
  DType dtype = DType::f32;        // of a batch: i64 of windows, f32 of images and of what the steps change
};

struct BatchPlan {
  std::vector<BatchColumn> columns;
  std::vector<ImageStep> steps;  // of column 0
  int64_t samples = 0;
};

// What chance follows from: the same for a sample whatever batch it is in and whoever makes the batch.
struct BatchDraw {
  uint64_t seed = 0;
  uint64_t pass = 0;
};

// The shape that an image has after the steps. Error "transform: …" when they do not fit it.
Shape transformed(const std::vector<ImageStep>&, Shape image);

// Uninitialised tensors for `count` samples.
TensorList empty_batch(const BatchPlan&, int64_t count);
// Writes the samples `indices` (from 0, below plan.samples) behind `out`, one pointer a column. Returns early
// when `cancelled`. Error of kind file for an image that cannot be read or has another size.
void fill_batch(const BatchPlan&, const int64_t* indices, int64_t count, BatchDraw, void* const* out,
                const std::atomic<bool>& cancelled);

}  // namespace lunagrad
