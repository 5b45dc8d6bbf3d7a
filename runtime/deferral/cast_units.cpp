#include "runtime/deferral/cast_units.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lunagrad {
namespace {

constexpr int64_t kMostElements = 1 << 20;  // of a cast: a larger cast takes longer than a dispatch
constexpr uint32_t kNone = UINT32_MAX;

bool is_small_cast(const QueuedCall& queued) {
  static const Op* const cast = find_op("_cast");
  if (queued.call.op != cast || !queued.fuses || queued.device->is_cpu()) return false;
  const Tensor &x = queued.call.input(0), &y = queued.call.output();
  return in_memory(x) && is_floating(x.dtype()) && x.is_contiguous() && x.shape() == y.shape() &&
         y.numel() <= kMostElements;
}

// A cast that is a unit of its own. Positions in the order are numbered by the unit that follows.
struct Cast {
  uint32_t unit;
  uint32_t call;
  uint32_t first, last = kNone;  // positions where it may be computed
  uint32_t next_reader = kNone;  // the next cast of the same operand
};

class CastJoiner {
 public:
  CastJoiner(Plan& plan, std::span<const QueuedCall> calls, const std::vector<uint8_t>& alive)
      : plan_(plan), calls_(calls), alive_(alive), count_(uint32_t(plan.units())) {}

  void run() {
    if (!find_casts()) return;
    find_ranges();
    find_memory();
    moved_.assign(count_, 0);
    join();
    if (!batches_.empty()) write_order();
  }

 private:
  struct Life {
    uint32_t first = kNone, last = 0;  // the first and the last unit that use the memory
    uint64_t bytes = 0;
  };

  const Call& call_of(const Cast& cast) const { return calls_[cast.call].call; }
  static uint32_t operand_of(const Call& call) { return call.input(0).storage().place; }
  static uint32_t result_of(const Call& call) { return call.output().storage().place; }

  bool find_casts() {
    cast_of_unit_.assign(count_, kNone);
    std::vector<uint8_t> made(alive_.size());  // results of the casts found so far
    for (uint32_t u = 0; u < count_; ++u) {
      const Unit unit = plan_.unit(u);
      if (unit.size() != 1 || !is_small_cast(calls_[unit[0]])) continue;
      const Call& call = calls_[unit[0]].call;
      // the cast stays in its place, after the cast that makes its operand
      if (made[operand_of(call)]) continue;
      made[result_of(call)] = 1;
      cast_of_unit_[u] = uint32_t(casts_.size());
      casts_.push_back({u, unit[0], 0});
    }
    return casts_.size() > 1;
  }

  // A cast must come after the last write of its operand, and before the operand's next write and the first
  // use of its result.
  void find_ranges() {
    std::vector<uint32_t> written(alive_.size());  // the position behind the last write
    std::vector<uint32_t> maker(alive_.size(), kNone), reader(alive_.size(), kNone);
    const auto end = [&](uint32_t cast, uint32_t unit) {
      if (cast != kNone && casts_[cast].last == kNone) casts_[cast].last = unit;
    };
    for (uint32_t u = 0; u < count_; ++u) {
      const auto writes = [&](uint32_t at) {
        end(maker[at], u);
        for (uint32_t cast = reader[at]; cast != kNone; cast = casts_[cast].next_reader) end(cast, u);
        reader[at] = kNone;
        written[at] = u + 1;
      };
      for (const uint32_t i : plan_.unit(u)) {
        const Call& call = calls_[i].call;
        for (const Tensor& x : call.in) {
          if (!in_memory(x)) continue;
          end(maker[x.storage().place], u);
          if (call.op->writes_inputs) writes(x.storage().place);
        }
        for (const Tensor& y : call.out) writes(y.storage().place);
      }
      const uint32_t number = cast_of_unit_[u];
      if (number == kNone) continue;
      Cast& cast = casts_[number];
      cast.first = written[operand_of(call_of(cast))];
      cast.next_reader = std::exchange(reader[operand_of(call_of(cast))], number);
      maker[result_of(call_of(cast))] = number;
    }
    for (Cast& cast : casts_) cast.last = std::min(cast.last, count_);
  }

  bool same_kind(const Cast& a, const Cast& b) const {
    const Call &one = call_of(a), &other = call_of(b);
    return one.input(0).dtype() == other.input(0).dtype() && one.output().dtype() == other.output().dtype() &&
           calls_[a.call].device == calls_[b.call].device;
  }

  // Makes the fewest units: the cast with the earliest last position is unit_casts with all casts of its kind
  // that can be computed there.
  void join() {
    std::vector<uint32_t> waiting(casts_.size());
    std::iota(waiting.begin(), waiting.end(), 0u);
    std::stable_sort(waiting.begin(), waiting.end(),
                     [&](uint32_t a, uint32_t b) { return casts_[a].last < casts_[b].last; });
    while (!waiting.empty()) {
      const Cast& earliest = casts_[waiting[0]];
      std::vector<uint32_t> unit_casts;
      std::erase_if(waiting, [&](uint32_t number) {
        const bool joins = casts_[number].first <= earliest.last && same_kind(casts_[number], earliest);
        if (joins) unit_casts.push_back(number);
        return joins;
      });
      std::sort(unit_casts.begin(), unit_casts.end());
      settle(std::move(unit_casts));
    }
  }

