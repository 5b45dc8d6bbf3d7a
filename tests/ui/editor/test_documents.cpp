#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "tests/support/timing.h"
#include "ui/editor/documents.h"
#include "ui/editor/syntax_checker.h"
#include "ui/widgets/path_bar.h"

using namespace lunagrad;
namespace fs = std::filesystem;

namespace {

// A folder that is removed at the end of the test.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "lunagrad-texts-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

// Polls the disk until `there` is true.
template <class There>
bool wait_for(Documents& documents, std::vector<std::string>& changed, There there,
              const std::vector<std::string>& others = {}) {
  return tests::eventually([&] {
    documents.update(others, changed);
    return there();
  });
}

}  // namespace

TEST_CASE("saving through a link keeps bytes, line ends and permissions") {
  const Folder folder;
  write_file(folder / "a.lua", "one\r\ntwo\r\n");
  ::chmod((folder / "a.lua").c_str(), 0750);
  fs::create_symlink("a.lua", folder / "link.lua");
  Documents documents;
  Document& document = documents.open(folder / "link.lua");
  CHECK_FALSE(document.modified());
  document.buffer.type("x");
  CHECK(document.modified());
  documents.save(document);
  documents.settle();
  CHECK_FALSE(document.modified());
  CHECK(read_file(folder / "a.lua") == "xone\r\ntwo\r\n");
  CHECK(fs::is_symlink(folder / "link.lua"));
  struct stat status {};
  ::stat((folder / "a.lua").c_str(), &status);
  CHECK((status.st_mode & 0777) == 0750);
  document.buffer.undo();
  CHECK(document.modified());
  document.buffer.redo();
  CHECK_FALSE(document.modified());
  CHECK(&documents.open(folder / "a.lua") == &document);
}

TEST_CASE("a file that cannot be read or written is an error that names it, and no text is lost") {
  const Folder folder;
  Documents documents;
  CHECK_THROWS_WITH_AS(documents.open(folder / "none.lua"),
                       (folder / "none.lua: No such file or directory").c_str(), Error);
  CHECK_THROWS_AS(documents.open(folder.path), Error);
  CHECK(documents.count() == 0);
  CHECK(documents.active() == nullptr);
  write_file(folder / "a.lua", "old");
  Document& document = documents.open(folder / "a.lua");
  ::chmod((folder / "a.lua").c_str(), 0444);
  document.buffer.type("new ");
  CHECK_THROWS_AS(documents.save(document), Error);
  CHECK(read_file(folder / "a.lua") == "old");
  CHECK(document.buffer.content() == "new old");
  CHECK(document.read_only);
  std::string told;
  documents.save_as(document, folder / "no/such/folder.lua", [&](const std::string& error) { told = error; });
  documents.settle();
  CHECK(told.find("No such file or directory") != std::string::npos);
  CHECK(document.path == folder / "a.lua");
  documents.save_as(document, folder / "b.lua");
  documents.settle();
  CHECK(document.title == "b.lua");
  CHECK(read_file(folder / "b.lua") == "new old");
  CHECK_THROWS_AS(documents.save(documents.add_untitled()), Error);
  Document& empty = documents.create(folder / "empty.lua");
  documents.save(empty);
  documents.settle();
  CHECK(fs::file_size(folder / "empty.lua") == 0);
}

TEST_CASE("a change from outside is taken over, unless the text was changed here too") {
  const Folder folder;
  write_file(folder / "a.lua", "one");
  write_file(folder / "module.lua", "m");
  Documents documents;
  Document& document = documents.open(folder / "a.lua");
  std::vector<std::string> changed;
  const std::vector<std::string> others = {folder / "module.lua"};
  documents.update(others, changed);
  write_file(folder / "a.lua", "two!");
  REQUIRE(wait_for(
      documents, changed, [&] { return !changed.empty(); }, others));
  CHECK(changed == std::vector<std::string>{document.path});
  CHECK(document.buffer.content() == "two!");
  CHECK_FALSE(document.modified());
  document.buffer.undo();
  CHECK(document.buffer.content() == "one");
  document.buffer.redo();

  changed.clear();
  write_file(folder / "module.lua", "longer");
  REQUIRE(wait_for(
      documents, changed, [&] { return !changed.empty(); }, others));
  CHECK(changed == others);

  changed.clear();
  document.buffer.type("mine ");
  write_file(folder / "a.lua", "three!");
  REQUIRE(wait_for(documents, changed, [&] { return document.trouble == Document::Trouble::conflict; }));
  CHECK(changed.empty());
  CHECK(document.buffer.content().find("mine") != std::string::npos);
  documents.take_from_disk(document);
  CHECK(document.buffer.content() == "three!");
  CHECK(document.trouble == Document::Trouble::none);

  fs::remove(folder / "a.lua");
  REQUIRE(wait_for(documents, changed, [&] { return document.trouble == Document::Trouble::gone; }));
  CHECK(document.buffer.content() == "three!");
  documents.save(document);
  documents.settle();
  CHECK(read_file(folder / "a.lua") == "three!");
  CHECK(document.trouble == Document::Trouble::none);
}

