// The logged values of a run other than metrics: texts, images, histograms, and the results of lg.run.watch.
#include <algorithm>
#include <cmath>

#include "runtime/io/atomic_file.h"
#include "runtime/io/png.h"
#include "runtime/ops.h"
#include "script/run/json_line.h"
#include "script/run/run.h"

namespace lunagrad {
namespace {

// Edges and percentiles are exact to 1/8 at best, and norms are only read by people: six digits are enough.
constexpr int kDigits = 6;

constexpr int64_t kGap = 2;  // pixels between pictures

// Arranges pictures side by side, in about as many rows as columns.
Tensor sheet_of(const Tensor& pictures) {
  const int64_t count = pictures.size(0), channels = pictures.size(1);
  const int64_t height = pictures.size(2) + kGap, width = pictures.size(3) + kGap;
  const int64_t columns = int64_t(std::ceil(std::sqrt(double(count))));
  const int64_t rows = (count + columns - 1) / columns;
  Tensor sheet =
      zeros({channels, rows * height - kGap, columns * width - kGap}, pictures.dtype(), cpu_device());
  for (int64_t i = 0; i < count; ++i) {
    const Tensor row = narrow(sheet, 1, i / columns * height, height - kGap);
    copy_(narrow(row, 2, i % columns * width, width - kGap), select(pictures, 0, i));
  }
  return sheet;
}

// Converts to [channels, height, width] of u8 or f32 on the CPU.
Tensor picture_of(const Tensor& x, bool normalize) {
  const int64_t channels = x.ndim() == 2 ? 1 : x.ndim() < 2 ? 0 : x.size(-3);
  if (x.ndim() < 2 || x.ndim() > 4 || channels < 1 || channels > 4 || x.numel() == 0)
    fail(
        "run.image: [channels, height, width] with 1 to 4 channels, [height, width], or [pictures, channels, "
        "height, "
        "width] expected (got shape ",
        x.shape(), ")");
  if (x.dtype() != DType::u8 && x.dtype() != DType::boolean && !is_floating(x.dtype()))
    fail("run.image: dtype ", x.dtype(), " is none of u8, bool and the floating types with 0 to 1");
  const NoGrad off;
  Tensor picture = to(x.detach(), cpu_device());
  if (picture.dtype() != DType::u8 || normalize) picture = to(picture, DType::f32);
  if (normalize) {
    const double low = amin(picture).item(), high = amax(picture).item();
    picture = high > low ? (picture - low) / (high - low) : zeros_like(picture);
  }
  if (picture.ndim() == 2) picture = unsqueeze(picture, 0);
  return picture.ndim() == 4 ? sheet_of(picture) : picture;
}

// The picture as viewers get it: a picture of one or two channels is grey, two and four channels have an
// alpha.
Media media_of(const std::string& name, const Tensor& picture) {
  const int64_t channels = picture.size(0), height = picture.size(1), width = picture.size(2);
  Media media;
  media.name = name;
  media.width = int(width);
  media.height = int(height);
  int64_t stride = 1;
  while ((width / stride) * (height / stride) > Media::kMostPixels) ++stride;
  media.shown_width = int((width + stride - 1) / stride);
  media.shown_height = int((height + stride - 1) / stride);
  media.pixels.reserve(size_t(media.shown_width) * size_t(media.shown_height));
  const bool bytes = picture.dtype() == DType::u8;
  const Tensor ordered = contiguous(picture);
  const auto* const as_bytes = static_cast<const uint8_t*>(ordered.raw());
  const auto* const as_floats = static_cast<const float*>(ordered.raw());
  const auto level = [&](int64_t channel, int64_t y, int64_t x) {
    const int64_t at = (channel * height + y) * width + x;
    if (bytes) return uint32_t(as_bytes[at]);
    const float value = as_floats[at];
    return value > 0 ? uint32_t(std::min(value, 1.0f) * 255 + 0.5f) : 0u;
  };
  for (int64_t y = 0; y < height; y += stride)
    for (int64_t x = 0; x < width; x += stride) {
      const uint32_t red = level(0, y, x);
      const uint32_t green = channels > 2 ? level(1, y, x) : red, blue = channels > 2 ? level(2, y, x) : red;
      const uint32_t alpha = channels % 2 == 0 ? level(channels - 1, y, x) : 255;
      media.pixels.push_back(alpha << 24 | blue << 16 | green << 8 | red);
    }
  return media;
}

Media media_of(const std::string& name, const Statistics& values) {
  Media media;
  media.name = name;
  media.edges = values.edges;
  media.counts = values.counts;
  media.count = values.count;
  media.zeros = values.zeros;
  media.nans = values.nans;
  media.infinities = values.infinities + values.negative_infinities;
  media.min = values.min;
  media.max = values.max;
  media.mean = values.mean;
  media.std = values.std;
  for (size_t i = 0; i < kPercentiles.size(); ++i)
    media.percentiles.emplace_back(kPercentiles[i], values.percentiles[i]);
  return media;
}

}  // namespace

void Run::show(Event::Kind kind, Media media) {
  Event event = this->event(kind);
  event.step = step_;
  event.text = media.name;
  event.media = std::make_shared<const Media>(std::move(media));
  emit_(std::move(event));
}

void Run::log_text(const std::string& name, const std::string& value) {
  open_folder();
  Media media;
  media.name = name;
  media.text = value;
  show(Event::Kind::text, std::move(media));
  if (!folder_) return;
  JsonLine line(step_, seconds());
  folder_->append_metrics(
      line.key("text").open('{').field(name, std::string_view(value)).close('}').finish());
  if (events_) events_->text(name, value, step_, date(seconds()));
}

void Run::log_image(const std::string& name, const Tensor& x, bool normalize) {
  const Tensor picture = picture_of(x, normalize);
  open_folder();
  Media media = media_of(name, picture);
  if (!folder_) return show(Event::Kind::image, std::move(media));
  try {
    const std::string file = folder_->image_name(name, step_);
    const std::string path = folder_->path() + "/" + file;
    save_png(path, picture);
    media.file = file;
    JsonLine line(step_, seconds());
    line.key("image").open('{').field(name, std::string_view(file)).close('}');
    folder_->append_metrics(line.finish());
    if (events_) {
      events_->image(name, picture.size(0), picture.size(1), picture.size(2), read_file(path), step_,
                     date(seconds()));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
    folder_->lose("images of " + name, text("run.image: ", error.what()));
  }
  show(Event::Kind::image, std::move(media));
}

void Run::log_histogram(const std::string& name, const Statistics& values) {
  open_folder();
  show(Event::Kind::histogram, media_of(name, values));
  if (!folder_) return;
  JsonLine line(step_, seconds());
  line.key("histogram").open('{').key(name).open('{').field("count", values.count);
  line.key("min")
      .value(values.min, kDigits)
      .key("max")
      .value(values.max, kDigits)
      .key("mean")
      .value(values.mean, kDigits)
      .key("std")
      .value(values.std, kDigits);
  line.key("norm").value(values.norm, kDigits).field("zeros", values.zeros).field("nan", values.nans);
  line.field("inf", values.infinities).field("-inf", values.negative_infinities);
  line.key("percentiles").open('{');
  for (size_t i = 0; i < kPercentiles.size(); ++i)
    line.key(std::to_string(kPercentiles[i])).value(values.percentiles[i], kDigits);
  line.close('}').key("edges").open('[');
  for (const double edge : values.edges) line.value(edge, kDigits);
  line.close(']').key("counts").open('[');
  for (const int64_t count : values.counts) line.value(count);
  folder_->append_metrics(line.close(']').close('}').close('}').finish());
  if (events_) events_->histogram(name, values, step_, date(seconds()));
}

void Run::log_watch(const Findings& findings) {
  open_folder();
  if (!folder_) return;
  JsonLine line(step_, seconds());
  line.key("watch").open('{');
  for (const auto& [part, numbers] : findings) {
    line.key(part).open('{');
    for (const auto& [name, number] : numbers) {
      line.key(name).value(number, kDigits);
      if (events_) events_->scalar(part + "/" + name, number, step_, date(seconds()));
    }
    line.close('}');
  }
  folder_->append_metrics(line.close('}').finish());
}

}  // namespace lunagrad
