#include "runtime/deferral/cpu/fused.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/row_kernel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/deferral/cpu/fused_operand.h"
#include "runtime/ops/elementwise/cpu/elementwise.h"
#include "runtime/ops/reductions/cpu/reduce.h"
#include "runtime/ops/reductions/cpu/reduce_again.h"

namespace lunagrad {
namespace {

constexpr int64_t kBlock = 1024;  // elements
// Extra bytes of a buffer: they keep equal positions of two buffers apart in the low 12 bits of the address.
constexpr int64_t kApart = 320;
constexpr int64_t kBlockBytes = kBlock * kLargestItem + kApart;
// Fewer long rows than this, or fewer parts of divided rows, would keep too few threads busy.
constexpr int64_t kFewRows = 16, kFewRowsElements = 16384;

bool is_cast(const Op& op) {
  static const Op* const cast = find_op("_cast");
  return &op == cast;
}

ReduceKind reduce_kind_of(RowReduction::Kind kind) {
  switch (kind) {
    case RowReduction::Kind::product:
      return ReduceKind::product;
    case RowReduction::Kind::largest:
      return ReduceKind::max;
    case RowReduction::Kind::smallest:
      return ReduceKind::min;
    case RowReduction::Kind::magnitudes:
      return ReduceKind::sum_abs;
    case RowReduction::Kind::squares:
      return ReduceKind::sum_squares;
    case RowReduction::Kind::moments:
      return ReduceKind::moments;
    default:
      return ReduceKind::sum;
  }
}

struct Member {
  RowWork work;            // kernel null: a cast or a row reduction
  RowReduction reduction;  // kind none: elementwise
  bool row;                // the result has one element per row
  int operands = 0;
  FusedOperand in[kMostRowOperands];
  std::unique_ptr<RowKernel> rows;  // for RowReduction::by_kernel
  DType type;                       // of the result
  char* out = nullptr;              // null: the result stays in a buffer
  int64_t item = 0;                 // bytes of an element of the result
  BlockCopy store = nullptr;  // from the kernel's type to the result's; null: the kernel writes the result
  int64_t buffer = 0;         // for results without memory: the offset of their buffer
  bool whole;                 // the buffer has all elements of whole rows, not of a block
  bool past_caches = false;
};

// Elements that are computed together: whole rows, a part of a divided row, or a block of a group without
// rows.
struct Part {
  int64_t begin, count;
  double* states = nullptr;  // of the reductions of a divided row
  // If set, it gets the elements that the member `visited` would reduce, and nothing is reduced.
  const std::function<void(const double*, int64_t)>* visit = nullptr;
  int visited = -1;
};

// Indices of the members of a stage (RowGroup).
struct Stage {
  Small<int, 16> elements, rows;
};

class Fused {
 public:
  explicit Fused(const CallGroup& group) : Fused(group, RowGroup(group)) {}

  void run() const {
    const int64_t grain = std::max<int64_t>(kBlock, kElementwiseGrain / int64_t(members_.size()));
    const auto run_parts = [this](int64_t begin, int64_t end, int64_t step) {
      const Workspace<char> memory(buffer_bytes_and_conversions());
      for (int64_t at = begin; at < end; at += step) {
        context().check_stop();
        run_part({at, std::min(step, end - at)}, memory.data());
      }
    };
    if (!columns_)
      return parallel_for(count_, grain, [&](int64_t begin, int64_t end) { run_parts(begin, end, kBlock); });
    if (divided_) return run_divided_rows();
    const int64_t block = block_ * columns_;
    parallel_for((count_ + block - 1) / block, iterations_in(grain, block), [&](int64_t begin, int64_t end) {
      run_parts(begin * block, std::min(count_, end * block), rows_together() * columns_);
    });
    finish();
  }

 private:
  void finish() const {
    for (const Member& member : members_)
      if (member.rows) member.rows->finish();
  }
  int64_t rows_together() const { return std::max<int64_t>(1, kBlock / columns_); }
  int64_t buffer_bytes_and_conversions() const {
    return buffer_bytes_ + (kMostRowOperands + 1) * kBlockBytes;
  }

