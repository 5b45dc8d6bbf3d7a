#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "runtime/core/op.h"
#include "runtime/io/format.h"
#include "script/meta/explain.h"
#include "script/meta/help.h"
#include "script/meta/signature.h"
#include "script/meta/topics.h"
#include "tests/support/program.h"

using namespace lunagrad;

namespace {

const HelpEntry* entry(const std::string& name) {
  for (const HelpEntry& known : help_entries())
    if (known.name == name) return &known;
  return nullptr;
}

}  // namespace

TEST_CASE("help knows every operation, the modules and the sections of the guide") {
  for (const Signature& signature : signatures())
    if (!signature.op->hidden()) CHECK_MESSAGE(entry(signature.op->name), signature.op->name);
  for (const char* name : {"lg.nn.Linear", "lg.optim.Adam", "lg.run.steps", "lg.data.DataLoader", "x:size",
                           "training", "lg.nn.init.xavier_uniform_", "Module:parameters"})
    CHECK_MESSAGE(entry(name), name);
  for (const HelpEntry& known : help_entries()) {
    CHECK_MESSAGE(!known.name.empty(), known.call);
    CHECK_MESSAGE(!known.call.empty(), known.name);
    if (known.kind == HelpEntry::Kind::operation) CHECK_MESSAGE(known.text.size() > 4, known.name);
  }
}

TEST_CASE("annotations are read: tables, sentences, arguments, results") {
  const auto read = read_annotations(
      "---@class lunagrad.optim\nlocal optim = {}\n\n"
      "---Goes down.\n---Twice.\n---@param lr number|nil the rate\n---@param hook fun(x: Tensor, y: number): "
      "boolean called\n"
      "---@return Tensor\nfunction optim.Down(lr, hook) end\n\n"
      "---@class lunagrad.optim.Optimizer\n---@field lr number\nlocal Optimizer = {}\n"
      "function Optimizer:step() end\n-- remark\nfunction lonely() end\n");
  REQUIRE(read.size() == 2);
  CHECK(read[0].name == "lg.optim.Down");
  CHECK(read[0].call == "lg.optim.Down(lr, hook)");
  CHECK(read[0].text ==
        "Goes down.\nTwice.\n  lr  number|nil  the rate\n  hook  fun(x: Tensor, y: number): boolean  "
        "called\n  returns  Tensor\n");
  CHECK(read[1].name == "Optimizer:step");
  CHECK(read[1].text == "");
}

TEST_CASE("annotations are read: the function type of an assigned field") {
  const auto read = read_annotations(
      "---@class lunagrad.optim\nlocal optim = {}\n\n---Goes down.\n"
      "---@type fun(params: Tensor[], options?: {lr?: number, hook?: fun(x: Tensor): number}): Tensor\n"
      "optim.Down = class(\"Down\")\noptim.Down.rule = 1\n---@type number\noptim.other = 2\n"
      "---@type fun()\nelsewhere.f = 3\n");
  REQUIRE(read.size() == 1);
  CHECK(read[0].name == "lg.optim.Down");
  CHECK(read[0].call == "lg.optim.Down(params, options)");
  CHECK(read[0].text ==
        "Goes down.\n  params  Tensor[]\n  options?  {lr?: number, hook?: fun(x: Tensor): number}\n"
        "  returns  Tensor\n");
}

TEST_CASE("a search puts names before texts, and needs all words") {
  const auto names = [](const char* query) {
    std::vector<std::string> found;
    for (const HelpEntry* entry : search_help(query)) found.push_back(entry->name);
    return found;
  };
  REQUIRE(!names("softmax").empty());
  CHECK(names("softmax")[0] == "softmax");
  CHECK(names("LINEAR")[0] == "linear");
  const auto adam = names("adam");
  CHECK(std::find(adam.begin(), adam.end(), "lg.optim.AdamW") != adam.end());
  CHECK(names("softmax xyzzy").empty());
  CHECK(names("").size() == help_entries().size());
  const auto both = names("moving average");
  CHECK(std::find(both.begin(), both.end(), "EMA:update") ==
        both.end());  // its own sentence contains neither word
}

