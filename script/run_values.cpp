// What a run keeps beside its metrics: texts, images, histograms, and what lg.run.watch finds.
#include <cmath>

#include "runtime/io/atomic_file.h"
#include "runtime/io/png.h"
#include "runtime/ops.h"
#include "script/json_line.h"
#include "script/run.h"

namespace lunagrad {
namespace {

// Edges and percentiles are known to an eighth at best, and norms are looked at: six digits tell all there
// is.
constexpr int kDigits = 6;

constexpr int64_t kGap = 2;  // pixels between pictures

// Pictures side by side, in about as many rows as columns.
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

// [channels, height, width] of u8 or f32 on the CPU.
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

}  // namespace

void Run::log_text(const std::string& name, const std::string& value) {
  open_folder();
  if (!folder_) return;
  JsonLine line(step_, seconds());
  folder_->append_metrics(
      line.key("text").open('{').field(name, std::string_view(value)).close('}').finish());
  if (events_) events_->text(name, value, step_, date(seconds()));
}

void Run::log_image(const std::string& name, const Tensor& x, bool normalize) {
  const Tensor picture = picture_of(x, normalize);
  open_folder();
  if (!folder_) return;
  try {
    const std::string file = folder_->image_name(name, step_);
    const std::string path = folder_->path() + "/" + file;
    save_png(path, picture);
    JsonLine line(step_, seconds());
    line.key("image").open('{').field(name, std::string_view(file)).close('}');
    folder_->append_metrics(line.finish());
    if (events_) {
      events_->image(name, picture.size(0), picture.size(1), picture.size(2), read_file(path), step_,
                     date(seconds()));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
    warn(text("run.image: ", error.what(), "; the run goes on without it"));
  }
}

void Run::log_histogram(const std::string& name, const Statistics& values) {
  open_folder();
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
