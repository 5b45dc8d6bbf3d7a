// The parts of Profiler, Data, Media and Console that need no window.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "ui/inspect/batch_shapes.h"
#include "ui/runs/console_lines.h"
#include "ui/runs/media_log.h"
#include "ui/text/prompt.h"
#include "ui/widgets/timeline.h"
#include "ui/workbench/links.h"

using namespace lunagrad;

namespace {

std::vector<TimeBlock> blocks_of(int count) {
  std::vector<TimeBlock> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back({10.0 * i, 8, 0, i, false});
  return blocks;
}

ColumnView values(std::vector<int64_t> shape, const char* dtype, std::vector<float> numbers) {
  ColumnView view;
  view.shape = std::move(shape);
  view.dtype = dtype;
  view.statistics.count = 1;
  for (const int64_t size : view.shape) view.statistics.count *= size;
  view.values = std::move(numbers);
  if (!view.values.empty()) {
    view.statistics.min = double(*std::min_element(view.values.begin(), view.values.end()));
    view.statistics.max = double(*std::max_element(view.values.begin(), view.values.end()));
  }
  return view;
}

Event picture(const char* name, int64_t step, int side) {
  Media media;
  media.name = name;
  media.width = media.height = media.shown_width = media.shown_height = side;
  media.pixels.assign(size_t(side) * size_t(side), 0xff000000);
  Event event{};
  event.kind = Event::Kind::image;
  event.text = name;
  event.step = step;
  event.media = std::make_shared<const Media>(std::move(media));
  return event;
}

std::string shown(const ConsoleLines& lines, const Journal& journal) {
  std::string all;
  for (size_t i = 0; i < lines.size(); ++i) {
    all += journal.lines()[size_t(lines[i].line - journal.lines_dropped())].text;
    if (lines[i].collapsed) all += "+" + std::to_string(lines[i].collapsed);
    all += "|";
  }
  return all;
}

constexpr uint32_t kAll = ~0u;

}  // namespace

TEST_CASE("the search for the first visible block equals a linear scan") {
  const std::vector<TimeBlock> blocks = blocks_of(500);
  for (double at = -15; at < 5100; at += 3.5) {
    size_t expected = 0;
    while (expected < blocks.size() && blocks[expected].start + blocks[expected].length <= at) ++expected;
    CHECK(first_block_behind(blocks, at) == expected);
  }
}

TEST_CASE("a time axis shows everything until it is zoomed, and its tick labels differ") {
  TimeAxis axis;
  axis.update(5000);
  CHECK(axis.high == 5000);
  CHECK(axis.x_of(2500, 100, 300) == doctest::Approx(200));
  axis.low = 1000;
  axis.high = 1100;
  axis.fits = false;
  axis.update(9000);
  CHECK(axis.high == 1100);
  CHECK(time_axis_text(1.25e6, 0.05e6) == "1.25 ms");
  CHECK(time_axis_text(1.30e6, 0.05e6) == "1.30 ms");
  CHECK(time_axis_text(2000, 1000) == "2 µs");
}

TEST_CASE("a batch is classified as pictures, text or rows") {
  CHECK(look_of(values({8, 1, 28, 28}, "f32", {})) == BatchLook::pictures);
  CHECK(look_of(values({8, 28, 28, 3}, "u8", {})) == BatchLook::pictures);
  CHECK(look_of(values({8, 28, 28}, "f32", {})) == BatchLook::pictures);
  CHECK(look_of(values({2, 4}, "i64", {72, 105, 33, 10, 97, 98, 99, 100})) == BatchLook::text);
  CHECK(look_of(values({2, 4}, "i64", {0, 1, 2, 3, 0, 1, 2, 3})) == BatchLook::rows);
  CHECK(look_of(values({8, 64}, "f32", {})) == BatchLook::rows);
  CHECK(can_be_pictures(values({8, 64}, "f32", {})));
  CHECK_FALSE(can_be_pictures(values({8, 63}, "f32", {})));
  CHECK_FALSE(can_be_pictures(values({8}, "f32", {})));
  CHECK_FALSE(can_be_pictures(values({0, 1, 28, 28}, "f32", {})));
  CHECK(whole_samples(values({3, 2}, "f32", {1, 2, 3})) == 1);
  CHECK(text_sample(values({2, 3}, "u8", {65, 10, 66, 67, 0, 68}), 0) == "A↵B");
  CHECK(text_sample(values({2, 3}, "u8", {65, 10, 66, 67, 0, 68}), 1) == "C·D");
}

TEST_CASE("pictures become tiles of a sheet, with channels in either order") {
  std::vector<float> numbers(size_t(3 * 3 * 4 * 4));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i % 256);
  const PictureSheet planes = picture_sheet(values({3, 3, 4, 4}, "u8", numbers), 100, 64);
  REQUIRE(planes.count == 3);
  REQUIRE(planes.columns >= 2);
  const auto pixel = [&](const PictureSheet& sheet, int i, int x, int y) {
    const int left = i % sheet.columns * sheet.tile_width, top = i / sheet.columns * sheet.tile_height;
    return sheet.pixels[size_t((top + y) * sheet.width + left + x)];
  };
  // Picture 1, row 2, column 3: elements 48 + 11, + 16 and + 32.
  CHECK(pixel(planes, 1, 3, 2) == (0xff000000u | 91u << 16 | 75u << 8 | 59u));
  // Five rows of four: picture 1 begins at element 60, row 2 at 24, column 3 at 9.
  numbers.resize(3 * 5 * 4 * 3);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const PictureSheet last = picture_sheet(values({3, 5, 4, 3}, "u8", numbers), 100, 64);
  CHECK(pixel(last, 1, 3, 2) == (0xff000000u | 95u << 16 | 94u << 8 | 93u));
  CHECK(picture_sheet(values({3, 3, 4, 4}, "u8", numbers), 2, 64).count == 2);
  CHECK(picture_sheet(values({3, 3, 4, 4}, "u8", numbers), 100, 3).count == 0);
  // NaN is not shown as a grey.
  ColumnView odd = values({1, 1, 4, 4}, "f32", std::vector<float>(16, 0.5f));
  odd.values[1] = std::nanf("");
  CHECK(picture_sheet(odd, 1, 64).pixels[1] == 0xffff00ff);
}

