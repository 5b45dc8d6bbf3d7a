// The documents are complete: operations and sections are topics of help, messages and flags are the
// program's, and the names in the table of PyTorch exist. test_pages.cpp types their commands.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "folders.h"
#include "script/meta/signature.h"
#include "script/meta/topics.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;

namespace {

// Appends a source text with adjacent string literals joined and quotes unescaped.
void append_joined(const std::string& source, std::string& out) {
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\' && source[i + 1] == '"') {
      out += source[++i];
    } else if (source[i] == '"') {
      const size_t next = source.find_first_not_of(" \n", i + 1);
      if (next != std::string::npos && source[next] == '"')
        i = next;
      else
        out += source[i];
    } else {
      out += source[i];
    }
  }
}

std::string all_sources() {
  std::string all = read_file(LUNAGRAD_SOURCE_DIR "/setup.sh");
  for (const char* folder : {"runtime", "gpu", "script", "ui"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(LUNAGRAD_SOURCE_DIR "/") + folder))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
        append_joined(read_file(entry.path().string()), all);
  return all;
}

// The parts of a message between dots that stand for values.
std::vector<std::string> fixed_parts(const std::string& message) {
  const std::string dots = "…";
  std::vector<std::string> parts;
  for (size_t at = 0; at <= message.size();) {
    const size_t end = std::min(message.find(dots, at), message.size());
    parts.push_back(message.substr(at, end - at));
    at = end + dots.size();
  }
  return parts;
}

}  // namespace

TEST_CASE("help lists every operation with its arguments") {
  const Folder folder;
  const std::string table = folder.run({"help", "operations"}).out;
  CHECK(table.starts_with("Operations\n"));
  for (const Signature& signature : signatures()) {
    const std::string row = "| `" + std::string(signature.op->name) + "` | `" + signature.names + "` | ";
    CHECK_MESSAGE((table.find(row) != std::string::npos) != signature.op->hidden(), row);
  }
}

TEST_CASE("help says of each name of PyTorch what it is here") {
  const Folder folder;
  const auto help = [&](const char* name) { return folder.run({"help", name}).out; };
  CHECK(help("torch.nn.Linear").starts_with("torch.nn.Linear: lg.nn.Linear\n"));
  CHECK(help("torch.save").starts_with("torch.save: lg.io.save; "));
  CHECK(help("torch.special.bessel_j0")
            .starts_with("torch.special.bessel_j0: there is no such function here; "));
  CHECK(help("torch.fake_quantize_per_tensor_affine").find("there is no such function") == std::string::npos);
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
  CHECK(list.starts_with(folder.run({"--help"}).out));  // the list of commands, then the topics
  for (const char* topic : {"training", "stopping-and-going-on", "exit-codes", "operations"}) {
    CHECK(list.find(topic) != std::string::npos);
    CHECK(folder.run({"help", topic}).out.size() > 100);
  }
  const std::string training = folder.run({"help", "training"}).out;
  CHECK(training.starts_with("Training\n"));
  CHECK(training.find("    local lg = require") != std::string::npos);  // code is indented
  CHECK(training.find("Saving and predicting") != std::string::npos);   // the sections within
  CHECK(training.find("Stopping and going on") == std::string::npos);   // and not the next
  const std::string tutorial = folder.run({"help", "tutorial"}).out;    // a whole document
  CHECK(tutorial.find("Finding the line") != std::string::npos);
  CHECK(tutorial.find("![") == std::string::npos);
  CHECK(folder.run({"help", "first"}).out == folder.run({"help", "a-first-script"}).out);
}

TEST_CASE("the messages that the page of troubles explains are in the program") {
  const std::string sources = all_sources();
  std::istringstream page(read_file(LUNAGRAD_SOURCE_DIR "/docs/troubleshooting.md"));
  const std::regex code("`([^`]*)`");
  size_t count = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ")) continue;
    const std::string cell = line.substr(2, line.find(" | ", 2) - 2);
    for (std::sregex_iterator it(cell.begin(), cell.end(), code), end; it != end; ++it) {
      const std::string message = (*it)[1].str();
      if (std::count(message.begin(), message.end(), ' ') < 3) continue;  // a name or a line of code
      ++count;
      for (const std::string& part : fixed_parts(message))
        CHECK_MESSAGE(sources.find(part) != std::string::npos, message << ": " << part);
    }
  }
  CHECK(count > 25);
}

TEST_CASE("the names in the documents exist, and those called missing in the page on PyTorch do not") {
  const Folder folder;
  const Finished finished =
      folder.run({"run", LUNAGRAD_SOURCE_DIR "/tests/lua/test_doc_names.lua", "--run-dir", "run"});
  INFO(finished.err);
  CHECK(finished.code == 0);
}

TEST_CASE("the flags in the documents exist") {
  const Folder folder;
  const std::regex command(
      "(lunagrad|`)( |)(run|repl|test|check|doctor|init|runs|serve|repro|devices|bench|meta|convert|info)"
      "( [^`#]*)?");
  const std::regex flag("--[a-z][a-z-]*");
  std::map<std::string, std::string> helps;
  size_t count = 0;
  for (const char* document : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guide.md",
                               "docs/tutorial.md", "docs/window.md", "docs/reference.md", "docs/sharing.md",
                               "docs/trust.md", "docs/troubleshooting.md", "docs/pytorch.md"}) {
    std::istringstream page(read_file(std::string(LUNAGRAD_SOURCE_DIR "/") + document));
    for (std::string line; std::getline(page, line);) {
      for (std::sregex_iterator it(line.begin(), line.end(), command), end; it != end; ++it) {
        const std::string name = (*it)[3].str(), rest = (*it)[4].str();
        std::string& help = helps[name];
        if (help.empty()) {
          help = folder.run({name, "--help"}).out;
          if (name == "runs") help += folder.run({"runs", "export", "--help"}).out;
        }
        for (std::sregex_iterator at(rest.begin(), rest.end(), flag), none; at != none; ++at, ++count)
          CHECK_MESSAGE(help.find(at->str()) != std::string::npos,
                        document << ": " << name << " " << at->str());
      }
    }
  }
  CHECK(count > 25);
}
