#include "gpu/ops/index/put_rows.h"

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/words.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::PutLast;

struct PutPushConstants {
  uint64_t target, source, keys, owners;
  uint32_t count, size, step;
};
static_assert(sizeof(PutPushConstants) <= kPushConstantBytes);

// Layout as in put_rows.comp.
struct RowArguments {
  uint64_t result, x, source, owners;
  uint32_t count, size, picked, inner;
  Divisor by_inner, by_size;
};

// For each key the number of its last index, plus 1; 0 for a key without an index.
Tensor owners_of(const IndexedRows& rows, const Scratch& keys, Recorder& recorder) {
  const Tensor owners = Tensor::empty({int64_t(rows.size)}, DType::i32, rows.index.device());
  copy(owners, Tensor::number(int64_t(0)), recorder);
  PutPushConstants push{};
  push.count = uint32_t(rows.count());
  push.size = uint32_t(rows.size);
  Launch launch(recorder);
  push.keys = launch.reads(keys);
  push.owners = launch.writes(owners);
  launch.run(PutLast{.mode = PutLast::kClaim}, {groups_for(push.count, recorder)}, {}, bytes_of(push));
  return owners;
}

}  // namespace

void put_elements(const Tensor& target, const Tensor& source, const IndexedRows& rows, Recorder& recorder) {
  const Scratch keys(recorder, rows.count() * sizeof(uint32_t));
  write_keys(rows, keys, recorder);
  const Tensor owners = owners_of(rows, keys, recorder);
  Launch launch(recorder);
  PutPushConstants push{};
  push.count = uint32_t(rows.count());
  push.size = uint32_t(rows.size);
  push.step = uint64_t(source.numel()) == rows.count() ? 1 : 0;
  push.keys = launch.reads(keys);
  push.owners = launch.reads(owners);
  push.source = launch.reads(source);
  push.target = launch.writes(target);
  launch.run(PutLast{.mode = PutLast::kPut, .type = raw_type(target.dtype())},
             {groups_for(push.count, recorder)}, {}, bytes_of(push));
}

void put_rows(const Tensor& out, const Tensor& x, const Tensor& source, const IndexedRows& rows,
              Recorder& recorder) {
  const Scratch keys(recorder, rows.count() * sizeof(uint32_t));
  write_keys(rows, keys, recorder);
  const Tensor owners = owners_of(rows, keys, recorder);
  // A single element is repeated to fill 16 bytes, the size of the largest unit.
  const bool one = source.numel() == 1;
  const Tensor from =
      one ? Tensor::empty({16 / int64_t(item_size(out.dtype()))}, out.dtype(), out.device()) : source;
  if (one) copy(from, reshape(source, {}), recorder);
  Launch launch(recorder);
  RowArguments a{};
  a.result = launch.writes(out);
  a.x = launch.reads(x);
  a.source = launch.reads(from);
  a.owners = launch.reads(owners);
  const Words words = words_of(out.dtype(), rows.inner, a.result | a.x | a.source);
  a.count = uint32_t(uint64_t(out.numel()) / words.elements);
  a.size = uint32_t(rows.size);
  a.picked = uint32_t(rows.count());
  a.inner = uint32_t(rows.inner / words.elements);
  a.by_inner = Divisor(a.inner);
  a.by_size = Divisor(a.size);
  const Visit visit = visit_elements(a.count, recorder);
  launch.run(shaders::PutRows{.type = words.type,
                              .sixteen_bytes = words.bytes == 16,
                              .per_thread = visit.per_thread,
                              .in_place = a.result == a.x,
                              .one = one},
             {visit.groups}, bytes_of(a));
}

}  // namespace lunagrad::gpu
