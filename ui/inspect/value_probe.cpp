#include "ui/inspect/value_probe.h"

#include "ui/base/redraw.h"
#include "ui/inspect/request_interval.h"

namespace lunagrad {
namespace {

bool same_slice(const SliceQuery& a, const SliceQuery& b) {
  return a.row_dim == b.row_dim && a.column_dim == b.column_dim && a.at == b.at && a.wrap == b.wrap &&
         a.first_row == b.first_row && a.first_column == b.first_column && a.rows == b.rows &&
         a.columns == b.columns && a.most_rows == b.most_rows && a.most_columns == b.most_columns &&
         a.part == b.part && a.pick == b.pick;
}

bool same_tiles(const TileQuery& a, const TileQuery& b) {
  return a.row_dim == b.row_dim && a.column_dim == b.column_dim && a.channel_dim == b.channel_dim &&
         a.first == b.first && a.most == b.most && a.most_pixels == b.most_pixels;
}

}  // namespace

bool same_look(const ValueProbe::Look& a, const ValueProbe::Look& b) {
  return same_slice(a.slice, b.slice) && a.tiles.has_value() == b.tiles.has_value() &&
         (!a.tiles || same_tiles(*a.tiles, *b.tiles));
}

ValueProbe::ValueProbe(std::function<void()> wake)
    : sides_{{Awaited<SliceView>(wake), Awaited<TileView>(wake), {}, {}},
             {Awaited<SliceView>(wake), Awaited<TileView>(wake), {}, {}}} {}

void ValueProbe::forget() {
  place_ = -1;
  for (Side& side : sides_) {
    side.slice.forget();
    side.tiles.forget();
    side.shown_slice = nullptr;
    side.shown_tiles = nullptr;
    side.place.reset();
  }
}

void ValueProbe::show(int64_t step) {
  const auto take = [step](auto& shown, auto newest) {
    if (newest && newest->step == step)
      shown = std::move(newest);
    else if (shown && shown->step != step)
      shown = nullptr;
  };
  for (Side& side : sides_) {
    take(side.shown_slice, side.slice.get());
    take(side.shown_tiles, side.tiles.get());
  }
}

bool ValueProbe::has_all(const TensorPlace& place) const {
  for (int i = 0; i < 2; ++i) {
    const Side& side = sides_[i];
    TensorPlace its = place;
    its.which = i == 0 ? Which::output : Which::gradient;
    if (side.place != its || side.slice.waiting() || (side.look.tiles && side.tiles.waiting())) return false;
  }
  return true;
}

bool ValueProbe::ask(SessionInspection& session, Side& side, const TensorPlace& place, const Look& look) {
  side.place = place;
  side.look = look;
  auto answered = side.slice.ask();
  session.inspect(place, look.slice, side.slice.stop_token(), std::move(answered));
  if (!look.tiles) return true;
  auto drawn = side.tiles.ask();
  session.inspect_tiles(place, *look.tiles, side.tiles.stop_token(), std::move(drawn));
  return true;
}

bool ValueProbe::watch(SessionInspection& session, int place, const TensorPlace& tensor, bool running) {
  if (place != place_) forget();
  place_ = place;
  bool asked = false;
  for (int i = 0; i < 2; ++i) {
    Side& side = sides_[i];
    TensorPlace its = tensor;
    its.which = i == 0 ? Which::output : Which::gradient;
    const Look& look = i == 0 ? value_look : gradient_look;
    const bool same_tensor = side.place == its, same = same_tensor && same_look(side.look, look);
    if (same) continue;
    // Tensors of a running script change all the time, so their requests are limited; a user who selects
    // another slice should not wait.
    const auto shown = side.slice.get();
    const bool waiting = side.slice.waiting() || (shown && shown->statistics_follow);
    if (running && side.place && same_look(side.look, look) &&
        (waiting || Clock::now() - asked_at_ < kRequestInterval)) {
      draw_again_in(std::chrono::duration<double>(kRequestInterval).count());
      continue;
    }
    asked |= ask(session, side, its, look);
  }
  if (asked) asked_at_ = Clock::now();
  return asked;
}

}  // namespace lunagrad
