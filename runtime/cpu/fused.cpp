#include "runtime/cpu/fused.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/cpu/copy.h"
#include "runtime/cpu/elementwise.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"

namespace lunagrad {
namespace {

constexpr int64_t kBlock = 1024;  // elements
constexpr int64_t kWidest = 16;   // bytes of an element
// Of a buffer. Its odd part keeps equal positions of two buffers apart in the low 12 bits of the address.
constexpr int64_t kBlockBytes = kBlock * kWidest + 320;

bool is_cast(const Op& op) {
  static const Op* const cast = find_op("_cast");
  return &op == cast;
}

// The loops over an operand whose elements do not lie in the order of the result: sizes and strides in bytes,
// outermost first, adjacent dims merged.
struct Walk {
  int dims = 0;
  int64_t size[kMaxDims], stride[kMaxDims];

  Walk(const Tensor& x, const Shape& shape) {
    const int64_t item = int64_t(item_size(x.dtype()));
    for (int d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const int own = d - shape.size() + x.ndim();
      const int64_t step = own >= 0 && x.shape()[own] != 1 ? x.strides()[own] * item : 0;
      if (dims && stride[dims - 1] == shape[d] * step) {
        size[dims - 1] *= shape[d];
        stride[dims - 1] = step;
      } else {
        size[dims] = shape[d];
        stride[dims++] = step;
      }
    }
  }
  Walk() = default;
};

// Where a member finds an operand.
struct Source {
  enum class Kind : uint8_t { absent, single, member, direct, converted, walked } kind = Kind::absent;
  int from = -1;  // member
  const char* data = nullptr;
  int64_t item = 0;             // bytes of an element in memory, or of the member's result
  BlockCopy convert = nullptr;  // to the type that the kernel reads; null: it reads the elements as they are
  Walk walk;
  alignas(16) char value[kWidest];  // single: converted
};

struct Member {
  RowWork work;  // kernel null: a cast
  int operands = 0;
  Source in[kMostRowOperands];
  char* out = nullptr;  // null: the result stays in the member's buffer
  int64_t out_item = 0;
  BlockCopy store = nullptr;  // from the kernel's type to the result's; null: the kernel writes the result
  int buffer = -1;            // of results that have no memory
  bool past_caches = false;
};

// A block of `count` contiguous elements, converted.
void convert_row(BlockCopy copy, char* out, int64_t out_item, const char* in, int64_t in_item,
                 int64_t count) {
  copy(out, out_item * count, out_item, in, in_item * count, in_item, 1, count);
}

// Elements [begin, begin + count) of the walked operand, converted, one row of the last dim after the other.
void gather(const Source& source, int64_t out_item, int64_t begin, int64_t count, char* out) {
  const Walk& walk = source.walk;
  const int last = walk.dims - 1;
  int64_t index[kMaxDims], rest = begin;
  const char* at = source.data;
  for (int d = last; d >= 0; --d) {
    index[d] = rest % walk.size[d];
    rest /= walk.size[d];
    at += index[d] * walk.stride[d];
  }
  while (count > 0) {
    const int64_t part = std::min(count, walk.size[last] - index[last]);
    source.convert(out, out_item * part, out_item, at, 0, walk.stride[last], 1, part);
    out += part * out_item;
    count -= part;
    at += part * walk.stride[last];
    index[last] += part;
    for (int d = last; d > 0 && index[d] == walk.size[d]; --d) {
      at += walk.stride[d - 1] - walk.size[d] * walk.stride[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

class Fused {
 public:
  explicit Fused(const CallGroup& group) : count_(group.members.front().call->output().numel()) {
    members_.resize(group.members.size());
    for (size_t i = 0; i < members_.size(); ++i) prepare(group, i);
    share_buffers(group);
  }

  void run() {
    parallel_for(count_, std::max<int64_t>(kBlock, kElementwiseGrain / int64_t(members_.size())),
                 [this](int64_t begin, int64_t end) {
                   const Workspace<char> memory((buffers_ + kMostRowOperands + 1) * kBlockBytes);
                   for (int64_t at = begin; at < end; at += kBlock)
                     run_block(at, std::min(kBlock, end - at), memory.data());
                 });
  }

 private:
  void prepare(const CallGroup& group, size_t i) {
    const CallGroup::Member& given = group.members[i];
    const Call& call = *given.call;
    Member& member = members_[i];
    const Tensor& out = call.output();
    if (is_cast(*call.op)) {
      member.work.type = member.work.result = out.dtype();
    } else {
      member.work = row_work(call);
    }
    member.operands = int(call.in.size());
    for (int k = 0; k < member.operands; ++k)
      member.in[k] = source_of(call, call.in[size_t(k)], given.from[size_t(k)], member.work.type);
    member.out_item = int64_t(item_size(out.dtype()));
    if (member.work.kernel && member.work.result != out.dtype())
      member.store = block_copy(out.dtype(), member.work.result);
    if (!given.stored) return;
    member.out = static_cast<char*>(out.raw());
    const bool read_again = std::any_of(
        group.members.begin() + int64_t(i) + 1, group.members.end(), [&](const CallGroup::Member& later) {
          return std::find(later.from.begin(), later.from.end(), int(i)) != later.from.end();
        });
    member.past_caches = !read_again && int64_t(out.nbytes()) >= kElementwisePastCaches && !member.store &&
                         member.work.kernel && is_floating(member.work.type) &&
                         member.work.result == member.work.type &&
                         reinterpret_cast<uintptr_t>(member.out) % kStreamAlignment == 0;
  }

  static Source source_of(const Call& call, const Tensor& x, int from, DType wanted) {
    Source source;
    if (!x.defined()) return source;
    const DType stored = x.dtype();
    source.item = int64_t(item_size(stored));
    const bool as_is = readable_as(stored, wanted) && !(is_cast(*call.op) && stored != wanted);
    if (!as_is) source.convert = block_copy(wanted, stored);
    if (from >= 0) {
      source.kind = Source::Kind::member;
      source.from = from;
      return source;
    }
    source.data = static_cast<const char*>(x.raw());
    const Tensor& out = call.output();
    if (x.numel() == 1 && out.numel() != 1) {
      source.kind = Source::Kind::single;
      block_copy(wanted, stored)(source.value, 0, 0, source.data, 0, 0, 1, 1);
    } else if (x.numel() == out.numel() && x.is_contiguous()) {
      source.kind = as_is ? Source::Kind::direct : Source::Kind::converted;
    } else {
      source.kind = Source::Kind::walked;
      source.convert = block_copy(wanted, stored);
      source.walk = Walk(x, out.shape());
    }
    return source;
  }

  // Results without memory share buffers: one is free again after the last member that reads it.
  void share_buffers(const CallGroup& group) {
    std::vector<size_t> last(members_.size());
    for (size_t i = 0; i < members_.size(); ++i) {
      last[i] = i;
      for (const int from : group.members[i].from)
        if (from >= 0) last[size_t(from)] = i;
    }
    std::vector<size_t> busy_until;  // of each buffer: a member
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].out) continue;
      size_t buffer = 0;
      while (buffer < busy_until.size() && busy_until[buffer] >= i) ++buffer;
      if (buffer == busy_until.size()) busy_until.push_back(0);
      busy_until[buffer] = last[i];
      members_[i].buffer = int(buffer);
    }
    buffers_ = int64_t(busy_until.size());
  }

  // The block of a member's result.
  char* result_of(const Member& member, int64_t begin, char* memory) const {
    return member.out ? member.out + begin * member.out_item : memory + member.buffer * kBlockBytes;
  }

  void run_block(int64_t begin, int64_t count, char* memory) const {
    char* const converted = memory + buffers_ * kBlockBytes;
    for (const Member& member : members_) {
      const int64_t item = int64_t(item_size(member.work.type));
      char* const result = result_of(member, begin, memory);
      Stretch stretch;
      for (int k = 0; k < member.operands; ++k) {
        const Source& source = member.in[k];
        stretch.step[k] = 1;
        char* const own = member.work.kernel ? converted + k * kBlockBytes : result;
        switch (source.kind) {
          case Source::Kind::absent:
            stretch.in[k] = kAbsentOperand;
            stretch.step[k] = 0;
            break;
          case Source::Kind::single:
            stretch.in[k] = source.value;
            stretch.step[k] = 0;
            break;
          case Source::Kind::direct:
            stretch.in[k] = source.data + begin * source.item;
            break;
          case Source::Kind::member:
            stretch.in[k] = result_of(members_[size_t(source.from)], begin, memory);
            if (source.convert) {
              convert_row(source.convert, own, item, static_cast<const char*>(stretch.in[k]), source.item,
                          count);
              stretch.in[k] = own;
            }
            break;
          case Source::Kind::converted:
            convert_row(source.convert, own, item, source.data + begin * source.item, source.item, count);
            stretch.in[k] = own;
            break;
          case Source::Kind::walked:
            gather(source, item, begin, count, own);
            stretch.in[k] = own;
            break;
        }
      }
      if (!member.work.kernel) {
        copy_unconverted(member, stretch, result, count);
        continue;
      }
      stretch.count = count;
      stretch.params = member.work.params;
      stretch.past_caches = member.past_caches;
      stretch.out = member.store ? converted + kMostRowOperands * kBlockBytes : result;
      member.work.kernel(stretch);
      if (member.store)
        convert_row(member.store, result, member.out_item, static_cast<const char*>(stretch.out),
                    int64_t(item_size(member.work.result)), count);
    }
  }

  // The end of a cast: its operand was converted into the result, unless it is one element or needs no
  // conversion.
  static void copy_unconverted(const Member& member, const Stretch& stretch, char* result, int64_t count) {
    if (stretch.in[0] == result) return;
    const int64_t item = member.out_item;
    const BlockCopy copy = block_copy(member.work.type, member.work.type);
    copy(result, item * count, item, static_cast<const char*>(stretch.in[0]), 0, stretch.step[0] * item, 1,
         count);
  }

  int64_t count_;
  std::vector<Member> members_;
  int64_t buffers_ = 0;
};

}  // namespace

bool can_fuse(const Call& call) {
  const Tensor& out = call.output();
  if (!out.is_contiguous() || out.numel() == 0) return false;
  if (is_cast(*call.op)) return true;
  return elementwise_use(*call.op) && row_work(call).kernel;
}

void run_fused(const CallGroup& group) { Fused(group).run(); }

}  // namespace lunagrad
