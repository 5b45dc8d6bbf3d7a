#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "folders.h"
#include "tests/support/files.h"
#include "ui/workbench/example_needs.h"

using namespace lunagrad;

TEST_CASE("an example says in its first comment which arguments it needs") {
  const tests::Folder folder;
  const auto needs = [&](const char* text) {
    std::ofstream(folder.file("x.lua")) << text;
    return needed_arguments(folder.file("x.lua"));
  };
  CHECK(needs("-- A model.\n--   lunagrad run x.lua -- FILE\nlocal x\n") == "FILE");
  CHECK(needs("-- A model.\n--   lunagrad run x.lua -- FOLDER NAME   trains it\n") == "FOLDER NAME");
  CHECK(needs("-- A model.\n--   lunagrad run x.lua --run-dir mine\n").empty());
  CHECK(needs("-- A model.\nlocal x = 1\n--   lunagrad run x.lua -- FILE\n").empty());
  CHECK(needs("").empty());
  CHECK(needed_arguments(folder.file("absent.lua")).empty());
  const auto example = [](const char* name) {
    return needed_arguments(std::string(LUNAGRAD_SOURCE_DIR "/examples/") + name + ".lua");
  };
  CHECK(example("05_mnist_cnn") == "FOLDER");
  CHECK(example("06_char_lm") == "FILE");
  CHECK(example("07_transformer") == "FILE");
  for (const char* name : {"01_tensors", "04_digits_mlp", "09_vae", "12_resume", "13_sweep"})
    CHECK(example(name).empty());
}
