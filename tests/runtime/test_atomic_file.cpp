// The writer of files: what it keeps of a file that it replaces, links, and targets that it writes in place.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "runtime/core/context.h"
#include "runtime/io/npz.h"
#include "runtime/ops.h"
#include "tests/support/files.h"

using namespace lunagrad;
using namespace lunagrad::tests;
namespace fs = std::filesystem;

namespace {

struct stat file_status(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

unsigned mode_of(const std::string& path) { return file_status(path).st_mode & 07777; }

// Runs a test in a process of another user. Returns the test's result, "" if it passed. Root may write
// everywhere.
std::string as_nobody(const std::function<std::string()>& test) {
  constexpr uid_t kNobody = 65534;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string result = "cannot become another user";
    if (::geteuid() != 0 || (::setgid(kNobody) == 0 && ::setuid(kNobody) == 0)) {
      try {
        result = test();
      } catch (const std::exception& error) {
        result = error.what();
      }
    }
    [[maybe_unused]] const ssize_t written = ::write(ends[1], result.data(), result.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string result;
  char piece[256];
  for (ssize_t got = 0; (got = ::read(ends[0], piece, sizeof piece)) > 0;) result.append(piece, size_t(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return result;
}

}  // namespace

TEST_CASE("a file that is replaced keeps its permissions, and a new one follows the umask") {
  const Folder folder;
  const mode_t before = ::umask(027);
  write_file(folder.file("new"), "1");
  ::umask(before);
  CHECK(mode_of(folder.file("new")) == 0640);
  for (const unsigned mode : {0600u, 0644u, 0660u, 0755u, 0400u | 0200u}) {
    const std::string file = folder.with("w", "old");
    fs::permissions(file, fs::perms(mode));
    write_file(file, "new");
    CHECK(read_file(file) == "new");
    CHECK(mode_of(file) == mode);
    save_npz(file, {{"x", ones({2})}});  // libzip writes a file of its own
    CHECK(mode_of(file) == mode);
  }
  CHECK(folder.count() == 2);
}

TEST_CASE("the owner and the group of a file stay, and new files have the group of a setgid folder") {
  if (::geteuid() != 0) return;
  const Folder folder;
  const std::string file = folder.with("w", "old");
  REQUIRE(::chown(file.c_str(), 1234, 2345) == 0);
  REQUIRE(::chmod(file.c_str(), 02750) == 0);
  write_file(file, "new");
  CHECK(file_status(file).st_uid == 1234);
  CHECK(file_status(file).st_gid == 2345);
  CHECK(mode_of(file) == 02750);
  fs::create_directory(folder.file("shared"));
  REQUIRE(::chown(folder.file("shared").c_str(), 0, 3456) == 0);
  REQUIRE(::chmod(folder.file("shared").c_str(), 02775) == 0);
  write_file(folder.file("shared/new"), "1");
  CHECK(file_status(folder.file("shared/new")).st_gid == 3456);
}

TEST_CASE("links are followed, and stay") {
  const Folder folder;
  const std::string file = folder.with("w", "old");
  fs::permissions(file, fs::perms(0600));
  fs::create_directory(folder.file("d"));
  fs::create_symlink("w", folder.file("latest"));
  fs::create_symlink("../latest", folder.file("d/far"));
  fs::create_directory_symlink("d", folder.file("e"));
  for (const char* name : {"latest", "d/far", "e/far", "e/../latest"}) {
    CAPTURE(name);
    write_file(folder.file(name), name);
    CHECK(read_file(file) == name);
    CHECK(mode_of(file) == 0600);
  }
  CHECK(fs::is_symlink(folder.file("latest")));
  CHECK(fs::is_symlink(folder.file("d/far")));
  // The target of a dangling link is created; without its folder, or in a circle of links, that is an error.
  fs::create_symlink("d/later", folder.file("dangling"));
  write_file(folder.file("dangling"), "made");
  CHECK(fs::is_symlink(folder.file("dangling")));
  CHECK(read_file(folder.file("d/later")) == "made");
  fs::create_symlink("no/where", folder.file("lost"));
  CHECK(refusal([&] { write_file(folder.file("lost"), ""); }) ==
        "lost: cannot write: No such file or directory");
  fs::create_symlink("b", folder.file("a"));
  fs::create_symlink("a", folder.file("b"));
  CHECK(refusal([&] { write_file(folder.file("a"), ""); }) ==
        "a: cannot write: Too many levels of symbolic links");
  fs::create_directory_symlink("d", folder.file("to-d"));
  CHECK(refusal([&] { write_file(folder.file("to-d"), ""); }) == "to-d: cannot write: it is a folder");
  CHECK(refusal([&] { write_file(folder.file("new/"), ""); }) == "new/: cannot write: it names a folder");
}

TEST_CASE("all names of a file with hard links have what was written") {
  const Folder folder;
  const std::string one = folder.with("one", std::string(100, 'x'));
  fs::create_hard_link(one, folder.file("two"));
  const auto inode = file_status(one).st_ino;
  for (const std::string& content : {std::string(3'000'000, 'y'), std::string("short"), std::string()}) {
    write_file(folder.file("two"), content);
    CHECK(read_file(one) == content);
    CHECK(file_status(one).st_ino == inode);
    CHECK(file_status(folder.file("two")).st_ino == inode);
  }
  CHECK(folder.count() == 2);
  // part_from_links() gives one of the names a file of its own.
  write_file(one, "both");
  AtomicFile::part_from_links(folder.file("two"));
  CHECK(file_status(one).st_nlink == 1);
  write_file(folder.file("two"), "own");
  CHECK(read_file(one) == "both");
}

TEST_CASE("a pipe, a device and the streams of the process are written through") {
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string content(300'000, 'x');  // more than a pipe holds
  std::string got;
  std::thread reader([&] { got = read_file(pipe); });
  write_file(pipe, content);
  reader.join();
  CHECK(got == content);
  CHECK(S_ISFIFO(file_status(pipe).st_mode));
  // An archive is written to a pipe when it is complete.
  std::thread unpacker([&] { got = read_file(pipe); });
  save_npz(pipe, {{"x", ones({2})}});
  unpacker.join();
  CHECK(load_npz(folder.with("x.npz", got))[0].second.to_vector<float>() == std::vector<float>{1, 1});

  for (const char* device : {"/dev/null", "/dev/zero"}) {
    const auto inode = file_status(device).st_ino;
    write_file(device, content);
    CHECK(file_status(device).st_ino == inode);
  }
  CHECK(refusal([] { write_file("/dev/full", "x"); }) == "/dev/full: cannot write: No space left on device");
  CHECK(S_ISCHR(file_status("/dev/full").st_mode));

  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  for (const char* const place : {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"}) {
    write_file(place + std::to_string(ends[1]), "through");
    char piece[16];
    CHECK(::read(ends[0], piece, sizeof piece) == 7);
  }
  ::close(ends[0]);
  CHECK(refusal([&] { write_file("/dev/fd/" + std::to_string(ends[1]), "x"); }).ends_with("Broken pipe"));
  ::close(ends[1]);
  // A file that is open as a stream is written at the stream's position.
  const int stream = ::open(folder.file("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  CHECK(::write(stream, "before ", 7) == 7);
  write_file("/dev/fd/" + std::to_string(stream), "here");
  CHECK(::write(stream, " after", 6) == 6);
  ::close(stream);
  CHECK(read_file(folder.file("log")) == "before here after");

  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, ""};
  const std::string name = folder.file("socket");
  REQUIRE(name.size() < sizeof address.sun_path);
  std::copy(name.begin(), name.end(), address.sun_path);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(refusal([&] { write_file(name, "x"); }) == "socket: cannot write: No such device or address");
  CHECK(S_ISSOCK(file_status(name).st_mode));
  ::close(listener);
}

TEST_CASE("a stop ends the wait for the reader of a pipe, and for room in it") {
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const bool read : {false, true}) {
    CAPTURE(read);
    const int reader = read ? ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    Context& own = context();
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      own.stop_requested.store(true);
    });
    bool stopped = false;
    try {
      write_file(pipe, std::string(300'000, 'x'));
    } catch (const Error& error) {
      stopped = error.kind() == ErrorKind::cancelled;
    }
    stopper.join();
    own.stop_requested.store(false);
    if (reader >= 0) ::close(reader);
    CHECK(stopped);
  }
}

TEST_CASE("a file in a folder that is not writable is written, and one that is not writable is not") {
  const Folder folder;
  const std::string open = folder.with("open", "old and long"), closed = folder.with("closed", "old");
  fs::permissions(open, fs::perms(0666));
  fs::permissions(closed, fs::perms(0444));
  fs::permissions(folder.file(""), fs::perms(0555));
  CHECK(as_nobody([&] {
          write_file(open, "new");
          return refusal([&] { write_file(closed, "new"); });
        }) == "closed: cannot write: Permission denied");
  CHECK(as_nobody([&] { return refusal([&] { write_file(folder.file("more"), ""); }); }) ==
        "more: cannot write: Permission denied");
  CHECK(read_file(open) == "new");
  CHECK(read_file(closed) == "old");
  CHECK(folder.count() == 2);
  fs::permissions(folder.file(""), fs::perms(0777));
  // The folder is writable, but another user owns the file.
  if (::geteuid() == 0) {
    CHECK(as_nobody([&] { return write_file(open, "newer"), ""; }) == "");
    CHECK(read_file(open) == "newer");
    CHECK(file_status(open).st_uid == 0);
    CHECK(folder.count() == 2);
  }
}

TEST_CASE("a name may be as long as the file system allows") {
  const Folder folder;
  const std::string longest = folder.file(std::string(251, 'n') + ".npz");
  write_file(longest, "1");
  CHECK(read_file(longest) == "1");
  save_npz(longest, {{"x", ones({2})}});
  CHECK(load_npz(longest).size() == 1);
  CHECK(refusal([&] { write_file(folder.file(std::string(256, 'n')), ""); }).ends_with("File name too long"));
  CHECK(folder.count() == 1);
}

TEST_CASE("what a killed program left is removed by the next one that writes the file") {
  const Folder folder;
  const std::string left = folder.with("w.lunagrad-abc123", "half");
  folder.with("w.lunagrad-abc12", "a user's");
  REQUIRE(::mkfifo(folder.file("w.lunagrad-fifo00").c_str(), 0600) == 0);
  CHECK(is_temporary(left));
  CHECK_FALSE(is_temporary(folder.file("w.lunagrad-abc12")));
  CHECK_FALSE(is_temporary(folder.file("step-00000001.safetensors")));
  write_file(folder.file("w"), "whole");
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(folder.file("w.lunagrad-abc12")));
  AtomicFile other(folder.file("w"));  // is still being written
  write_file(folder.file("w"), "more");
  other.commit();
  CHECK(read_file(folder.file("w")).empty());
}
