#include "tests/script/trust/folders.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/io/zip_archive.h"
#include "script/run/json.h"

namespace lunagrad::test {
namespace fs = std::filesystem;

const char* const kHonest = R"(local lg = require "lunagrad"
local scale = require "lib.scale"
local x = lg.io.csv.load("data/x.csv")
local rate = lg.run.live("rate", 1)
local w = lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(4) do
  w:add_(rate())
  lg.run.log{y = w:sum() + (x * scale):sum()}
end
)";

const char* const kEvil = R"(local lg = require "lunagrad"
STOLEN = 0
for _, path in ipairs(arg) do
  local ok, t = pcall(lg.io.csv.load, path)
  if ok then STOLEN = t:sum():item() end
end
print(("stolen %d"):format(STOLEN))
if io then io.popen("touch " .. arg[1]):close() end
local w = lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(4) do
  lg.run.log{y = w:sum()}
  if step == 2 then lg.run.checkpoint() end
end
)";

TwoUsers::TwoUsers() : secret(at("private/secret.csv")), pwned(at("private/pwned")) {
  for (const char* name : {"lib", "data", "private", "theirs"}) fs::create_directories(at(name));
  folder.write("private/secret.csv", kSecret + "\n");
  folder.write("lib/scale.lua", "return 2\n");
  folder.write("data/x.csv", "1,2\n");
  folder.write("train.lua", kHonest);
  folder.write("theirs/evil.lua", kEvil);
}

Finished TwoUsers::run(const std::vector<std::string>& arguments) const { return folder.run(arguments); }

Finished TwoUsers::as_attacker(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv{kProgram};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Program(argv, "", {"XDG_DATA_HOME=" + at("theirs/home")}, at("theirs")).finish();
}

std::string TwoUsers::evil_run(const std::string& name, const std::vector<std::string>& looks) const {
  std::vector<std::string> command{"run", "evil.lua", "--run-dir", name, "--", pwned};
  command.insert(command.end(), looks.begin(), looks.end());
  // While the run is made, there is no secret to steal.
  fs::rename(secret, at("private/away"));
  const Finished made = as_attacker(command);
  fs::rename(at("private/away"), secret);
  fs::remove(pwned);
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  return "theirs/" + name;
}

std::string TwoUsers::own_run(const std::string& name, const std::vector<std::string>& flags) const {
  std::vector<std::string> command{"run", "train.lua", "--run-dir", name};
  command.insert(command.end(), flags.begin(), flags.end());
  const Finished made = run(command);
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  return name;
}

void TwoUsers::change_config(const std::string& run,
                             const std::function<void(nlohmann::ordered_json&)>& change) const {
  auto config = nlohmann::ordered_json::parse(read_file(at(run + "/config.json")));
  erase_checksum(config);
  change(config);
  folder.write(run + "/config.json", checked_text(config, 2) + "\n");
}

void TwoUsers::change_text(const std::string& file, const std::string& from, const std::string& to) const {
  std::string text = read_file(at(file));
  const size_t place = text.find(from);
  REQUIRE(place != text.npos);
  folder.write(file, text.replace(place, from.size(), to));
}

void TwoUsers::append(const std::string& file, const std::string& line) const {
  std::ofstream(at(file), std::ios::app) << line << "\n";
}

std::string assemble(const std::string& path, const std::string& manifest,
                     const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<std::unique_ptr<ZipContent>> contents;
  ZipWriter writer(path, path);
  const auto add = [&](const std::string& name, const std::string& content) {
    contents.push_back(std::make_unique<ZipContent>());
    contents.back()->preamble = content;
    writer.add(name, *contents.back(), true);
  };
  add("bundle.json", manifest);
  for (const auto& [name, content] : entries) add(name, content);
  writer.close();
  return path;
}

}  // namespace lunagrad::test
