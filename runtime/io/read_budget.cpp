#include "runtime/io/read_budget.h"

#include <utility>

#include "runtime/core/error.h"

namespace lunagrad {

ReadBudget::ReadBudget(std::string where, uint64_t content_bytes, uint64_t ratio) : where_(std::move(where)) {
  if (!__builtin_mul_overflow(content_bytes, ratio, &most_) &&
      !__builtin_add_overflow(most_, kSmallContent, &most_))
    left_ = most_;
  else
    most_ = UINT64_MAX;
}

void ReadBudget::hold() { held_.add(size_t(std::exchange(pending_, 0)), where_); }

void ReadBudget::refuse() const {
  fail_as(ErrorKind::file, where_, ": its values take more than ", most_, " bytes, which its size does not ",
          "justify: they repeat each other");
}

}  // namespace lunagrad
