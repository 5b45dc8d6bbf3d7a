// Paths as text: any bytes become UTF-8 and come back.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "runtime/core/path_text.h"

using namespace lunagrad;

TEST_CASE("paths become UTF-8 and come back as they were") {
  const std::pair<std::string, std::string> known[] = {
      {"", ""},
      {"runs/a b.lua", "runs/a b.lua"},
      {"caf\xc3\xa9/\xf0\x9f\x8c\x99", "caf\xc3\xa9/\xf0\x9f\x8c\x99"},
      {"caf\xe9", "caf\\xe9"},
      {"a\\b", "a\\b"},
      {"a\\b\xff", "a\\x5cb\\xff"},
      {"a\\xe9", "a\\x5cxe9"},
      {"a\\xE9", "a\\xE9"},
      {"\xc0\x80", "\\xc0\\x80"},                    // longer than needed
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above U+10FFFF
      {"\xe2\x82", "\\xe2\\x82"},
  };
  for (const auto& [path, text] : known) {
    CHECK(path_text(path) == text);
    CHECK(path_of_text(text) == path);
  }
  std::mt19937_64 random(7);
  const std::string pieces[] = {"\\",       "x", "e9", "5c",           "\xe9", "\xc3\xa9",
                                "\xf0\x9f", "a", "/",  "\xed\xa0\x80", "\n"};
  for (int i = 0; i < 20000; ++i) {
    std::string path;
    for (uint64_t left = random() % 12; left > 0; --left)
      path += random() % 4 ? pieces[random() % std::size(pieces)] : std::string(1, char(random()));
    const std::string text = path_text(path);
    REQUIRE(path_of_text(text) == path);
    REQUIRE_NOTHROW(nlohmann::json(text).dump());
  }
}
