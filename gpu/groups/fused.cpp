#include "gpu/groups/fused.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "gpu/groups/fused_text.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/vulkan/glsl.h"
#include "runtime/core/row_reduction.h"

namespace lunagrad::gpu {
namespace {

// most numbers of a group in rows that an invocation holds between stages
constexpr uint64_t kMostHeld = 256;
constexpr uint64_t kBusyAnyway = 4096;  // workgroups that keep any device busy

bool is_cast(const Op& op) {
  static const Op* const cast = find_op("_cast");
  return &op == cast;
}
bool is_stored_type(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::boolean;
}
bool is_read_type(DType type) { return type != DType::f64 && !is_complex(type); }

// --- shaders ---

struct Shader {
  std::string name;
  std::vector<uint32_t> words;
  ShaderCode code;
  std::atomic<bool> ready{false};
  std::atomic<bool> failed{false};
  std::atomic<bool> reported{false};

  // Gives the shader up: the group's members always run one by one. Reports it once.
  void give_up(const char* why) {
    if (!reported.exchange(true))
      std::fprintf(stderr, "vulkan: the calls of a %s run one by one: %s\n", name.c_str(), why);
    failed = true;
  }
};

// Compiles shaders, one after the other, on a thread that lives while there is work.
class Library {
 public:
  Shader& get(const FusedShape& shape, bool wait) {
    const std::string key = signature(shape);
    std::unique_lock lock(mutex_);
    const auto found = by_signature_.find(key);
    Shader& shader = found != by_signature_.end() ? *found->second : add(key, shape);
    if (wait) done_.wait(lock, [&] { return shader.ready || shader.failed; });
    return shader;
  }

 private:
  struct Job {
    Shader* shader;
    std::string glsl;
  };

  Shader& add(const std::string& key, const FusedShape& shape) {
    Shader& shader = shaders_.emplace_back();
    std::string names;
    for (const FusedMember& member : shape.members)
      names += text(names.empty() ? "" : " ",
                    member.use                                        ? row_traits(member.use.row).name
                    : member.reduction == RowReduction::Kind::none    ? "cast"
                    : member.reduction == RowReduction::Kind::sum     ? "sum"
                    : member.reduction == RowReduction::Kind::product ? "prod"
                    : member.reduction == RowReduction::Kind::largest ? "amax"
                                                                      : "amin",
                    member.use.gradient >= 0 ? "_grad" : "");
    shader.name = "group of " + names;
    by_signature_[key] = &shader;
    jobs_.push_back({&shader, fused_glsl(shape)});
    if (!working_) {
      working_ = true;
      std::thread([this] { work(); }).detach();
    }
    return shader;
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!jobs_.empty()) {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      try {
        job.shader->words = compile_glsl(job.shader->name, job.glsl, "");
        job.shader->code = shader_code(job.shader->name, job.shader->words);
        job.shader->ready = true;
      } catch (const Error& error) {
        job.shader->give_up(error.what());
      }
      lock.lock();
      done_.notify_all();
    }
    working_ = false;
  }

  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<Shader> shaders_;
  std::unordered_map<std::string, Shader*> by_signature_;
  std::deque<Job> jobs_;
  bool working_ = false;
};

Library& library() {
  static auto* all = new Library;  // never destroyed: its thread and the devices may outlive the statics
  return *all;
}

std::atomic<bool> waits{false};

// --- a group as its shader sees it ---

// The tensor that gives the shape of the group's elements: a result, or the operand of a reduction.
const Tensor& whole_of(const CallGroup& group, const RowGroup& rows) {
  for (size_t i = 0; i < group.members.size(); ++i)
    if (!rows.members[i].row) return group.members[i].call->output();
  for (size_t i = 0; i < group.members.size(); ++i)
    if (rows.members[i].reduction) return group.members[i].call->input(0);
  return group.members.front().call->output();
}

// Whether x, expanded to `shape`, has one element for each row, adjacent in order of the rows. With row =
// false: for each column.
bool is_one_for_each(bool row, const Tensor& x, const Shape& shape, int64_t columns) {
  const Strides strides = broadcast_strides(x, shape);
  int64_t inner = 1, outer = 1;  // elements in the dims visited so far, within a row and across rows
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    const bool within = inner < columns;
    if (strides[d] != (within == row ? 0 : within ? inner : outer)) return false;
    (within ? inner : outer) *= shape[d];
  }
  return inner == columns;
}

