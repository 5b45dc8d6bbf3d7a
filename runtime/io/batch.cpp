#include "runtime/io/batch.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/error.h"
#include "runtime/core/random.h"
#include "runtime/io/png.h"

namespace lunagrad {
namespace {

// The image between two steps, with a buffer for the steps that do not work in place.
struct Canvas {
  int64_t channels = 0, height = 0, width = 0;
  std::vector<float> values, spare;

  void resize(const Shape& shape) {
    channels = shape[0], height = shape[1], width = shape[2];
    values.resize(size_t(channels * height * width));
  }
  Shape shape() const { return {channels, height, width}; }
};

// A random integer below `bound` from 32 random bits.
int64_t below(int64_t bound, uint32_t word) { return int64_t((uint64_t(word) * uint64_t(bound)) >> 32); }

void normalize(const ImageStep& step, Canvas& image) {
  const int64_t plane = image.height * image.width;
  for (int64_t c = 0; c < image.channels; ++c) {
    const float mean = step.mean[step.mean.size() == 1 ? 0 : size_t(c)];
    const float deviation = step.deviation[step.deviation.size() == 1 ? 0 : size_t(c)];
    float* const values = image.values.data() + c * plane;
    for (int64_t i = 0; i < plane; ++i) values[i] = (values[i] - mean) / deviation;
  }
}

void crop(const ImageStep& step, const PhiloxBlock& words, Canvas& image) {
  const int64_t top = below(image.height + 2 * step.padding - step.height + 1, words[0]) - step.padding;
  const int64_t left = below(image.width + 2 * step.padding - step.width + 1, words[1]) - step.padding;
  image.spare.assign(size_t(image.channels * step.height * step.width), 0);
  const int64_t first = std::max<int64_t>(-left, 0), last = std::min(image.width - left, step.width);
  for (int64_t c = 0; c < image.channels; ++c)
    for (int64_t y = 0; y < step.height; ++y) {
      const int64_t from = top + y;
      if (from < 0 || from >= image.height || first >= last) continue;
      std::copy_n(image.values.data() + (c * image.height + from) * image.width + left + first, last - first,
                  image.spare.data() + (c * step.height + y) * step.width + first);
    }
  image.values.swap(image.spare);
  image.height = step.height;
  image.width = step.width;
}

void flip(const ImageStep& step, const PhiloxBlock& words, Canvas& image) {
  if (double(words[0]) >= step.probability * 0x1p32) return;
  for (int64_t row = 0; row < image.channels * image.height; ++row)
    std::reverse(image.values.begin() + row * image.width, image.values.begin() + (row + 1) * image.width);
}

void run_steps(const std::vector<ImageStep>& steps, int64_t sample, BatchDraw draw, Canvas& image) {
  transformed(steps, image.shape());
  // Differs from the seed, which the order of the samples uses.
  const uint64_t key = draw.seed ^ 0x9e3779b97f4a7c15;
  for (size_t k = 0; k < steps.size(); ++k) {
    const PhiloxBlock words = philox(key, draw.pass, uint64_t(sample) * 16 + k);
    switch (steps[k].kind) {
      case ImageStep::Kind::normalize:
        normalize(steps[k], image);
        break;
      case ImageStep::Kind::crop:
        crop(steps[k], words, image);
        break;
      case ImageStep::Kind::flip:
        flip(steps[k], words, image);
        break;
    }
  }
}

void read_image(const std::string& file, int channels, Canvas& canvas) {
  const Image image = decode_png(file, channels);
  canvas.resize({image.channels, image.height, image.width});
  const int64_t plane = image.height * image.width;
  for (int c = 0; c < image.channels; ++c)
    for (int64_t i = 0; i < plane; ++i)
      canvas.values[size_t(c * plane + i)] = float(image.pixels[i * image.channels + c]) / 255.0f;
}

void read_row(const BatchColumn& column, int64_t sample, Canvas& canvas) {
  const Shape& shape = column.source.shape();
  canvas.resize({shape[1], shape[2], shape[3]});
  const size_t count = canvas.values.size(), first = size_t(sample) * count;
  if (column.source.dtype() == DType::f32) {
    std::copy_n(column.source.data<float>() + first, count, canvas.values.data());
  } else {
    const uint8_t* const from = column.source.data<uint8_t>() + first;
    for (size_t i = 0; i < count; ++i) canvas.values[i] = float(from[i]) / 255.0f;
  }
}

}  // namespace

Shape transformed(const std::vector<ImageStep>& steps, Shape image) {
  if (image.size() != 3) fail("transform: images [channels, height, width] expected (got shape ", image, ")");
  for (const ImageStep& step : steps) {
    if (step.kind == ImageStep::Kind::crop) {
      if (image[1] + 2 * step.padding < step.height || image[2] + 2 * step.padding < step.width)
        fail("transform: random_crop to ", step.height, " x ", step.width, " does not fit an image of ",
             image[1], " x ", image[2], " with a padding of ", step.padding);
      image[1] = step.height;
      image[2] = step.width;
    }
    for (const std::vector<float>* list : {&step.mean, &step.deviation})
      if (list->size() > 1 && int64_t(list->size()) != image[0])
        fail("transform: normalize has ", list->size(), " values for an image of ", image[0], " channels");
  }
  return image;
}

TensorList empty_batch(const BatchPlan& plan, int64_t count) {
  TensorList out;
  for (const BatchColumn& column : plan.columns) {
    Shape shape = column.shape;
    shape.insert(0, count);
    out.push_back(Tensor::empty(shape, column.dtype));
  }
  return out;
}

void fill_batch(const BatchPlan& plan, const int64_t* indices, int64_t count, BatchDraw draw,
                void* const* out, const std::atomic<bool>& cancelled) {
  Canvas canvas;
  for (size_t k = 0; k < plan.columns.size(); ++k) {
    const BatchColumn& column = plan.columns[k];
    const size_t length = size_t(numel(column.shape)), bytes = length * item_size(column.dtype);
    const bool stepped = k == 0 && !plan.steps.empty();
    char* to = static_cast<char*>(out[k]);
    for (int64_t i = 0; i < count; ++i, to += bytes) {
      if (cancelled.load(std::memory_order_relaxed)) return;
      const int64_t sample = indices[i];
      if (column.kind == BatchColumn::Kind::windows) {
        const uint8_t* const from = column.source.data<uint8_t>() + column.start + sample * column.stride;
        std::copy_n(from, length, reinterpret_cast<int64_t*>(to));
        continue;
      }
      if (column.kind == BatchColumn::Kind::rows && !stepped) {
        if (bytes > 0)
          std::memcpy(to, static_cast<const char*>(column.source.raw()) + size_t(sample) * bytes, bytes);
        continue;
      }
      const bool is_file = column.kind == BatchColumn::Kind::images;
      if (is_file)
        read_image(column.files[size_t(sample)], column.channels, canvas);
      else
        read_row(column, sample, canvas);
      if (stepped) run_steps(plan.steps, sample, draw, canvas);
      if (canvas.shape() != column.shape)
        fail_as(ErrorKind::file, column.files[size_t(sample)], ": the image has shape ", canvas.shape(),
                ", the first has ", column.shape, " (random_crop makes images of one size)");
      std::memcpy(to, canvas.values.data(), bytes);
    }
  }
}

}  // namespace lunagrad
