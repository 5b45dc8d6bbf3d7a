#include "gpu/vulkan/faults.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <set>

#include "runtime/core/called.h"
#include "runtime/core/error.h"

namespace lunagrad::gpu {

Faults::Faults(VulkanContext& context) : memory_(context, kRecords * sizeof(Words), HostUse::download) {
  std::memset(memory_.mapped, 0, memory_.size);
}

VkDeviceAddress Faults::address() {
  assert(caller_);
  Caller& caller = *caller_;
  if (caller.record_ < first_) {
    records_.push_back({caller.op_ + (*caller.op_ == '_'), caller.called_, caller.line_, 0});
    caller.record_ = first_ + int64_t(records_.size()) - 1;
  }
  return memory_.address + uint64_t(caller.record_) % kRecords * sizeof(Words);
}

void Faults::work(std::span<Range* const> reads, std::span<Range* const> writes, uint64_t batch) {
  if (records_.empty()) return;
  const int64_t record = caller_ ? caller_->record_ : -1;
  if (record >= first_) {
    records_[size_t(record - first_)].batch = batch;
    last_batch_ = batch;
  }
  work_.push_back({record, batch, {reads.begin(), reads.end()}, {writes.begin(), writes.end()}});
}

void Faults::freed(const Range* range) noexcept {
  if (records_.empty()) return;
  try {
    work_.push_back({-1, 0, {}, {}, range});
  } catch (const std::bad_alloc&) {
    // A tensor that gets this range later may then be called faulty too.
  }
}

bool Faults::in_progress(int64_t record) const {
  for (const Caller* caller = caller_; caller; caller = caller->outer_)
    if (caller->record_ == record) return true;
  return false;
}

void Faults::collect(uint64_t reached) {
  // A call in progress may still note faults in later batches.
  while (!records_.empty() && !in_progress(first_) && records_.front().batch <= reached) {
    Words& noted = *words(first_);
    if (noted.kind != FaultKind::none) {
      const Record& record = records_.front();
      std::string why = describe(noted, record);
      if (record.called) why = with_name(record.called, why);
      const ErrorKind kind = kind_of(noted);
      std::memset(static_cast<void*>(&noted), 0, sizeof noted);
      spoil(first_, why);
      if (found_.empty()) {
        found_ = why;
        found_kind_ = kind;
      }
    }
    records_.pop_front();
    ++first_;
  }
  if (records_.empty()) work_.clear();
  const auto over = [&](const Work& work) {
    return work.freed || (work.batch <= reached && work.record < first_);
  };
  while (!work_.empty() && over(work_.front())) work_.pop_front();
}

void Faults::spoil(int64_t record, const std::string& why) {
  const auto message = std::make_shared<const std::string>(why);
  std::set<Range*> spoiled;
  for (const Work& work : work_) {
    if (work.freed) {
      spoiled.erase(const_cast<Range*>(work.freed));
      continue;
    }
    const bool faulty = work.record == record || std::any_of(work.reads.begin(), work.reads.end(),
                                                             [&](Range* r) { return spoiled.count(r) > 0; });
    if (faulty) spoiled.insert(work.writes.begin(), work.writes.end());
  }
  for (Range* range : spoiled)
    if (!range->spoiled) range->spoiled = message;
}

void Faults::raise() {
  if (!found_.empty()) throw FoundLater(std::exchange(found_, {}), found_kind_);
}

ErrorKind Faults::kind_of(const Words& fault) {
  switch (fault.kind) {
    case FaultKind::singular:
    case FaultKind::minor:
    case FaultKind::eigenvalues:
    case FaultKind::singular_values:
      return ErrorKind::numeric;
    default:
      return ErrorKind::value;
  }
}

std::string Faults::describe(const Words& fault, const Record& record) {
  const std::string place = record.line.known() ? " (made at " + to_string(record.line) + ")" : "";
  // The format that note_matrix() writes.
  const uint32_t matrix = ~fault.position >> 7, at = ~fault.position & 127;
  const auto which = [&] {
    return fault.size ? text("matrix ", matrix + 1, " of the batch") : std::string("the matrix");
  };
  const auto number = [&] { return double(std::bit_cast<float>(fault.value)); };
  switch (fault.kind) {
    case FaultKind::label:
      return text(record.op.starts_with("nll_loss") ? "nll_loss" : "cross_entropy", ": label ", fault.value,
                  " at position ", fault.position + 1, " is out of range for ", fault.size,
                  " classes (labels count from 0)", place);
    case FaultKind::probability:
      return text("bernoulli: a probability must lie in [0, 1] (got ", number(), ")", place);
    case FaultKind::weight:
      return text("multinomial: a weight must be finite and not negative (got ", number(), ")", place);
    case FaultKind::total_weight:
      return text("multinomial: the weights of a row add up to 0", place);
    case FaultKind::few_weights:
      return text("multinomial: ", fault.value, " samples without replacement from ", fault.size,
                  " categories with a weight", place);
    case FaultKind::division:
      return text(record.op, ": integer division by zero", place);
    case FaultKind::rate:
      return text("poisson: a rate must be finite and not negative (got ", number(), ")", place);
    case FaultKind::pivot:
      return text("lu_unpack: pivot ", fault.position + 1, " is ", fault.value, ", which does not lie in ",
                  fault.position + 1, " to ", fault.size, place);
    case FaultKind::singular:
      return text(record.op, ": ", which(), " is singular: the pivot of column ", at, " is 0", place);
    case FaultKind::minor:
      return text(record.op, ": ", which(), " is not positive-definite: the leading minor of order ", at,
                  " is not positive", place);
    case FaultKind::eigenvalues:
      return text(record.op, ": the eigenvalues of ", which(), " do not converge", place);
    case FaultKind::singular_values:
      return text(record.op, ": the singular values of ", which(), " do not converge", place);
    case FaultKind::not_finite:
      // The cofactors are the gradient of the determinant.
      return text(record.op == "cofactor" ? "linalg.det" : record.op,
                  ": the input contains NaN or infinite values", place);
    case FaultKind::index:
    case FaultKind::index_put:
      return text(fault.kind == FaultKind::index ? "index" : "index_put", ": index ", fault.value,
                  " is out of range for dim ", fault.position + 1, " of size ", fault.size,
                  " (indices count from 0)", place);
    case FaultKind::length:
      return text("segment_reduce: a length must not be negative (got ", fault.value, ")", place);
    case FaultKind::lengths:
      return text("segment_reduce: the lengths add up to ", fault.value, " where dim ", fault.position + 1,
                  " has ", fault.size, place);
    case FaultKind::offsets:
      return text("embedding_bag: offsets must begin with 0 and grow to at most ", fault.size, " (got ",
                  fault.value, " at position ", fault.position + 1, ")", place);
    default:
      break;
  }
  constexpr const char* kOps[] = {"index_select", "embedding",  "gather",     "scatter", "scatter_add",
                                  "index_add",    "index_copy", "index_fill", "one_hot", "scatter_reduce"};
  return text(kOps[uint32_t(fault.kind) - uint32_t(FaultKind::index_select)], ": index ", fault.value,
              " at position ", fault.position + 1, " is out of range for a dim of size ", fault.size,
              " (indices count from 0)", place);
}

void Faults::refuse(const Range& range) {
  raise();  // the fault itself comes first
  throw FoundLater("a tensor has no right values, since it came of a call that failed: " + *range.spoiled);
}

}  // namespace lunagrad::gpu