TEST_CASE("unsaved text survives its process, and saved text leaves no files") {
  const Folder folder;
  write_file(folder / "a.lua", "saved");
  const std::string state = folder / "autosave";
  {
    Documents documents(state);
    documents.open(folder / "a.lua").buffer.type("un");
    documents.add_untitled().buffer.type(std::string("loose\0text", 10));
    documents.keep_unsaved();
    documents.settle();
    Documents other(state);  // runs at the same time: these are not its texts
    CHECK(other.restore() == 0);
  }
  {
    Documents documents(state);
    CHECK(documents.restore() == 2);
    Document* document = documents.find(folder / "a.lua");
    REQUIRE(document);
    CHECK(document->buffer.content() == "unsaved");
    CHECK(document->modified());
    CHECK(document->trouble == Document::Trouble::restored);
    document->buffer.undo();
    CHECK(document->buffer.content() == "saved");
    document->buffer.redo();
    documents.save(*document);
    Document* loose = documents.with_title("untitled 1");
    REQUIRE(loose);
    CHECK(loose->buffer.content() == std::string("loose\0text", 10));
    documents.close(*loose);
    documents.settle();
  }
  CHECK(fs::is_empty(state));
  Documents documents(state);
  CHECK(documents.restore() == 0);
}

TEST_CASE("a full disk leaves the file unchanged and is reported") {
  const Folder folder;
  write_file(folder / "a.lua", "old");
  Documents documents(folder / "autosave");
  Document& document = documents.open(folder / "a.lua");
  document.buffer.type(std::string(100000, 'x'));
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 4096, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string told;
  documents.save(document, [&](const std::string& error) { told = error; });
  documents.keep_unsaved();
  documents.settle();
  const std::string trouble = documents.autosave_trouble();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(read_file(folder / "a.lua") == "old");
  CHECK(document.modified());
  CHECK_FALSE(told.empty());
  CHECK_FALSE(trouble.empty());
  documents.keep_unsaved();
  documents.settle();
  CHECK(documents.autosave_trouble().empty());
  documents.save(document);
  documents.settle();
  CHECK(read_file(folder / "a.lua").size() == 100003);
}

TEST_CASE("text typed while a save is in progress stays unsaved, and each failure is reported once") {
  const Folder folder;
  write_file(folder / "a.lua", "old");
  Documents documents;
  Document& document = documents.open(folder / "a.lua");
  document.buffer.type("new ");
  int told = 0;
  documents.save(document, [&](const std::string& error) { told += error.empty(); });
  CHECK(told == 0);  // the caller does not wait for the disk
  document.buffer.type("er ");
  documents.settle();
  CHECK(told == 1);
  CHECK(document.modified());
  CHECK(read_file(folder / "a.lua") == "new old");
  documents.save(document, [&](const std::string& error) { told += error.empty(); });
  documents.close(document);
  documents.settle();
  CHECK(told == 2);
  CHECK(read_file(folder / "a.lua") == "new er old");
}

TEST_CASE("a state folder that cannot be created is reported, and the texts stay open") {
  const Folder folder;
  write_file(folder / "file", "");
  Documents documents((folder / "file") + "/autosave");
  documents.add_untitled().buffer.type("x");
  documents.keep_unsaved();
  documents.settle();
  CHECK_FALSE(documents.autosave_trouble().empty());
  CHECK(documents.active()->buffer.content() == "x");
}

TEST_CASE("a text is compiled while the user types, and the answer has the line") {
  SyntaxChecker checker({});
  const auto answer = [&](int id, uint64_t revision) {
    SyntaxAnswer answered;
    tests::eventually([&] {
      const auto found = checker.answer(id);
      if (!found || found->revision != revision) return false;
      answered = *found;
      return true;
    });
    return answered;
  };
  checker.check(1, 7, "#!/usr/bin/lunagrad\nlocal x = = 2\n");
  CHECK(answer(1, 7).line == 2);
  CHECK(answer(1, 7).message == "unexpected symbol near '='");
  checker.check(1, 8, "local x = 2\n");
  CHECK(answer(1, 8).message.empty());
  checker.check(2, 1, std::string("x = '\0\xff\n", 8));
  CHECK(answer(2, 1).line == 1);
}

TEST_CASE("a path is completed from the disk") {
  const Folder folder;
  fs::create_directory(folder / "models");
  write_file(folder / "train.lua", "");
  write_file(folder / "train_small.lua", "");
  write_file(folder / ".hidden.lua", "");
  CHECK(path_completions(folder / "", 9) ==
        std::vector<std::string>{folder / "models/", folder / "train.lua", folder / "train_small.lua"});
  CHECK(common_beginning(path_completions(folder / "t", 9)) == (folder / "train"));
  CHECK(path_completions(folder / "none/x", 9).empty());
  CHECK(path_completions(folder / "", 1).size() == 1);
}