class Group {
 public:
  Group(const CallGroup& group, const RowGroup& rows, Launch& launch)
      : launch_(launch), rows_(rows), out_(whole_of(group, rows)) {
    shape_.vector = (rows.columns ? rows.columns : out_.numel()) % 4 == 0;
    find_walks(group);
    shape_.members.reserve(group.members.size());
    addresses_.reserve(2 * group.members.size());
    in_fours_.reserve(2 * group.members.size());
    numbers_.reserve(2 * group.members.size());
    for (size_t i = 0; i < group.members.size(); ++i) add(group.members[i], rows.members[i]);
    shape_.addresses = uint8_t(addresses_.size());
    shape_.numbers = uint8_t(numbers_.size());
    bool in_fours = true;
    for (size_t i = 0; i < addresses_.size(); ++i)
      in_fours = in_fours && (!in_fours_[i] || moves_in_fours(*in_fours_[i], addresses_[i]));
    if (rows.columns)
      divide_rows(group, in_fours);
    else
      shape_.vector = shape_.vector && in_fours;
  }

  // False: the group cannot be computed in rows, or not in the same order as one by one.
  bool fits() const { return fits_; }

  const FusedShape& shape() const { return shape_; }

  // Layout of `Arguments`, which fused_pieces.cpp declares.
  std::vector<std::byte> arguments() const {
    std::vector<std::byte> bytes;
    const auto append = [&](const auto& value) {
      const Bytes more = bytes_of(value);
      bytes.insert(bytes.end(), more.begin(), more.end());
    };
    for (const uint64_t address : addresses_) append(address);
    append(uint32_t(rows_.columns ? rows_.count / rows_.columns : out_.numel()));
    append(uint32_t(rows_.columns));
    append(uint32_t(0)), append(uint32_t(0));
    for (const float number : numbers_) append(number);
    append(0.0f);
    for (int d = 0; d < kMaxDims; ++d) append(d < space_.dims ? space_.size[d] : 1u);
    if (bytes.size() % 8) append(0u);
    for (size_t k = 0; k < walked_.size(); ++k)
      for (int d = 0; d < kMaxDims; ++d) append(d < space_.dims ? space_.stride[k][d] : int64_t(0));
    for (int d = 0; d < kMaxDims; ++d) append(int64_t(0));
    return bytes;
  }

 private:
  static bool lies_in_order(const Tensor& x, const Tensor& out) {
    return x.numel() == out.numel() && x.is_contiguous();
  }

  // How an operand in memory is read.
  FusedOperand::Kind kind_of(const Tensor& x, const Tensor& out, bool row) const {
    using Kind = FusedOperand::Kind;
    if (lies_in_order(x, out)) return row ? Kind::row : Kind::direct;
    if (x.numel() == 1) return Kind::single;
    if (!row && rows_.columns && is_one_for_each(true, x, out_.shape(), rows_.columns)) return Kind::row;
    if (!row && rows_.columns && is_one_for_each(false, x, out_.shape(), rows_.columns)) return Kind::column;
    return Kind::strided;
  }

  // Finds the operands that are read with strides, and their common loops.
  void find_walks(const CallGroup& group) {
    for (size_t i = 0; i < group.members.size(); ++i) {
      const CallGroup::Member& member = group.members[i];
      const bool row = rows_.members[i].row && !rows_.members[i].reduction;
      for (size_t k = 0; k < member.call->in.size(); ++k) {
        const Tensor& x = member.call->in[k];
        if (!x.defined() || x.is_number() || member.from[k] >= 0 || rows_.members[i].reduction) continue;
        if (kind_of(x, member.call->output(), row) != FusedOperand::Kind::strided) continue;
        if (row || walked_.size() == kMaxIterated)
          fits_ = false;
        else
          walked_.push_back(&x);
      }
    }
    if (!walked_.empty()) space_ = iterate(out_.shape(), walked_);
    shape_.walks = uint8_t(walked_.size());
    shape_.dims = uint8_t(space_.dims);
  }

