// Keyframes: their content, their files, and which of them stay.
#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/checksum.h"
#include "script/time/keyframe.h"
#include "script/time/memory_keyframes.h"
#include "script/time/spacing.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

Snapshot word(const std::string& text) { return {text}; }

Keyframe sample() {
  Snapshot::Array weights{DType::f32, {2, 3}, false, std::string(24, 'w')};
  Snapshot::Table model{{word("weight"), {weights}}, {{int64_t(7)}, {0.5}}, {{true}, {std::monostate()}}};
  Snapshot::Table states{{word("model"), {model}}};
  Keyframe keyframe;
  keyframe.step = 40;
  keyframe.content = {Snapshot::Table{{word("states"), {states}}, {word("rng"), word("seed")}}};
  keyframe.params = {{"rate", "0.1", "0.2", "0.1", true}};
  keyframe.hashes = state_hashes(keyframe.content);
  return keyframe;
}

}  // namespace

TEST_CASE("a keyframe is read as it was written, and any damage is noticed") {
  const Keyframe keyframe = sample();
  const std::string bytes = encode(keyframe);
  const Keyframe read = decode(bytes, "f");
  CHECK(read.step == 40);
  CHECK(read.hashes == keyframe.hashes);
  CHECK(read.hashes.contains("model.weight"));
  CHECK(encode(read) == bytes);
  REQUIRE(read.params.size() == 1);
  CHECK(read.params[0].edited);
  const size_t weights = bytes.find(std::string(24, 'w'));
  size_t named = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    const std::string message = message_of([&] { decode(damaged, "f"); });
    CHECK(message.starts_with("f: a damaged keyframe: "));
    const bool of_weight =
        message ==
        "f: a damaged keyframe: tensor 'states.model.weight' is damaged: its checksum is another one";
    if (i >= weights && i < weights + 24) CHECK(of_weight);
    named += of_weight;
    CHECK(message_of([&] { decode(bytes.substr(0, i), "f"); }).starts_with("f: a damaged keyframe: "));
  }
  // Its type, shape and length come before its 24 bytes; a damaged index names nothing.
  CHECK(named == 24 + 1 + 3 + 2 * 8 + 8);
  std::mt19937_64 random(1);
  for (int i = 0; i < (long_run() ? 20000 : 1000); ++i) {
    const Damaged bad = damaged(bytes, random);
    CAPTURE(bad.what);
    CHECK(message_of([&] { decode(bad.content, "f"); }).starts_with("f: a damaged keyframe: "));
  }
}

TEST_CASE("hashes differ in each bit and each length") {
  const std::string zeros(100, '\0');
  Hashes seen;
  for (size_t count = 0; count <= zeros.size(); ++count)
    CHECK(seen.emplace(std::to_string(hash_of(zeros.data(), count)), count).second);
  for (size_t bit = 0; bit < 8 * zeros.size(); ++bit) {
    std::string changed = zeros;
    changed[bit / 8] = char(1 << bit % 8);
    CHECK(seen.emplace(std::to_string(hash_of(changed.data(), changed.size())), bit).second);
  }
}

TEST_CASE("keyframes thin out with age, within the budget, and the first stays") {
  Spacing spacing(50);
  std::vector<int64_t> kept;
  for (int64_t step = 1; step <= 2000; ++step) {
    spacing.taken(step, 1, 1000 + uint64_t(step), 1);
    kept.push_back(step);
    while (const auto dropped = spacing.next_to_drop()) std::erase(kept, *dropped);
    CHECK(spacing.bytes() <= 50);
  }
  CHECK(kept.size() == 50);
  CHECK(kept.front() == 1);
  CHECK(kept.back() == 2000);
  CHECK(kept[2] - kept[1] > 8 * (kept[49] - kept[48]));
  int64_t widest = 0;  // never much wider than the age of its newer end
  for (size_t i = 2; i < kept.size(); ++i)
    widest = std::max(widest, 10 * (kept[i] - kept[i - 1]) / (2100 - kept[i]));
  CHECK(widest < 10);
  spacing.forget_after(1500);
  CHECK(spacing.bytes() ==
        size_t(std::count_if(kept.begin(), kept.end(), [](int64_t s) { return s <= 1500; })));
}

TEST_CASE("taking keyframes costs less than a twentieth of the time") {
  Spacing spacing(size_t(1) << 30);
  uint64_t now = 1000, spent = 0;
  for (int64_t step = 1; step <= 10000; ++step) {
    now += 100;
    if (!spacing.due(now)) continue;
    now += 70;
    spent += 70;
    spacing.taken(step, 8, now, 70);
    while (spacing.next_to_drop()) {
    }
  }
  CHECK(double(spent) / double(now) > 0.035);
  CHECK(double(spent) / double(now) < 0.05);
}

TEST_CASE("a smaller budget drops keyframes at once, but neither the first nor the latest") {
  MemoryKeyframes keyframes(size_t(1) << 20);
  for (const int64_t step : {10, 20, 30, 40}) {
    auto keyframe = std::make_shared<Keyframe>(sample());
    keyframe->step = step;
    keyframes.take(keyframe, 1);
  }
  REQUIRE(keyframes.steps().size() == 4);
  keyframes.set_budget(1);
  CHECK(keyframes.steps() == std::vector<int64_t>{10, 40});
}

TEST_CASE("a run that goes on from an earlier step voids later keyframes") {
  MemoryKeyframes keyframes(size_t(1) << 20);
  for (const int64_t step : {10, 20, 30}) {
    auto keyframe = std::make_shared<Keyframe>(sample());
    keyframe->step = step;
    keyframes.take(keyframe, 1);
  }
  CHECK(keyframes.latest(1, 25)->step == 20);
  CHECK(!keyframes.latest(21, 25));
  keyframes.begin(20);
  CHECK(keyframes.steps() == std::vector<int64_t>{10, 20});
}
