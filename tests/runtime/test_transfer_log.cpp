// A rank's notes of its collectives for a profile.
#include <doctest/doctest.h>

#include "runtime/dist/transfer_log.h"

using namespace lunagrad::dist;

TEST_CASE("travels: notes are kept while somebody watches, within a limit, and taken once") {
  TransferLog travels;
  CHECK_FALSE(travels.watched());
  travels.watch(true);
  CHECK(travels.watched());
  for (uint64_t i = 1; i <= 2003; ++i) travels.add({.number = i, .op = "barrier"});
  travels.waited({10, 20});
  const LoggedTransfers taken = travels.take();
  REQUIRE(taken.transfers.size() == 2000);
  CHECK(taken.transfers[0].number == 1);
  CHECK(taken.left_out == 3);
  REQUIRE(taken.waits.size() == 1);
  CHECK(taken.waits[0].end == 20);
  CHECK(travels.take().transfers.empty());
  travels.add({.number = 5});
  travels.watch(false);
  travels.watch(true);
  CHECK(travels.take().transfers.empty());
}

TEST_CASE("travels: the smallest delay of the last seconds bounds the clocks") {
  constexpr int64_t kSecond = 1'000'000'000;
  TransferLog travels;
  travels.heard(2, kSecond, kSecond + 500);
  travels.heard(2, 2 * kSecond, 2 * kSecond + 300);
  travels.heard(2, 3 * kSecond, 3 * kSecond + 900);
  CHECK(travels.nearest() == std::vector<int64_t>{TransferLog::kUnheard, TransferLog::kUnheard, 300});
  // The clocks drift: after two periods the old bound is gone.
  travels.heard(2, 7 * kSecond, 7 * kSecond + 800);
  CHECK(travels.nearest()[2] == 300);
  travels.heard(2, 20 * kSecond, 20 * kSecond + 700);
  CHECK(travels.nearest()[2] == 700);
}