  // A row gets as many invocations as in a single reduction, so that sums are added in the same order.
  void divide_rows(const CallGroup& group, bool in_fours) {
    for (size_t i = 0; i < group.members.size(); ++i)
      if (rows_.members[i].reduction && group.members[i].call->input(0).offset() % kReducedFloats != 0)
        fits_ = fits_ && !shape_.vector;
    fits_ = fits_ && (in_fours || !shape_.vector);
    const uint64_t units = uint64_t(rows_.columns) / (shape_.vector ? 4 : 1);
    shape_.along = row_threads(uint64_t(rows_.count / rows_.columns), uint64_t(rows_.columns), shape_.vector);
    shape_.turns = uint32_t((units + shape_.along - 1) / shape_.along);
    uint64_t held = 0;
    for (const RowGroup::Member& member : rows_.members) held += member.outlasts && !member.row;
    fits_ = fits_ && held * shape_.turns * (shape_.vector ? 4 : 1) <= kMostHeld;
  }

  uint8_t address(uint64_t at, std::optional<DType> in_fours) {
    addresses_.push_back(at);
    in_fours_.push_back(in_fours);
    return uint8_t(addresses_.size() - 1);
  }

  void add(const CallGroup::Member& given, const RowGroup::Member& known) {
    const Call& call = *given.call;
    FusedMember member;
    member.reduction = known.reduction.kind;
    member.row = known.row;
    member.outlasts = known.outlasts;
    member.stage = uint8_t(known.stage);
    if (!is_cast(*call.op) && !known.reduction) member.use = elementwise_use(*call.op);
    member.result = call.output().dtype();
    for (size_t k = 0; k < call.in.size(); ++k) {
      const Tensor& x = call.in[k];
      FusedOperand& operand = member.operands[k];
      if (!x.defined()) continue;
      if (x.is_number()) {
        operand.kind = FusedOperand::Kind::number;
        operand.index = uint8_t(numbers_.size());
        numbers_.push_back(x.dtype() == DType::i64 ? float(*x.data<int64_t>()) : float(*x.data<double>()));
        continue;
      }
      operand.type = x.dtype();
      if (given.from[k] >= 0) {
        operand.kind = FusedOperand::Kind::member;
        operand.index = uint8_t(given.from[k]);
        continue;
      }
      operand.kind = known.reduction ? FusedOperand::Kind::direct : kind_of(x, call.output(), known.row);
      const bool loads_fours =
          (operand.kind == FusedOperand::Kind::direct || operand.kind == FusedOperand::Kind::column) &&
          comes_in_fours(x.dtype());
      if (operand.kind == FusedOperand::Kind::strided && fits_) operand.walk = uint8_t(next_walk_++);
      operand.index = address(launch_.reads(x), loads_fours ? std::optional(x.dtype()) : std::nullopt);
    }
    if (known.reduction) {
      member.first_param = uint8_t(numbers_.size());
      numbers_.push_back(float(1 / known.reduction.divisor));
    } else if (member.use && !call.params.empty()) {  // the type of a cast is part of the shader's text
      double params[kMaxRowParams] = {};
      pack_params(call, params);
      member.first_param = uint8_t(numbers_.size());
      for (size_t i = 0; i < call.params.size(); ++i) numbers_.push_back(float(params[i]));
    }
    if (given.stored) {
      member.store = int8_t(address(launch_.writes(call.output()), !known.row && comes_in_fours(member.result)
                                                                       ? std::optional(member.result)
                                                                       : std::nullopt));
    }
    shape_.members.push_back(member);
  }

