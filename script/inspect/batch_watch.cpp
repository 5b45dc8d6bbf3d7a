#include "script/inspect/batch_watch.h"

#include <algorithm>

#include "runtime/core/error.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

ColumnView view_column(const Tensor& tensor, int64_t limit) {
  ColumnView column;
  column.shape.assign(tensor.shape().begin(), tensor.shape().end());
  column.dtype = dtype_name(tensor.dtype());
  const NoGrad off;
  // Complex numbers are shown by their absolute values.
  const Tensor real = is_complex(tensor.dtype()) ? abs(tensor) : tensor;
  column.statistics = statistics(real);
  // Copies only as many rows of the first dim as are needed.
  const int64_t shown = std::clamp<int64_t>(limit, 0, tensor.numel());
  Tensor first = real;
  for (int d = 0; d < real.ndim() && shown > 0; ++d) {
    const int64_t row = first.numel() / first.size(d);
    const int64_t rows = std::min(first.size(d), (shown + row - 1) / row);
    first = narrow(first, d, 0, rows);
    if (rows > 1) break;
  }
  if (shown > 0) column.values = first.to_vector<float>();
  column.values.resize(size_t(shown));
  return column;
}

}  // namespace

void BatchWatch::give(Source source, TensorList columns) {
  source_ = std::move(source);
  columns_.clear();
  for (const Tensor& x : columns) columns_.push_back({x.detach(), x.storage().version});
}

BatchView BatchWatch::view(int64_t limit) const {
  BatchView view;
  view.available = !columns_.empty();
  if (!view.available) return view;
  view.loader = source_.loader;
  view.epoch = source_.epoch;
  view.batch = source_.batch;
  view.batches = source_.batches;
  view.step = source_.step;
  for (const Column& column : columns_) {
    const Storage& storage = column.value.storage();
    ColumnView& shown = view.columns.emplace_back(view_column(column.value, limit));
    if (storage.version != column.version)
      shown.note = text("written to since the loader gave it, by ", storage.last_writer);
  }
  return view;
}

}  // namespace lunagrad