  // Computes the parts of all rows, and then combines the states of each row's parts in their order.
  void run_divided_rows() const {
    const int64_t rows = count_ / columns_, parts = (columns_ + kLongestRow - 1) / kLongestRow;
    const int64_t each = int64_t(folders_.size()) * kMaxReduceState;
    std::vector<double> states(size_t(rows * parts * each));
    parallel_for(rows * parts, 1, [&](int64_t begin, int64_t end) {
      const Workspace<char> memory(buffer_bytes_and_conversions());
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * kLongestRow;
        run_part({i / parts * columns_ + first, std::min(kLongestRow, columns_ - first),
                  &states[size_t(i * each)]},
                 memory.data());
      }
    });
    for (size_t i = 0; i < members_.size(); ++i)
      for (int64_t row = 0; row < rows && members_[i].reduction && !members_[i].rows; ++row) {
        double* const whole = &states[size_t(row * parts * each) + i * kMaxReduceState];
        for (int64_t part = 1; part < parts; ++part) folders_[i]->combine(whole, whole + part * each);
        char* const result = members_[i].out + row * members_[i].item;
        store_values(members_[i], result, 1, whole);
        if (members_[i].work.type == DType::f64) reduce_divided_row_again(int(i), row, whole, result);
      }
    finish();
  }

  // Computes the elements of the row again, part by part.
  void reduce_divided_row_again(int i, int64_t row, const double* states, char* result) const {
    const Workspace<char> memory(buffer_bytes_and_conversions());
    const ElementPieces elements = [&](const auto& f) {
      const std::function<void(const double*, int64_t)> visit = f;
      for (int64_t first = 0; first < columns_; first += kLongestRow)
        run_part({row * columns_ + first, std::min(kLongestRow, columns_ - first), nullptr, &visit, i},
                 memory.data());
    };
    reduce_again(members_[size_t(i)], states, 0, 1, elements, reinterpret_cast<double*>(result));
  }

  Fused(const CallGroup& group, const RowGroup& rows)
      : count_(rows.count),
        columns_(rows.columns),
        divided_(rows.divided),
        members_(group.members.size()),
        folders_(columns_ ? members_.size() : 0) {
    stages_.resize(size_t(rows.stages));
    for (size_t i = 0; i < members_.size(); ++i) {
      const RowGroup::Member& known = rows.members[i];
      members_[i].reduction = known.reduction;
      members_[i].row = known.row;
      members_[i].whole = known.row || known.outlasts || known.reduction.maps();
      Stage& stage = stages_[size_t(known.stage)];
      (known.row || known.reduction.maps() ? stage.rows : stage.elements).push_back(int(i));
      prepare(group, i);
    }
    place_buffers(group);
  }

  void prepare(const CallGroup& group, size_t i) {
    const CallGroup::Member& given = group.members[i];
    const Call& call = *given.call;
    Member& member = members_[i];
    const Tensor& out = call.output();
    member.type = out.dtype();
    member.item = int64_t(item_size(out.dtype()));
    if (member.reduction) {
      member.work.type = whole_operand(call, member.reduction).dtype();
      if (member.reduction.by_kernel()) {
        member.rows = row_kernel(call);
        block_ = std::max(block_, member.rows->block());
      } else {
        folders_[i].emplace(reduce_kind_of(member.reduction.kind), member.work.type, member.reduction.rows,
                            columns_);
      }
    } else if (is_cast(*call.op)) {
      member.work.type = member.work.result = out.dtype();
    } else {
      member.work = row_work(call);
      if (member.work.result != out.dtype()) member.store = block_copy(out.dtype(), member.work.result);
    }
    member.operands = int(call.in.size());
    for (int k = 0; k < member.operands; ++k) {
      if (member.reduction && !(member.reduction.whole >> k & 1)) continue;
      const int from = given.from[size_t(k)];
      const Tensor& x = call.in[size_t(k)];
      const bool as_is = x.defined() && readable_as(x.dtype(), member.work.type) &&
                         !(is_cast(*call.op) && x.dtype() != member.work.type);
      const bool by_row = from >= 0 && members_[size_t(from)].row && !member.row;
      member.in[k] = fused_operand(x, from, by_row, member.work.type, as_is, out);
    }
    if (!given.stored) return;
    member.out = static_cast<char*>(out.raw());
    const bool read_again = std::any_of(
        group.members.begin() + int64_t(i) + 1, group.members.end(), [&](const CallGroup::Member& later) {
          return std::find(later.from.begin(), later.from.end(), int(i)) != later.from.end();
        });
    member.past_caches = !read_again && int64_t(out.nbytes()) >= kElementwisePastCaches && !member.store &&
                         member.work.kernel && is_floating(member.work.type) &&
                         member.work.result == member.work.type;
  }