TEST_CASE("media stay within their budget and keep the newest") {
  MediaLog log(200000);
  for (int64_t step = 1; step <= 200; ++step) log.add(picture("large", step, 50));
  log.add(picture("small", 200, 2));
  CHECK(log.bytes() <= 200000);
  REQUIRE(log.series().size() == 2);
  const MediaSeries& large = log.series()[0];
  CHECK(large.entries.back().step == 200);
  CHECK(large.entries.front().step < 100);
  CHECK(large.thinned + int64_t(large.entries.size()) == 200);
  for (size_t i = 1; i < large.entries.size(); ++i) CHECK(large.entries[i - 1].step < large.entries[i].step);
  log.clear();
  CHECK(log.bytes() == 0);
}

TEST_CASE("tracebacks collapse behind their message, and expand") {
  Journal journal;
  ConsoleLines lines;
  lines.set_filter("", kAll);
  journal.write(ConsoleLine::Kind::output, "before\n");
  journal.write(ConsoleLine::Kind::error, "a.lua:3: wrong\n  a.lua:3: in f\n  a.lua:9: in main chunk\n",
                {"a.lua", 3});
  journal.write(ConsoleLine::Kind::output, "behind\n");
  lines.update(journal);
  CHECK(shown(lines, journal) == "before|a.lua:3: wrong+2|behind|");
  const uint64_t version = lines.version();
  lines.toggle(1);
  lines.update(journal);
  CHECK(shown(lines, journal) == "before|a.lua:3: wrong|  a.lua:3: in f|  a.lua:9: in main chunk|behind|");
  CHECK(lines[1].opens);
  CHECK_FALSE(lines[2].opens);
  CHECK(lines.version() != version);
  // A filter also searches collapsed lines.
  lines.set_filter("MAIN", kAll);
  lines.update(journal);
  CHECK(shown(lines, journal) == "  a.lua:9: in main chunk|");
  CHECK(lines.hidden() == 4);
  lines.set_filter("", 1u << int(ConsoleLine::Kind::output));
  lines.update(journal);
  CHECK(shown(lines, journal) == "before|behind|");
}

TEST_CASE("lines that grow, are dropped or cleared are tracked") {
  Journal journal;
  ConsoleLines lines;
  lines.set_filter("x", kAll);
  journal.write(ConsoleLine::Kind::output, "par");
  lines.update(journal);
  CHECK(lines.size() == 0);
  journal.write(ConsoleLine::Kind::output, "t x\nsecond\n");
  lines.update(journal);
  CHECK(shown(lines, journal) == "part x|");
  CHECK(lines.hidden() == 1);
  for (size_t i = 0; i < Journal::kMostLines + 10; ++i) journal.write(ConsoleLine::Kind::output, "x\n");
  lines.update(journal);
  CHECK(lines.size() == Journal::kMostLines);
  CHECK(lines.first() == 1);  // of the visible lines only "part x" is gone
  journal.clear_console();
  lines.update(journal);
  CHECK(lines.size() == 0);
  journal.write(ConsoleLine::Kind::output, "x again\n");
  lines.update(journal);
  CHECK(shown(lines, journal) == "x again|");
}

TEST_CASE("places in a text are found with their positions") {
  const auto places = places_in("./dir/train.lua:12: bad (see 'x.lua:3') time.lua: no .lua:7 y.lua:");
  REQUIRE(places.size() == 2);
  CHECK(places[0].place.file == "./dir/train.lua");
  CHECK(places[0].place.line == 12);
  CHECK(places[0].begin == 0);
  CHECK(places[0].end == std::strlen("./dir/train.lua:12"));
  CHECK(places[1].place.file == "x.lua");
  CHECK(places[1].place.line == 3);
}

TEST_CASE("entries are recalled, and saved as text") {
  EntryHistory history;
  history.add("first");
  history.add("two\nlines \\ n");
  history.add("two\nlines \\ n");
  CHECK(history.size() == 2);
  CHECK(*history.back("draft") == "two\nlines \\ n");
  CHECK(*history.back("ignored") == "first");
  CHECK_FALSE(history.back("ignored"));
  CHECK(*history.on() == "two\nlines \\ n");
  CHECK(*history.on() == "draft");
  CHECK_FALSE(history.on());
  EntryHistory read;
  read.take_text(history.as_text());
  CHECK(read.size() == 2);
  CHECK(*read.back("") == "two\nlines \\ n");
  read.take_text(std::string("a\0b\n\\", 5));
  CHECK(read.size() == 1);
}
