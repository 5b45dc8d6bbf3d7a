// The scripts that stand in the documents run as they stand there.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "script/meta/signature.h"
#include "script/meta/topics.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;

namespace {

std::vector<std::string> lua_blocks(const std::string& document) {
  std::vector<std::string> blocks;
  std::istringstream in(read_file(LUNAGRAD_SOURCE_DIR "/" + document));
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "```lua") {
      inside = true;
      blocks.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

}  // namespace

TEST_CASE("the scripts of the documents run") {
  const Folder folder;
  std::filesystem::create_directory_symlink(LUNAGRAD_SOURCE_DIR "/assets", folder.path() + "/assets");
  size_t count = 0;
  for (const char* document : {"README.md", "docs/guide.md"}) {
    for (const std::string& block : lua_blocks(document)) {
      const std::string name = "block" + std::to_string(++count) + ".lua";
      folder.write(name, block);
      const bool tests = block.find("describe(") != std::string::npos;
      const Finished finished =
          folder.run(tests ? std::vector<std::string>{"test", name}
                           : std::vector<std::string>{"run", name, "--run-dir", name + ".run"});
      INFO(document, "\n", block, finished.err);
      CHECK(finished.code == 0);
    }
  }
  CHECK(count >= 4);
}

TEST_CASE("the page of the operations is what their records say") {
  const Folder folder;
  CHECK_MESSAGE(folder.run({"meta", "--table"}).out == read_file(LUNAGRAD_SOURCE_DIR "/docs/operations.md"),
                "make it again: cmake --build build --target records");
}

TEST_CASE("the records of the operations are printed as JSON") {
  const Folder folder;
  const nlohmann::json records = nlohmann::json::parse(folder.run({"meta", "--json"}).out);
  const auto record = [&](const char* name) -> const nlohmann::json& {
    return *std::find_if(records.begin(), records.end(),
                         [&](const nlohmann::json& r) { return r["name"] == name; });
  };
  CHECK(record("matmul")["family"] == "linear_algebra");
  CHECK(record("matmul")["autocast"] == "narrow");
  CHECK(record("tanh")["examples"][0]["inputs"][0]["shape"] == nlohmann::json({2, 3}));
  CHECK(record("pairwise_distance")["examples"][1]["params"]["keepdim"] == true);
}

TEST_CASE("each operation is explained with every parameter it takes") {
  for (const Signature& signature : signatures()) {
    if (signature.op->hidden()) continue;
    const std::string text = explain_name(signature.op->name);
    INFO(signature.op->name);
    CHECK(text.starts_with("lg." + std::string(signature.op->name) + "(" + signature.names + ")"));
    for (const Slot& slot : signature.slots)
      if (!slot.is_input) CHECK(text.find("\n  " + std::string(slot.name)) != std::string::npos);
  }
}

TEST_CASE("each section of the documents is a topic of help") {
  const Folder folder;
  const std::string list = folder.run({"help"}).out;
  for (const char* topic : {"training", "stopping-and-going-on", "exit-codes", "operations"}) {
    CHECK(list.find(topic) != std::string::npos);
    CHECK(folder.run({"help", topic}).out.size() > 100);
  }
  const std::string training = folder.run({"help", "training"}).out;
  CHECK(training.starts_with("Training\n"));
  CHECK(training.find("    local lg = require") != std::string::npos);     // code is indented
  CHECK(training.find("Looking at runs") != std::string::npos);            // the sections within
  CHECK(training.find("Why is the gradient wrong") == std::string::npos);  // and not the next
  CHECK(folder.run({"help", "first"}).out == folder.run({"help", "a-first-script"}).out);
}