  // Finds the bytes in use while each unit is computed, and at the end. Tensors that are held outside anyway
  // do not count, unless the plan makes them.
  void find_memory() {
    lives_.resize(alive_.size());
    for (uint32_t u = 0; u < count_; ++u) {
      for (const uint32_t i : plan_.unit(u)) {
        const Call& call = calls_[i].call;
        const auto use = [&](const Tensor& x, uint32_t first, bool stored) {
          Life& life = lives_[x.storage().place];
          if (life.first == kNone) life = {first, u, stored ? x.storage().bytes : 0};
          life.last = u;
        };
        for (const Tensor& x : call.in)
          if (in_memory(x)) use(x, 0, true);
        for (const Tensor& y : call.out) use(y, u, plan_.stored[i]);
      }
    }
    in_use_.assign(count_ + 2, 0);
    for (size_t at = 0; at < lives_.size(); ++at) {
      Life& life = lives_[at];
      if (life.first == kNone) continue;
      if (alive_[at]) life.last = count_;
      in_use_[life.first] += int64_t(life.bytes);
      in_use_[life.last + 1] -= int64_t(life.bytes);
    }
    for (uint32_t u = 1; u <= count_; ++u) in_use_[u] += in_use_[u - 1];
    peak_ = *std::max_element(in_use_.begin(), in_use_.begin() + count_ + 1);
  }

  // Adds bytes to the memory in use during units [begin, end). Returns false, and adds nothing, when this
  // would exceed the peak.
  bool occupy(uint32_t begin, uint32_t end, int64_t bytes) {
    for (uint32_t u = begin; u < end; ++u)
      if (in_use_[u] + bytes > peak_) return false;
    for (uint32_t u = begin; u < end; ++u) in_use_[u] += bytes;
    return true;
  }

  // Moves a cast. Returns false when this takes too much memory.
  bool move(const Cast& cast, uint32_t place) {
    Life& result = lives_[result_of(call_of(cast))];
    Life& operand = lives_[operand_of(call_of(cast))];
    if (place < cast.unit) {
      if (!occupy(place, cast.unit, int64_t(result.bytes))) return false;
    } else if (place > cast.unit) {
      // The result needs no memory until then, but the operand may be needed for longer.
      if (place > operand.last) {
        if (!occupy(operand.last + 1, place + 1, int64_t(operand.bytes))) return false;
        operand.last = place;
      }
      occupy(cast.unit, place, -int64_t(result.bytes));
    }
    moved_[cast.unit] = 1;
    return true;
  }

  // Moves the casts to one position: the first cast's unit, or the next position where all operands exist.
  // The nearest casts move first. Casts for which memory does not suffice meet at another position.
  void settle(std::vector<uint32_t> casts) {
    while (casts.size() > 1) {
      uint32_t place = casts_[casts[0]].unit;
      for (const uint32_t number : casts) place = std::max(place, casts_[number].first);
      const auto distance = [&](uint32_t number) {
        const uint32_t unit = casts_[number].unit;
        return unit < place ? place - unit : unit - place;
      };
      std::stable_sort(casts.begin(), casts.end(),
                       [&](uint32_t a, uint32_t b) { return distance(a) < distance(b); });
      const auto left = std::stable_partition(casts.begin(), casts.end(),
                                              [&](uint32_t number) { return move(casts_[number], place); });
      if (left == casts.begin()) return;
      Batch batch{place, {}};
      for (auto it = casts.begin(); it != left; ++it) batch.calls.push_back(casts_[*it].call);
      std::sort(batch.calls.begin(), batch.calls.end());
      batches_.push_back(std::move(batch));
      casts.erase(casts.begin(), left);
      std::sort(casts.begin(), casts.end());
    }
  }

  void write_order() {
    std::stable_sort(batches_.begin(), batches_.end(),
                     [](const Batch& a, const Batch& b) { return a.place < b.place; });
    std::vector<uint32_t> order, ends;
    order.reserve(plan_.order.size());
    const auto emit = [&](Unit unit) {
      order.insert(order.end(), unit.begin(), unit.end());
      if (!unit.empty()) ends.push_back(uint32_t(order.size()));
    };
    size_t next = 0;
    for (uint32_t u = 0; u <= count_; ++u) {
      for (; next < batches_.size() && batches_[next].place == u; ++next) {
        const std::vector<uint32_t>& calls = batches_[next].calls;
        if (calls.size() > 1)
          for (const uint32_t i : calls) plan_.why_alone[i] = nullptr;
        emit(calls);
      }
      if (u < count_ && !moved_[u]) emit(plan_.unit(u));
    }
    plan_.order = std::move(order);
    plan_.ends = std::move(ends);
  }

  struct Batch {
    uint32_t place;
    std::vector<uint32_t> calls;
  };

  Plan& plan_;
  std::span<const QueuedCall> calls_;
  const std::vector<uint8_t>& alive_;
  const uint32_t count_;  // of units
  std::vector<Cast> casts_;
  std::vector<uint32_t> cast_of_unit_;
  std::vector<Life> lives_;      // by Storage::place
  std::vector<int64_t> in_use_;  // bytes, by unit
  int64_t peak_ = 0;
  std::vector<uint8_t> moved_;  // by unit
  std::vector<Batch> batches_;
};

}  // namespace

void join_casts(Plan& plan, std::span<const QueuedCall> calls, const std::vector<uint8_t>& alive) {
  CastJoiner(plan, calls, alive).run();
}

}  // namespace lunagrad
