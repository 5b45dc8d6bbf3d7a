#include "script/batch_watch.h"

#include "runtime/error.h"
#include "script/snapshot.h"

namespace lunagrad {

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
    ValueView& shown = view.columns.emplace_back(view_value(column.value, limit));
    if (storage.version != column.version)
      shown.reason = text("written to since the loader gave it, by ", storage.last_writer);
  }
  return view;
}

}  // namespace lunagrad
