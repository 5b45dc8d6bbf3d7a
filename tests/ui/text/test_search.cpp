#include <doctest/doctest.h>

#include "tests/support/timing.h"
#include "ui/text/search.h"

using namespace lunagrad;

namespace {

constexpr double kLong = 60;

TextSearch searched(const TextBuffer& buffer, SearchQuery query) {
  TextSearch search;
  search.look_for(std::move(query));
  search.update(buffer, kLong);
  return search;
}

}  // namespace

TEST_CASE("plain text is found with and without its case") {
  const TextBuffer buffer("loss Loss\nLOSS.\n");
  CHECK(searched(buffer, {"loss"}).matches().size() == 3);
  CHECK(searched(buffer, {"Loss", true}).matches() == std::vector<TextRange>{{{0, 5}, {0, 9}}});
  CHECK(searched(buffer, {"."}).matches() == std::vector<TextRange>{{{1, 4}, {1, 5}}});
  const TextSearch search = searched(buffer, {"loss"});
  CHECK(search.next({0, 1}) == 1);
  CHECK(search.next({1, 1}) == 0);
  CHECK(search.previous({0, 0}) == 2);
  CHECK(search.previous({1, 0}) == 1);
}

TEST_CASE("an expression matches within lines, and an invalid one reports its error") {
  const TextBuffer buffer("fc1 fc22\nx\n");
  CHECK(searched(buffer, {"fc\\d+", true, true}).matches().size() == 2);
  CHECK(searched(buffer, {"x*", true, true}).matches().size() == 1);
  CHECK(searched(buffer, {"(", true, true}).error() == "a ( has no ), or the other way around");
  CHECK(searched(buffer, {"[a", true, true}).error() == "a [ has no ]");
  CHECK(searched(buffer, {"*", true, true}).error() == "nothing stands before a *, + or ?");
  CHECK(searched(buffer, {"(", true, true}).matches().empty());
}

TEST_CASE("an expression with exponential time in other engines is fast") {
  const TextBuffer buffer(std::string(5000, 'a') + "c\n");
  const double start = tests::process_seconds();
  CHECK(searched(buffer, {"(a+)+b", true, true}).matches().empty());
  CHECK(tests::process_seconds() - start < 20);
}

TEST_CASE("all matches are replaced as one step, groups included") {
  TextBuffer buffer("a1 a2\na3");
  TextSearch search = searched(buffer, {"a(\\d)", true, true});
  CHECK(search.replace_all(buffer, "$1b\n") == 3);
  CHECK(buffer.content() == "1b\n 2b\n\n3b\n");
  buffer.undo();
  CHECK(buffer.content() == "a1 a2\na3");
  search = searched(buffer, {"a"});
  CHECK(search.replace_all(buffer, "aa") == 3);
  CHECK(buffer.content() == "aa1 aa2\naa3");
}

TEST_CASE("a long text is searched in pieces") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "local layer = nn.Linear(10, 10)\n";
  const TextBuffer buffer(text);
  TextSearch search;
  search.look_for({"lin.ar", false, true});
  search.update(buffer, 0.001);
  CHECK_FALSE(search.complete());
  search.update(buffer, kLong);
  CHECK(search.complete());
  CHECK(search.matches().size() == 20000);
}
