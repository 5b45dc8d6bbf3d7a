#include <GLFW/glfw3.h>
#include <doctest/doctest.h>

#include "script/lua/drive_script.h"
#include "tests/support/files.h"
#include "ui/app/drive_keys.h"

using namespace lunagrad;
using Values = DriveScript::Values;

namespace {

// A script with functions that record their calls: `said(...)`, which returns its arguments; `later(n)`,
// which is done at the n-th poll; `refuse()`, which fails, and `refuse_later()`.
struct Played {
  std::vector<Values> said;
  int slices = 0;
  std::string error;

  explicit Played(const std::string& code, const std::vector<std::string>& arguments = {}) {
    const tests::Folder folder;
    const std::string path = folder.with("played.lua", code);
    std::map<std::string, DriveScript::Function> functions;
    functions["said"] = [this](const Values& values) -> DriveScript::Poll {
      said.push_back(values);
      return [values] { return std::optional(values); };
    };
    functions["later"] = [](const Values& values) -> DriveScript::Poll {
      return [left = std::get<double>(values.at(0))]() mutable {
        return left-- <= 0 ? std::optional(Values{std::string("now")}) : std::nullopt;
      };
    };
    functions["refuse"] = [](const Values&) -> DriveScript::Poll { throw std::runtime_error("not this"); };
    functions["refuse_later"] = [](const Values&) -> DriveScript::Poll {
      return [asked = 0]() mutable -> std::optional<Values> {
        if (asked++ == 0) return std::nullopt;
        throw std::runtime_error("not that");
      };
    };
    functions["names"] = [](const Values&) -> DriveScript::Poll {
      return [] { return std::optional(Values{std::vector<std::string>{"a", "b"}, 2.5, std::monostate()}); };
    };
    DriveScript script(path, arguments, functions);
    for (slices = 1; !script.resume(); ++slices) REQUIRE(slices < 1000);
    error = script.error();
  }
};

}  // namespace

TEST_CASE("values convert between Lua and C++ in both directions") {
  const Played played(R"(
    local x, text, yes, none = ui.said(1.5, "a\0b", true, nil)
    assert(x == 1.5 and text == "a\0b" and yes == true and none == nil)
    local list, number, nothing = ui.names()
    assert(#list == 2 and list[2] == "b" and number == 2.5 and nothing == nil)
    assert(math.type(ui.said(3)) == "integer")
    local first, second = ...
    assert(arg[1] == "dark" and first == "dark" and second == "800" and arg[0]:match("played.lua"))
  )",
                      {"dark", "800"});
  CHECK(played.error.empty());
  CHECK(played.slices == 1);
  REQUIRE(played.said.size() == 2);
  CHECK(played.said[0] == Values{1.5, std::string("a\0b", 3), true, std::monostate()});
}

TEST_CASE("an unfinished call suspends the drive, also inside pcall") {
  const Played played(R"(
    assert(ui.later(3) == "now")
    local ok, text = pcall(function() return ui.later(2) end)
    assert(ok and text == "now")
    coroutine.yield()
    ui.said("end")
  )");
  CHECK(played.error.empty());
  CHECK(played.slices == 1 + 3 + 2 + 1);
  CHECK(played.said.size() == 1);
}

TEST_CASE("a drive that fails says where and why") {
  CHECK(Played("\nui.refuse()").error.find("played.lua:2: not this") != std::string::npos);
  CHECK(Played("\n\nui.refuse_later()").error.find("played.lua:3: not that") != std::string::npos);
  const std::string inner = Played("local function f()\n ui.refuse()\nend\nf()").error;
  CHECK(inner.find("played.lua:2: not this") != std::string::npos);
  CHECK(inner.find("played.lua:4: in main chunk") != std::string::npos);
  CHECK(Played("assert(not pcall(ui.refuse)); assert(not pcall(ui.refuse_later))").error.empty());
  CHECK(Played("ui.said(print)")
            .error.find("argument 1 must be a string, a number, a boolean or a table, got") !=
        std::string::npos);
  CHECK(Played("coroutine.wrap(ui.said)(1)").error.find("inside a coroutine") != std::string::npos);
  CHECK(Played("ui.click(").error.find("played.lua:1:") != std::string::npos);
  CHECK(Played("error({})").error.find("table") != std::string::npos);
  CHECK_THROWS_WITH(DriveScript("/nonexistent", {}, {}), "drive: cannot read /nonexistent");
}

TEST_CASE("keys are known by the names of a US keyboard") {
  const auto code = [](std::string_view name) { return key_press(name) ? key_press(name)->key : 0; };
  CHECK(code("F5") == GLFW_KEY_F5);
  CHECK(code("F12") == GLFW_KEY_F12);
  CHECK(code("A") == GLFW_KEY_A);
  CHECK(code("7") == GLFW_KEY_7);
  CHECK(code("/") == GLFW_KEY_SLASH);
  CHECK(code("PageDown") == GLFW_KEY_PAGE_DOWN);
  const auto palette = key_press("Shift+Ctrl+P");
  REQUIRE(palette);
  CHECK(palette->ctrl);
  CHECK(palette->shift);
  CHECK_FALSE(palette->alt);
  CHECK(key_press("Alt+Left")->alt);
  for (const char* wrong : {"", "F0", "F26", "F5x", "a", "Ctrl+", "Hyper+Q", "Enter2"})
    CHECK_MESSAGE(!key_press(wrong), wrong);
}
