#include <doctest/doctest.h>

#include "ui/base/counted.h"

namespace lunagrad::tests {

TEST_CASE("what is counted has its plural, but for one") {
  CHECK(counted(0, "step") == "0 steps");
  CHECK(counted(1, "step") == "1 step");
  CHECK(counted(1234567, "step") == "1,234,567 steps");
}

}  // namespace lunagrad::tests