  Launch& launch_;
  const RowGroup& rows_;
  const Tensor& out_;
  bool fits_ = true;
  FusedShape shape_;
  Iteration space_;
  std::vector<const Tensor*> walked_;
  size_t next_walk_ = 0;
  std::vector<uint64_t> addresses_;
  // for each address the type of the elements, if they are read in fours
  std::vector<std::optional<DType>> in_fours_;
  std::vector<float> numbers_;
};

bool has_few_addresses(const CallGroup& group) {
  size_t addresses = group.members.size();
  for (const CallGroup::Member& member : group.members)
    for (size_t k = 0; k < member.call->in.size(); ++k) {
      const Tensor& x = member.call->in[k];
      addresses += x.defined() && !x.is_number() && member.from[k] < 0;
    }
  return addresses < 100;
}

bool can_reduce(const Call& call) {
  const RowReduction reduction = row_reduction(call);
  using Kind = RowReduction::Kind;
  const bool known = reduction.kind == Kind::sum || reduction.kind == Kind::product ||
                     reduction.kind == Kind::largest || reduction.kind == Kind::smallest;
  const uint64_t rows = uint64_t(reduction.rows), columns = uint64_t(reduction.columns);
  return known && columns > 1 && !reduction.divided() && rows * columns < uint64_t(most_elements()) &&
         call.input(0).dtype() != DType::f64 &&
         !divides_rows(rows, columns, columns % kReducedFloats == 0, kBusyAnyway);
}

}  // namespace

bool can_fuse(const Call& call) {
  const Tensor& out = call.output();
  if (!out.is_contiguous() || out.numel() == 0 || !indexable(out)) return false;
  if (!is_stored_type(out.dtype())) return false;
  for (const Tensor& x : call.in)
    if (x.defined() && !x.is_number() && (!is_read_type(x.dtype()) || &x.device() != &out.device()))
      return false;
  if (is_cast(*call.op)) return is_floating(out.dtype());
  if (const ElementwiseUse use = elementwise_use(*call.op)) return computing_type(call) == DType::f32;
  return can_reduce(call);
}

FusedRun run_fused(const CallGroup& group, Recorder& recorder) {
  const RowGroup rows(group);
  const uint64_t row_count = rows.columns ? uint64_t(rows.count / rows.columns) : 0;
  if (rows.columns && divides_rows(row_count, uint64_t(rows.columns), rows.columns % kReducedFloats == 0,
                                   busy_with_reductions(recorder)))
    return FusedRun::never;
  if (!has_few_addresses(group)) return FusedRun::never;
  Launch launch(recorder);
  const Group as_seen(group, rows, launch);
  if (!as_seen.fits()) return FusedRun::never;
  const FusedShape& shape = as_seen.shape();
  const bool wait = waits;
  Shader& shader = library().get(shape, wait);
  if (!shader.ready) return FusedRun::later;
  Pipeline& pipeline = recorder.pipelines.get(shader.code, {});
  if (wait) recorder.pipelines.finish_background();
  if (pipeline.failed()) shader.give_up("the driver made no pipeline of their shader");
  if (!pipeline.made()) return FusedRun::later;
  uint32_t groups;
  if (shape.along) {
    const uint64_t side = 256 / shape.along;
    groups = group_count((row_count + side - 1) / side, recorder);
  } else {
    groups = visit_elements(uint64_t(rows.count) / (shape.vector ? 4 : 1), recorder).groups;
  }
  launch.run(shader.code, Constants{}, {groups}, as_seen.arguments());
  return FusedRun::done;
}

std::vector<CallGroup> parts_without_rows(const CallGroup& group) {
  const RowGroup rows(group);
  std::vector<CallGroup> parts;
  size_t begin = 0;  // first member of the last part
  for (size_t i = 0; i < group.members.size(); ++i) {
    if (i == 0 || rows.members[i].row || rows.members[i - 1].row) {
      parts.emplace_back();
      begin = i;
    }
    CallGroup::Member member = group.members[i];
    member.stored = true;
    for (int& from : member.from) from = from >= int(begin) ? from - int(begin) : -1;
    parts.back().members.push_back(member);
  }
  return parts;
}

void wait_for_fused(bool on) { waits = on; }

}  // namespace lunagrad::gpu
