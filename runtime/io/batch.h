#pragma once
// Makes batches of the samples of a data set without running Lua: rows of tensors, windows of a text, images
// of a folder with random augmentation. fill_batch() only reads the plan and writes to memory that the caller
// owns, so any thread may call it. The plan and its tensors belong to the thread that made them.
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad {

// One step of a transform of f32 images [channels, height, width].
struct ImageStep {
  enum class Kind { normalize, crop, flip };
  Kind kind = Kind::normalize;
  std::vector<float> mean, deviation;          // normalize: one number for all channels, or one per channel
  int64_t height = 0, width = 0, padding = 0;  // crop: size, at a random position, after zero padding
  double probability = 0.5;                    // flip: probability of mirroring left to right
};

struct BatchColumn {
  enum class Kind { rows, windows, images };
  Kind kind = Kind::rows;
  Tensor source;                   // rows: [samples, …]; windows: u8 [bytes]; contiguous, on the CPU
  int64_t stride = 0, start = 0;   // windows: sample i starts at byte start + i * stride
  std::vector<std::string> files;  // images: PNG files
  int channels = 0;                // images: 1, 3 or 4
  Shape shape;                     // of one sample in a batch
  DType dtype = DType::f32;        // of a batch: i64 for windows, f32 for images and transformed rows
};

struct BatchPlan {
  std::vector<BatchColumn> columns;
  std::vector<ImageStep> steps;  // for column 0
  int64_t samples = 0;
};

// The seed of random augmentation: a sample gets the same random numbers in every batch and on every thread.
struct BatchDraw {
  uint64_t seed = 0;
  uint64_t pass = 0;
};

// The shape of an image after the steps. Error "transform: …" when a step does not fit it.
Shape transformed(const std::vector<ImageStep>&, Shape image);

// Uninitialised tensors for `count` samples.
TensorList empty_batch(const BatchPlan&, int64_t count);
// Writes the samples `indices` (from 0, below plan.samples) to `out`, which has one pointer per column.
// Returns early when `cancelled`. Error of kind file for an image that cannot be read or has a different
// size.
void fill_batch(const BatchPlan&, const int64_t* indices, int64_t count, BatchDraw, void* const* out,
                const std::atomic<bool>& cancelled);

}  // namespace lunagrad
