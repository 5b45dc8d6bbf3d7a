// The further names of shared modules and parameters.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/core/trace.h"
#include "runtime/tape/other_names.h"

using namespace lunagrad;

TEST_CASE("each name of a shared thing knows the others, in the order in which they were noted") {
  forget_other_names();
  const uint32_t first = intern("net.first"), second = intern("net.second"), third = intern("net.third");
  CHECK(other_names(first).empty());
  note_other_name(first, first);
  CHECK(other_names(first).empty());
  note_other_name(first, second);
  note_other_name(first, third);
  note_other_name(first, second);  // again
  CHECK(other_names(first) == std::vector<uint32_t>{second, third});
  CHECK(other_names(second) == std::vector<uint32_t>{first, third});
  CHECK(other_names(intern("net.other")).empty());
  forget_other_names();
  CHECK(other_names(second).empty());
}

TEST_CASE("a thing with very many names keeps some of them, and the others have none") {
  forget_other_names();
  const uint32_t first = intern("shared.0");
  std::vector<uint32_t> others;
  for (int i = 1; i <= 200; ++i) {
    others.push_back(intern("shared." + std::to_string(i)));
    note_other_name(first, others.back());
  }
  CHECK(other_names(first).size() >= 32);
  CHECK(other_names(first).size() < others.size());
  for (const uint32_t other : others) {
    const size_t known = other_names(other).size();
    CHECK((known == 0 || known == other_names(first).size()));
  }
  forget_other_names();
}