  // Results without memory share buffers: a buffer is free again after the last member that reads it. The
  // members of a stage take turns block by block, so a buffer of whole rows is reused only for a result with
  // elements of the same size.
  void place_buffers(const CallGroup& group) {
    Small<int, 32> order, place;
    place.resize(members_.size());
    for (const Stage& stage : stages_)
      for (const Small<int, 16>* const list : {&stage.elements, &stage.rows})
        for (const int i : *list) {
          place[size_t(i)] = int(order.size());
          order.push_back(i);
        }
    Small<int, 32> last(place);
    for (size_t i = 0; i < members_.size(); ++i)
      for (const int from : group.members[i].from)
        if (from >= 0) last[size_t(from)] = std::max(last[size_t(from)], place[i]);
    struct Buffer {
      int64_t begin, bytes;
      bool whole;
      int64_t item;
      int busy_until;
    };
    Small<Buffer, 16> buffers;
    const int64_t together = columns_ ? rows_together() : 0;
    for (const int i : order) {
      Member& member = members_[size_t(i)];
      if (member.out) continue;
      const int64_t bytes = !member.whole ? kBlockBytes
                            : member.row
                                ? together * member.item + kApart
                                : (divided_ ? kLongestRow : together * columns_) * member.item + kApart;
      const auto free = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& buffer) {
        return buffer.busy_until < place[size_t(i)] && buffer.bytes == bytes &&
               buffer.whole == member.whole && (!member.whole || buffer.item == member.item);
      });
      if (free != buffers.end()) {
        free->busy_until = last[size_t(i)];
        member.buffer = free->begin;
        continue;
      }
      member.buffer = buffer_bytes_;
      buffers.push_back({buffer_bytes_, bytes, member.whole, member.item, last[size_t(i)]});
      buffer_bytes_ += (bytes + 63) / 64 * 64;
    }
  }

  // Where a member's result has its element `begin`; results with one element per row count rows.
  char* result_of(const Member& member, int64_t begin, const Part& part, char* memory) const {
    if (member.out) return member.out + begin * member.item;
    const int64_t first = member.row ? part.begin / columns_ : part.begin;
    return memory + member.buffer + (member.whole ? (begin - first) * member.item : 0);
  }

  void run_part(const Part& part, char* memory) const {
    const int64_t end = part.begin + part.count;
    for (const Stage& stage : stages_) {
      for (int64_t at = part.begin; at < end && !stage.elements.empty(); at += kBlock)
        for (const int i : stage.elements)
          compute(members_[size_t(i)], at, std::min(kBlock, end - at), part, memory);
      for (const int i : stage.rows) {
        const Member& member = members_[size_t(i)];
        if (member.rows) {
          if (!part.visit) run_rows(member, part, memory);
        } else if (member.reduction)
          reduce(i, part, memory);
        else
          compute(member, part.begin / columns_, part.count / columns_, part, memory);
      }
    }
  }

  const char* find_rows(const FusedOperand& x, const Part& part, char* memory) const {
    return x.from >= 0 ? result_of(members_[size_t(x.from)], part.begin, part, memory)
                       : x.data + part.begin * x.item;
  }

  void run_rows(const Member& member, const Part& part, char* memory) const {
    const char* in[kMostRowOperands] = {};
    for (int k = 0; k < member.operands; ++k)
      if (member.reduction.whole >> k & 1) in[k] = find_rows(member.in[k], part, memory);
    if (part.states) {
      const void* const at[kMostRowOperands] = {in[0], in[1]};
      return member.rows->run(part.begin / kLongestRow, at, nullptr);
    }
    // elements of the result in a row
    const int64_t first = part.begin / columns_, elements = member.row ? 1 : columns_;
    char* const out = result_of(member, first * elements, part, memory);
    for (int64_t row = 0; row < part.count / columns_; ++row) {
      const void* at[kMostRowOperands] = {};
      for (int k = 0; k < member.operands; ++k)
        if (in[k]) at[k] = in[k] + row * columns_ * member.in[k].item;
      member.rows->run(first + row, at, out + row * elements * member.item);
    }
  }

  void reduce(int i, const Part& part, char* memory) const {
    const Member& member = members_[size_t(i)];
    const char* const in = find_rows(member.in[0], part, memory);
    if (part.visit) {
      if (part.visited == i) (*part.visit)(reinterpret_cast<const double*>(in), part.count);
      return;
    }
    const RowReducer& folder = *folders_[size_t(i)];
    if (part.states) return folder.reduce_part(in, part.count, part.states + i * kMaxReduceState);
    char* const result = result_of(member, part.begin / columns_, part, memory);
    folder.reduce(in, part.count / columns_, [&](int64_t first, int64_t n, const double* states) {
      store_values(member, result + first * member.item, n, states);
      if (member.work.type == DType::f64)
        reduce_rows_again(member, reinterpret_cast<const double*>(in) + first * columns_, n, states,
                          reinterpret_cast<double*>(result) + first);
    });
  }

  // Computes rows whose state left the range of f64 again, as the calls alone do
  // (ops/reductions/reduction.h).
  void reduce_rows_again(const Member& member, const double* rows, int64_t n, const double* states,
                         double* results) const {
    for (int64_t k = 0; k < n; ++k)
      reduce_again(
          member, states, k, n, [&](const auto& f) { f(rows + k * columns_, columns_); }, results);
  }
  // Computes row k of n rows again; `states` has a plane for each number of a state.
  template <class Elements>
  static void reduce_again(const Member& member, const double* states, int64_t k, int64_t n,
                           const Elements& elements, double* results) {
    using Kind = RowReduction::Kind;
    const Kind kind = member.reduction.kind;
    const bool moments = kind == Kind::moments;
    if (kind != Kind::sum && kind != Kind::squares && !moments) return;
    const double state = states[moments ? 2 * n + k : k];
    if (kind == Kind::sum ? std::isfinite(state) : power_in_range(state)) return;
    results[k] = kind == Kind::sum ? sum_again(elements, member.reduction.divisor)
                 : moments         ? variance_again(elements, member.reduction.divisor, member.reduction.root)
                                   : norm_again(elements, 2);
  }

  // Writes the values of n rows, from the planes of their states.
  static void store_values(const Member& member, char* result, int64_t n, const double* states) {
    const double* const plane =
        member.reduction.kind == RowReduction::Kind::moments ? states + 2 * n : states;
    visit_dtype(member.type, [&]<class Out>() {
      Out* const to = reinterpret_cast<Out*>(result);
      for (int64_t k = 0; k < n; ++k) {
        const double value = plane[k] / member.reduction.divisor;
        to[k] = convert<Out>(member.reduction.root ? std::sqrt(value) : value);
      }
    });
  }

  // Returns where the kernel finds elements [begin, begin + count) of an operand; they may be converted into
  // `own`.
  const char* find(const Member& member, const FusedOperand& x, int64_t begin, int64_t count,
                   const Part& part, char* memory, char* own, int64_t& step) const {
    using Kind = FusedOperand::Kind;
    const int64_t item = int64_t(item_size(member.work.type));
    step = 1;
    const char* at = nullptr;
    switch (x.kind) {
      case Kind::absent:
        step = 0;
        return reinterpret_cast<const char*>(kAbsentOperand);
      case Kind::single:
        step = 0;
        return x.value;
      case Kind::row:
        return find_row_values(member, x, begin, count, part, memory, own, step);
      case Kind::walked:
        if (const char* const stretch = find_stretch(x, begin, count, step)) return stretch;
        step = 1;
        gather_elements(x, item, begin, count, own);
        return own;
      case Kind::direct:
        at = x.data + begin * x.item;
        break;
      case Kind::member:
        at = result_of(members_[size_t(x.from)], begin, part, memory);
        break;
    }
    if (x.as_is) return at;
    convert_elements(x, item, at, count, own);
    return own;
  }

  // find() for an operand with one value per row. The elements belong to one row, or to whole rows.
  const char* find_row_values(const Member& member, const FusedOperand& x, int64_t begin, int64_t count,
                              const Part& part, char* memory, char* own, int64_t& step) const {
    const int64_t item = int64_t(item_size(member.work.type));
    const char* const at = result_of(members_[size_t(x.from)], begin / columns_, part, memory);
    if (count > columns_) {
      repeat_elements(x, item, at, count / columns_, columns_, own);
      return own;
    }
    step = 0;
    if (x.as_is) return at;
    repeat_elements(x, item, at, 1, member.work.kernel ? 1 : count, own);
    step = !member.work.kernel;
    return own;
  }

  void compute(const Member& member, int64_t begin, int64_t count, const Part& part, char* memory) const {
    char* const converted = memory + buffer_bytes_;
    char* const result = result_of(member, begin, part, memory);
    Stretch stretch;
    for (int k = 0; k < member.operands; ++k) {
      char* const own = member.work.kernel ? converted + k * kBlockBytes : result;
      stretch.in[k] = find(member, member.in[k], begin, count, part, memory, own, stretch.step[k]);
    }
    if (!member.work.kernel) return copy_unconverted(member, stretch, result, count);
    stretch.count = count;
    stretch.params = member.work.params;
    stretch.past_caches = member.past_caches && reinterpret_cast<uintptr_t>(result) % kStreamAlignment == 0;
    stretch.out = member.store ? converted + kMostRowOperands * kBlockBytes : result;
    member.work.kernel(stretch);
    if (!member.store) return;
    const int64_t item = int64_t(item_size(member.work.result));
    member.store(result, member.item * count, member.item, static_cast<const char*>(stretch.out),
                 item * count, item, 1, count);
  }

  // Ends a cast. Its operand was already converted into the result, unless it is one element or needs no
  // conversion.
  static void copy_unconverted(const Member& member, const Stretch& stretch, char* result, int64_t count) {
    if (stretch.in[0] == result) return;
    const BlockCopy copy = block_copy(member.type, member.type);
    copy(result, member.item * count, member.item, static_cast<const char*>(stretch.in[0]), 0,
         stretch.step[0] * member.item, 1, count);
  }

  int64_t count_;    // elements of the largest results
  int64_t columns_;  // elements of a row; 0: the group has no row reductions
  bool divided_;
  // Consecutive rows that one thread computes in order. Kernels that need this choose it by the rows' shape,
  // so they agree.
  int64_t block_ = 1;
  std::vector<Member> members_;
  std::vector<std::optional<RowReducer>> folders_;  // for the members that reduce
  Small<Stage, 2> stages_;
  int64_t buffer_bytes_ = 0;
};

}  // namespace

bool can_fuse(const Call& call) {
  const Tensor& out = call.output();
  if (!out.is_contiguous() || out.numel() == 0) return false;
  if (is_cast(*call.op)) return true;
  if (elementwise_use(*call.op)) return row_work(call).kernel;
  const RowReduction reduction = row_reduction(call);
  if (!reduction || reduction.columns == 1) return false;
  if (reduction.by_kernel() && (is_16bit_float(out.dtype()) || (reduction.divided() && !reduction.in_parts)))
    return false;
  const int64_t count = reduction.rows * reduction.columns;
  return reduction.divided() ? count >= kFewRows * kLongestRow
                             : reduction.rows >= kFewRows || count <= kFewRowsElements;
}

void run_fused(const CallGroup& group) { Fused(group).run(); }

}  // namespace lunagrad