TEST_CASE("help explains every function of the library, with each of the options that it reads") {
  // Prints each name in lg, followed by the arguments that its reader declares and their defaults.
  const lunagrad::test::Folder folder;
  folder.write("names.lua", R"(
    local arguments = require "lunagrad.arguments"
    local made, read = arguments.reader, {}
    local function literal(value)
      if type(value) == "string" then return ("%q"):format(value) end
      if math.type(value) == "float" then return (("%.6g"):format(value):gsub("e%+?(-?)0*", "e%1")) end
      if type(value) ~= "table" then return tostring(value) end
      local items = {}
      for i, item in ipairs(value) do items[i] = literal(item) end
      return "{" .. table.concat(items, ", ") .. "}"
    end
    function arguments.reader(owner, ...)
      local names, defaults = {}, {}
      for i, spec in ipairs {...} do
        names[i] = type(spec) == "table" and spec[1] or spec
        if type(spec) == "table" and spec[2] ~= nil and names[i] ~= "last_epoch" then
          defaults[#defaults + 1] = spec[1] .. " = " .. literal(spec[2])
        end
      end
      read[owner] = table.concat(names, " ") .. "\t" .. table.concat(defaults, ", ")
      return made(owner, ...)
    end
    local lg = require "lunagrad"
    local seen, readers = {[lg.methods] = true}, {}
    for _, part in ipairs {"nn", "optim", "optim.lr_scheduler", "data", "data.transform", "func", "distributions"} do
      readers["lg." .. part .. "."] = true
    end
    local function walk(path, holder)
      if seen[holder] then return end
      seen[holder] = true
      for name, value in pairs(holder) do
        if type(name) == "string" and name:sub(1, 1) ~= "_" then
          local class = type(value) == "table" and rawget(value, "__name")
          if type(value) == "function" or class then print(path .. name, readers[path] and read[name] or "") end
          if type(value) == "table" and not class then walk(path .. name .. ".", value) end
        end
      end
    end
    for _, part in ipairs {"nn", "optim", "data", "grad", "run", "checkpoint_sequential", "func", "distributions"} do
      local _ = lg[part]
    end
    walk("lg.", lg)
  )");
  std::istringstream names(folder.run({"run", "names.lua"}).out);
  int count = 0;
  for (std::string line; std::getline(names, line); ++count) {
    const size_t tab = line.find('\t', line.find('\t') + 1);
    std::istringstream words(line.substr(0, tab));
    std::string path, word;
    words >> path;
    std::string text = explain(path);
    CHECK_MESSAGE(!text.empty(), path);
    if (tab != line.npos && tab + 1 < line.size()) {
      std::string sentences = text;
      for (size_t at; (at = sentences.find("\n  ")) != sentences.npos;) sentences.replace(at, 3, " ");
      const std::string defaults = "Defaults: " + line.substr(tab + 1) + ".";
      CHECK_MESSAGE(sentences.find(defaults) != std::string::npos, path << " lacks " << defaults);
    }
    while (words >> word)
      if (word != "last_epoch")  // an argument of every schedule, which its state sets
        CHECK_MESSAGE(text.find(word) != std::string::npos, path << " reads " << word);
  }
  CHECK(count > 400);
}

TEST_CASE("help lists each file format with its sentence") {
  const test::Folder folder;
  const std::string formats = folder.run({"help", "formats"}).out;
  for (const FileFormat* format : file_formats()) CHECK(formats.find(format->about) != std::string::npos);
}

TEST_CASE(
    "help shows what its own list offers: pages with their introduction, sections, commands and theirs") {
  const test::Folder folder;
  // Pages, each with its introduction and all sections.
  for (const Topic& topic : topic_list()) {
    CAPTURE(topic.document);
    CAPTURE(topic.name);
    CHECK(!topic.text.empty());
    CHECK(list_topics().find(topic.name) != std::string::npos);
    const std::string page = explain_topic(topic.document), section = explain_topic(topic.name);
    if (topic.name == topic.document) CHECK(page.starts_with(topic.text));
    CHECK(page.find(topic.text) != std::string::npos);
    CHECK(!section.empty());
  }
  CHECK(explain_topic("window").starts_with("The window\n"));
  CHECK(explain_topic("distributed").starts_with("Several processes, one script\n"));
  CHECK(explain_topic("distributed").find("lg.distributed.rank()") != std::string::npos);
  // A section whose name a page, a command or another section has, too, is shown behind its page's name.
  const test::Finished window = folder.run({"help", "window"});
  CHECK(window.out.find("\nThe top row controls the run") != std::string::npos);
  CHECK(window.out.ends_with("\nSee also: lunagrad help troubleshooting window\n"));
  CHECK(folder.run({"help", "tape"}).out.find("lunagrad help window tape") != std::string::npos);
  for (const Topic& topic : topic_list()) {
    if (topic.name == topic.document) continue;
    const std::string shown = folder.run({"help", topic.document, topic.name}).out;
    CHECK_MESSAGE(shown.starts_with(topic.text), topic.document << " " << topic.name);
  }
  CHECK(folder.run({"help", "exit", "codes"}).out == folder.run({"help", "exit-codes"}).out);
  // Commands and their subcommands.
  CHECK(folder.run({"help", "runs", "show"}).out == folder.run({"runs", "show", "--help"}).out);
  CHECK(folder.run({"help", "sweep", "new"}).out == folder.run({"sweep", "new", "--help"}).out);
}
