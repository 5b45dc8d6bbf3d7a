#include "gpu/kernels/fused.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "gpu/fused_text.h"
#include "gpu/glsl.h"
#include "gpu/kernels/iteration.h"

namespace lunagrad::gpu {
namespace {

constexpr uint64_t kMostElements = uint64_t(1) << 31;

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
};

// Compiles one shader after the other on a thread that lives while there is work.
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
      names += text(names.empty() ? "" : " ", member.use ? row_traits(member.use.row).name : "cast",
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
        job.shader->code = {job.shader->name, job.shader->words};
        job.shader->ready = true;
      } catch (const Error&) {
        job.shader->failed = true;  // the members run one by one, for good
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
  static auto* all = new Library;  // never destroyed: its thread and devices may outlive the statics
  return *all;
}

std::atomic<bool> waits{false};

// --- a group as its shader sees it ---

class Group {
 public:
  Group(const CallGroup& group, Launch& launch)
      : launch_(launch), out_(group.members.front().call->output()) {
    shape_.vector = out_.numel() % 4 == 0;
    find_walks(group);
    for (const CallGroup::Member& member : group.members) add(member);
    shape_.addresses = uint8_t(addresses_.size());
    shape_.numbers = uint8_t(numbers_.size());
    for (size_t i = 0; i < addresses_.size() && shape_.vector; ++i)
      shape_.vector = !in_fours_[i] || moves_in_fours(*in_fours_[i], addresses_[i]);
  }

  const FusedShape& shape() const { return shape_; }

  // As `Arguments` of fused_text.cpp declares it.
  std::vector<std::byte> arguments() const {
    std::vector<std::byte> bytes;
    const auto append = [&](const auto& value) {
      const Bytes more = bytes_of(value);
      bytes.insert(bytes.end(), more.begin(), more.end());
    };
    for (const uint64_t address : addresses_) append(address);
    append(uint32_t(out_.numel()));
    append(uint32_t(0));
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

  // The operands that are read with strides, and their common loops.
  void find_walks(const CallGroup& group) {
    for (const CallGroup::Member& member : group.members)
      for (size_t k = 0; k < member.call->in.size(); ++k) {
        const Tensor& x = member.call->in[k];
        if (!x.defined() || x.is_number() || member.from[k] >= 0 || x.numel() == 1 || lies_in_order(x, out_))
          continue;
        if (walked_.size() < kMaxIterated) walked_.push_back(&x);
      }
    if (!walked_.empty()) space_ = iterate(out_.shape(), walked_);
    shape_.walks = uint8_t(walked_.size());
    shape_.dims = uint8_t(space_.dims);
  }

  uint8_t address(uint64_t at, std::optional<DType> in_fours) {
    addresses_.push_back(at);
    in_fours_.push_back(in_fours);
    return uint8_t(addresses_.size() - 1);
  }

  void add(const CallGroup::Member& given) {
    const Call& call = *given.call;
    FusedMember member;
    if (!is_cast(*call.op)) member.use = elementwise_use(*call.op);
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
      if (lies_in_order(x, out_)) {
        operand.kind = FusedOperand::Kind::direct;
        operand.index =
            address(launch_.reads(x), comes_in_fours(x.dtype()) ? std::optional(x.dtype()) : std::nullopt);
      } else if (x.numel() == 1) {
        operand.kind = FusedOperand::Kind::single;
        operand.index = address(launch_.reads(x), {});
      } else {
        operand.kind = FusedOperand::Kind::strided;
        while (walked_[next_walk_] != &x) ++next_walk_;
        operand.walk = uint8_t(next_walk_);
        operand.index = address(launch_.reads(x), {});
      }
    }
    if (!call.params.empty()) {
      double params[kMaxRowParams] = {};
      pack_params(call, params);
      member.first_param = uint8_t(numbers_.size());
      for (size_t i = 0; i < call.params.size(); ++i) numbers_.push_back(float(params[i]));
    }
    if (given.stored) {
      member.store =
          int8_t(address(launch_.writes(call.output()),
                         comes_in_fours(member.result) ? std::optional(member.result) : std::nullopt));
    }
    shape_.members.push_back(member);
  }

  Launch& launch_;
  const Tensor& out_;
  FusedShape shape_;
  Iteration space_;
  std::vector<const Tensor*> walked_;
  size_t next_walk_ = 0;
  std::vector<uint64_t> addresses_;
  std::vector<std::optional<DType>> in_fours_;  // of each address: the type of elements read in order
  std::vector<float> numbers_;
};

// Whether the operands that need strides are few enough.
bool fits(const CallGroup& group) {
  size_t walked = 0, addresses = 0;
  for (const CallGroup::Member& member : group.members)
    for (size_t k = 0; k < member.call->in.size(); ++k) {
      const Tensor& x = member.call->in[k];
      if (!x.defined() || x.is_number() || member.from[k] >= 0) continue;
      ++addresses;
      walked += x.numel() != 1 && !(x.numel() == member.call->output().numel() && x.is_contiguous());
    }
  return walked <= kMaxIterated && addresses + group.members.size() < 100;
}

}  // namespace

bool can_fuse(const Call& call) {
  const Tensor& out = call.output();
  if (!out.is_contiguous() || out.numel() == 0 || uint64_t(out.numel()) >= kMostElements) return false;
  if (!is_stored_type(out.dtype())) return false;
  for (const Tensor& x : call.in)
    if (x.defined() && !x.is_number() && (!is_read_type(x.dtype()) || &x.device() != &out.device()))
      return false;
  if (is_cast(*call.op)) return is_floating(out.dtype());
  const ElementwiseUse use = elementwise_use(*call.op);
  return use && computing_type(call) == DType::f32;
}

bool run_fused(const CallGroup& group, Recorder& recorder) {
  if (!fits(group)) return false;
  Launch launch(recorder);
  const Group as_seen(group, launch);
  const bool wait = waits;
  const Shader& shader = library().get(as_seen.shape(), wait);
  if (!shader.ready) return false;
  Pipeline& pipeline = recorder.pipelines.get(shader.code, {});
  if (!wait && !pipeline.made()) return false;
  const uint64_t count =
      uint64_t(group.members.front().call->output().numel()) / (as_seen.shape().vector ? 4 : 1);
  const Visit visit = visit_elements(count, recorder);
  launch.run(shader.code, Constants{}, {visit.groups}, as_seen.arguments());
  return true;
}

void wait_for_fused(bool on) { waits = on; }

}  // namespace lunagrad::gpu
