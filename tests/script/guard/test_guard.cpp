// The kernel's limits alone: a child directly does what a sandboxed script could do if one of the program's
// checks failed. Each attack works without the limits, where this user may do it at all.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "runtime/cpu/parallel.h"
#include "script/guard/guard.h"
#include "script/guard/places.h"
#include "tests/support/program.h"
#include "tests/support/sanitizers.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

constexpr int kThrough = 0, kChanged = 200;  // exit codes of a child; others are errno
constexpr size_t kDisk = 1 << 20;
constexpr uid_t kNobody = 65534;

// own/ is the script's folder, own/run its run's folder; secret.txt and beside/ lie outside.
struct Place {
  Folder folder;
  std::string root, own, run, secret, beside;
  Place() : root(folder.path()), own(root + "/own"), run(own + "/run"), beside(root + "/beside") {
    secret = folder.write("secret.txt", "secret");
    fs::create_directories(run);
    fs::create_directories(beside);
    folder.write("own/data.txt", "data");
    folder.write("own/run/log.txt", "log");
    fs::create_symlink(secret, own + "/link.txt");
    fs::create_symlink(beside, run + "/link");
    for (const std::string& path : {root, own, run, beside}) fs::permissions(path, fs::perms::all);
    for (const std::string& path : {secret, own + "/data.txt", run + "/log.txt"})
      fs::permissions(path, fs::perms(0666));
  }
  GuardLimits limits() const {
    GuardLimits limits{places_of_every_run(), {run}, {}, size_t(64) << 20, kDisk};
    limits.readable.push_back(own);
    return limits;
  }
};

using Act = std::function<int(const Place&)>;  // 0, or errno

int result_of(long result) { return result < 0 ? errno : 0; }
int result_of_open(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  close(file);
  return 0;
}
int read_some(const std::string& path) { return result_of_open(path, O_RDONLY); }
int write_new(const std::string& path) { return result_of_open(path, O_WRONLY | O_CREAT); }

int wait_for(pid_t child) {
  int status = 0;
  if (child < 0) return errno;
  waitpid(child, &status, 0);
  return 0;
}

int open_socket(int family, int type) {
  const int made = socket(family, type, 0);
  if (made < 0) return errno;
  close(made);
  return 0;
}

int take_memory(size_t bytes) {
  constexpr size_t kPiece = size_t(64) << 20;
  for (size_t taken = 0; taken < bytes; taken += kPiece)
    if (mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
      return errno;
  return 0;
}

int write_bytes(const std::string& path, size_t count) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  const std::string piece(1 << 16, 'x');
  for (size_t done = 0; done < count; done += piece.size())
    if (write(file, piece.data(), piece.size()) < 0) return errno;
  return 0;
}

int run_program(const char* path) {
  char* const argv[] = {const_cast<char*>(path), nullptr};
  pid_t child = -1;
  const int failed = posix_spawn(&child, path, nullptr, nullptr, argv, environ);
  return failed ? failed : wait_for(child);
}

// Runs act in a child, as this user or as nobody, with or without the limits. Returns the exit code.
int in_child(const Place& place, bool guarded, bool plain_user, const Act& act) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    if (plain_user && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(kChanged);
    if (guarded && !guard_process(place.limits()).missing.empty()) _exit(kChanged);
    _exit(act(place));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Whether the attack works without the limits; it may depend on the kernel and the user.
enum class Without { works, depends };

struct Attack {
  const char* name;
  Without without;
  Act act;
};

const std::vector<Attack>& attacks() {
  using enum Without;
  static const std::vector<Attack> all{
      // Reading.
      {"read /etc/passwd", works, [](const Place&) { return read_some("/etc/passwd"); }},
      {"read a file beside the folder", works, [](const Place& p) { return read_some(p.secret); }},
      {"list the folder above", works, [](const Place& p) { return read_some(p.root); }},
      {"list /", works, [](const Place&) { return read_some("/"); }},
      {"list the home of all", works, [](const Place&) { return read_some("/home"); }},
      {"read through ..", works, [](const Place& p) { return read_some(p.own + "/../secret.txt"); }},
      {"read through a link", works, [](const Place& p) { return read_some(p.own + "/link.txt"); }},
      {"read through /proc/self/root", depends,
       [](const Place& p) { return read_some("/proc/self/root" + p.secret); }},
      {"read the parent's command line", works,
       [](const Place&) { return read_some("/proc/" + std::to_string(getppid()) + "/cmdline"); }},
      {"list processes", works, [](const Place&) { return read_some("/proc"); }},
      {"open own memory for writing", depends,
       [](const Place&) { return result_of_open("/proc/self/mem", O_RDWR); }},
      {"read the log of the kernel", depends, [](const Place&) { return read_some("/dev/kmsg"); }},
      // Writing.
      {"write beside the folder", works, [](const Place& p) { return write_new(p.beside + "/new.txt"); }},
      {"write into the script's folder", works, [](const Place& p) { return write_new(p.own + "/new.txt"); }},
      {"write over the script's data", works,
       [](const Place& p) { return result_of_open(p.own + "/data.txt", O_WRONLY); }},
      {"write through a link of the run's folder", works,
       [](const Place& p) { return write_new(p.run + "/link/new.txt"); }},
      {"write into /tmp", works, [](const Place&) { return write_new("/tmp/lunagrad-guard-test"); }},
      {"write into /dev/shm", depends,
       [](const Place&) { return write_new("/dev/shm/lunagrad-guard-test"); }},
      {"truncate", works, [](const Place& p) { return result_of(truncate(p.secret.c_str(), 6)); }},
      {"remove", works,
       [](const Place& p) { return result_of(unlink((p.beside + "/" + "kept.txt").c_str())); }},
      {"make a folder", works,
       [](const Place& p) { return result_of(mkdir((p.beside + "/made").c_str(), 0777)); }},
      {"remove a folder", works,
       [](const Place& p) { return result_of(rmdir((p.beside + "/empty").c_str())); }},
      {"move out", works,
       [](const Place& p) {
         return result_of(rename((p.run + "/log.txt").c_str(), (p.beside + "/log.txt").c_str()));
       }},
      {"move in", works,
       [](const Place& p) {
         return result_of(rename((p.beside + "/kept.txt").c_str(), (p.run + "/got.txt").c_str()));
       }},
      {"link in", works,
       [](const Place& p) {
         return result_of(link((p.beside + "/kept.txt").c_str(), (p.run + "/got.txt").c_str()));
       }},
      {"make a link in the run's folder", works,
       [](const Place& p) { return result_of(symlink("/etc/passwd", (p.run + "/out").c_str())); }},
      {"make a pipe in the run's folder", works,
       [](const Place& p) { return result_of(mkfifo((p.run + "/pipe").c_str(), 0666)); }},
      {"change permissions", works,
       [](const Place& p) { return result_of(chmod((p.beside + "/kept.txt").c_str(), 0666)); }},
      {"change permissions relative to a folder", works,
       [](const Place& p) {
         return result_of(fchmodat(AT_FDCWD, (p.beside + "/kept.txt").c_str(), 0666, 0));
       }},
      {"change the owner", works,
       [](const Place& p) { return result_of(chown((p.beside + "/kept.txt").c_str(), getuid(), getgid())); }},
      {"change the time", works,
       [](const Place& p) {
         return result_of(utimensat(AT_FDCWD, (p.beside + "/kept.txt").c_str(), nullptr, 0));
       }},
      {"change an attribute", depends,
       [](const Place& p) {
         return result_of(setxattr((p.beside + "/kept.txt").c_str(), "user.a", "b", 1, 0));
       }},
      {"make a device", depends,
       [](const Place& p) {
         return result_of(mknod((p.run + "/null").c_str(), S_IFCHR | 0666, makedev(1, 3)));
       }},
      {"write more than the limit", works,
       [](const Place& p) { return write_bytes(p.run + "/big", 2 * kDisk); }},
      {"make a file longer than the limit", works,
       [](const Place& p) { return result_of(truncate((p.run + "/log.txt").c_str(), off_t(10) << 30)); }},
      // Programs and processes.
      {"start a program", works, [](const Place&) { return run_program("/bin/true"); }},
      {"become a program", works,
       [](const Place&) {
         execl("/bin/true", "true", nullptr);
         return errno;
       }},
      {"become a program of an open file", works,
       [](const Place&) {
         char* const argv[] = {const_cast<char*>("true"), nullptr};
         fexecve(open("/bin/true", O_RDONLY), argv, environ);
         return errno;
       }},
      {"clone a process with arguments in memory", works,
       [](const Place&) {
         uint64_t arguments[8] = {0, 0, 0, 0, SIGCHLD};
         const pid_t child = pid_t(syscall(SYS_clone3, arguments, sizeof arguments));
         if (child == 0) _exit(0);
         return wait_for(child);
       }},
      {"signal the parent", works, [](const Place&) { return result_of(kill(getppid(), 0)); }},
      {"signal all processes", works, [](const Place&) { return result_of(kill(-1, 0)); }},
      {"signal the group", works, [](const Place&) { return result_of(kill(0, 0)); }},
      {"signal a thread of the parent", works,
       [](const Place&) { return result_of(syscall(SYS_tkill, getppid(), 0)); }},
      {"signal the parent by tgkill", works,
       [](const Place&) { return result_of(syscall(SYS_tgkill, getppid(), getppid(), 0)); }},
      {"open the parent", works, [](const Place&) { return result_of(syscall(434, getppid(), 0)); }},
      {"read the parent's memory", depends,
       [](const Place&) {
         char byte;
         const iovec own{&byte, 1}, other{const_cast<char**>(environ), 1};
         return result_of(process_vm_readv(getppid(), &own, 1, &other, 1, 0));
       }},
      {"raise a limit", works,
       [](const Place&) {
         const rlimit limit{0, 0};
         return result_of(setrlimit(RLIMIT_CORE, &limit));
       }},
      {"lower the parent's priority", works,
       [](const Place&) { return result_of(setpriority(PRIO_PROCESS, getppid(), 0)); }},
      // The network.
      {"open a TCP socket", works, [](const Place&) { return open_socket(AF_INET, SOCK_STREAM); }},
      {"open a UDP socket", works, [](const Place&) { return open_socket(AF_INET, SOCK_DGRAM); }},
      {"open a local socket", works, [](const Place&) { return open_socket(AF_UNIX, SOCK_STREAM); }},
      {"open a netlink socket", works, [](const Place&) { return open_socket(AF_NETLINK, SOCK_RAW); }},
      {"open a pair of sockets", works,
       [](const Place&) {
         int ends[2];
         return result_of(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
       }},
      {"share memory by a number", works,
       [](const Place&) {
         const int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
         const auto result = result_of(memory);
         if (memory >= 0) shmctl(memory, IPC_RMID, nullptr);  // it would outlive the process
         return result;
       }},
      // The kernel.
      {"get a name space", depends, [](const Place&) { return result_of(unshare(CLONE_NEWUSER)); }},
      {"join a name space", depends,
       [](const Place&) { return result_of(setns(open("/dev/null", O_RDONLY), 0)); }},
      {"mount", depends,
       [](const Place& p) {
         const int mounted = mount("none", p.run.c_str(), "tmpfs", 0, "");
         const auto result = result_of(mounted);
         if (mounted == 0) umount2(p.run.c_str(), MNT_DETACH);  // it would outlive the process
         return result;
       }},
      {"change the root", depends, [](const Place& p) { return result_of(chroot(p.run.c_str())); }},
      {"load a program into the kernel", depends,
       [](const Place&) { return result_of(syscall(SYS_bpf, 0, nullptr, 0)); }},
      {"set up a ring", depends, [](const Place&) { return result_of(syscall(425, 1, nullptr)); }},
      {"read keys", depends, [](const Place&) { return result_of(syscall(SYS_keyctl, 0, -3, 1)); }},
      {"count events", depends,
       [](const Place&) {
         perf_event_attr attributes{};
         attributes.size = sizeof attributes;
         return result_of(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
       }},
      {"handle page faults", depends, [](const Place&) { return result_of(syscall(SYS_userfaultfd, 0)); }},
      {"get another personality", works, [](const Place&) { return result_of(personality(0xffffffff)); }},
      {"load a module", depends,
       [](const Place&) { return result_of(syscall(SYS_init_module, nullptr, 0, "")); }},
      {"type into the terminal", depends,
       [](const Place&) { return result_of(ioctl(open("/dev/null", O_RDONLY), TIOCSTI, "x")); }},
      {"open a file by its handle", depends,
       [](const Place&) { return result_of(syscall(SYS_open_by_handle_at, -1, nullptr, 0)); }},
  };
  return all;
}

// The sanitizers need these calls themselves.
const std::vector<Attack>& attacks_on_the_process() {
  using enum Without;
  static const std::vector<Attack> all{
      {"read the environment", works, [](const Place&) { return read_some("/proc/self/environ"); }},
      {"read the environment of a thread", works,
       [](const Place&) { return read_some("/proc/thread-self/environ"); }},
      {"fork", works,
       [](const Place&) {
         const pid_t child = fork();
         if (child == 0) _exit(0);
         return wait_for(child);
       }},
      {"clone a process", works,
       [](const Place&) {
         const pid_t child = pid_t(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
         if (child == 0) _exit(0);
         return wait_for(child);
       }},
      {"start a shell", works, [](const Place&) { return result_of(system("true") == 0 ? 0 : -1); }},
      {"trace the parent", depends,
       [](const Place&) { return result_of(ptrace(PTRACE_SEIZE, getppid(), 0, 0)); }},
      {"let the parent trace", works,
       [](const Place&) { return result_of(ptrace(PTRACE_TRACEME, 0, 0, 0)); }},
      {"take 7 GiB", works, [](const Place&) { return take_memory(size_t(7) << 30); }},
      {"become traceable", works, [](const Place&) { return result_of(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }},
  };
  return all;
}

void try_each(const std::vector<Attack>& all, bool plain_user) {
  for (const Attack& attack : all) {
    const std::string name = attack.name;
    CAPTURE(name);
    CAPTURE(plain_user);
    for (const bool guarded : {false, true}) {
      const Place place;
      place.folder.write("beside/kept.txt", "kept");
      fs::create_directory(place.beside + "/empty");
      if (plain_user)
        for (const char* file : {"/kept.txt", "/empty"})
          REQUIRE(chown((place.beside + file).c_str(), kNobody, kNobody) == 0);
      const int result = in_child(place, guarded, plain_user, attack.act);
      if (!guarded && !plain_user && attack.without == Without::works) CHECK(result == kThrough);
      if (guarded) {
        const bool refused = result == EPERM || result == EACCES || result == EXDEV || result == ENOMEM ||
                             result == EFBIG || result == ENOSYS;
        CAPTURE(result);
        CHECK(refused);
      }
    }
  }
}

// What a run needs. 0 or errno.
const std::vector<Attack>& needs() {
  using enum Without;
  static const std::vector<Attack> all{
      {"read the script's folder", works, [](const Place& p) { return read_some(p.own + "/data.txt"); }},
      {"list the script's folder", works, [](const Place& p) { return read_some(p.own); }},
      {"write into the run's folder", works, [](const Place& p) { return write_new(p.run + "/new.txt"); }},
      {"make a folder there, and remove it", works,
       [](const Place& p) {
         const std::string made = p.run + "/made";
         return mkdir(made.c_str(), 0777) != 0 || rmdir(made.c_str()) != 0 ? errno : 0;
       }},
      {"replace a file there", works,
       [](const Place& p) {
         if (const int failed = write_new(p.run + "/part")) return failed;
         return result_of(rename((p.run + "/part").c_str(), (p.run + "/log.txt").c_str()));
       }},
      {"move a file between folders there", works,
       [](const Place& p) {
         if (mkdir((p.run + "/made").c_str(), 0777) != 0) return errno;
         return result_of(rename((p.run + "/log.txt").c_str(), (p.run + "/made/log.txt").c_str()));
       }},
      {"change the permissions of an open file", works,
       [](const Place& p) {
         return result_of(fchmod(open((p.run + "/new").c_str(), O_CREAT | O_RDWR, 0600), 0644));
       }},
      {"write up to the limit", works, [](const Place& p) { return write_bytes(p.run + "/big", kDisk); }},
      {"start a thread", works,
       [](const Place&) {
         int result = 1;
         std::thread([&] { result = 0; }).join();
         return result;
       }},
      {"read random bytes", works, [](const Place&) { return read_some("/dev/urandom"); }},
      {"write to /dev/null", works, [](const Place&) { return result_of_open("/dev/null", O_WRONLY); }},
      {"read the size of the process", works, [](const Place&) { return read_some("/proc/self/statm"); }},
      {"read the memory of the machine", works, [](const Place&) { return read_some("/proc/meminfo"); }},
      {"read a library", works, [](const Place&) { return read_some("/usr/lib"); }},
      {"make a file in memory", works,
       [](const Place&) { return result_of(memfd_create("x", MFD_CLOEXEC)); }},
      {"signal itself", works, [](const Place&) { return result_of(kill(getpid(), 0)); }},
      {"take the memory of the limit", works, [](const Place&) { return take_memory(size_t(64) << 20); }},
  };
  return all;
}

}  // namespace

TEST_CASE("guard: the kernel refuses what a broken check would allow") {
  const std::vector<GuardSupport> support = guard_support();
  for (const GuardSupport& wall : support) {
    const std::string name = wall.name;
    CAPTURE(name);
    REQUIRE(wall.why == "");
  }
  for (const bool plain_user : {false, true}) {
    if (plain_user && getuid() != 0) continue;
    try_each(attacks(), plain_user);
    if (!tests::kSanitized) try_each(attacks_on_the_process(), plain_user);
  }
  for (const char* made : {"/tmp/lunagrad-guard-test", "/dev/shm/lunagrad-guard-test"}) fs::remove(made);
}

TEST_CASE("guard: the kernel lets through what a run needs") {
  for (const bool plain_user : {false, true}) {
    if (plain_user && getuid() != 0) continue;
    for (const Attack& need : needs()) {
      const std::string name = need.name;
      CAPTURE(name);
      CAPTURE(plain_user);
      const Place place;
      if (plain_user) {
        for (const std::string& path : {place.run, place.run + "/log.txt"})
          REQUIRE(chown(path.c_str(), kNobody, kNobody) == 0);
      }
      CHECK(in_child(place, true, plain_user, need.act) == 0);
    }
  }
}

TEST_CASE("guard: threads hardly raise the limit of the memory, and products run in all of them") {
  if (tests::kSanitized) return;
  constexpr int kMany = 64;
  const Place place;
  const int refused = in_child(place, false, false, [](const Place& p) {
    set_thread_count(kMany);
    return guard_process(p.limits()).missing.empty() ? take_memory(size_t(4) << 30) : kChanged;
  });
  CHECK(refused == ENOMEM);
  const Finished multiplied = place.folder.run(
      {"--sandbox", "--threads", std::to_string(kMany), "-e",
       "local x = lg.ones(2048, 1024); print(x:matmul(x.T):sum():item() == 2048 * 2048 * 1024)"});
  CHECK(multiplied.out == "true\n");
  CHECK(multiplied.err == "");
}

TEST_CASE("guard: a guarded thread and the threads that it starts are limited, others are not") {
  const Place place;
  const int result = in_child(place, false, false, [](const Place& p) {
    bool good = true;
    std::thread([&] {
      good = guard_thread(p.limits()).missing.empty() && read_some(p.secret) == EACCES &&
             open_socket(AF_INET, SOCK_STREAM) == EPERM && read_some(p.own + "/data.txt") == 0;
      std::thread([&] { good = good && read_some(p.secret) == EACCES; }).join();
    }).join();
    return good && read_some(p.secret) == 0 && open_socket(AF_INET, SOCK_STREAM) == 0 ? 0 : kChanged;
  });
  CHECK(result == 0);
}

TEST_CASE("guard: a kernel without one of the limits gives the others, and the report names it") {
  struct Lack {
    std::vector<int> calls;
    const char* said;
    int read, connect;  // the errors that reading and connecting still give
  };
  for (const Lack& lack : {Lack{{444, 445, 446}, "files: this kernel has no Landlock", 0, EPERM},
                           Lack{{SCMP_SYS(seccomp)}, "system calls: ", EACCES, 0}}) {
    const Place place;
    const int result = in_child(place, false, false, [&](const Place& p) {
      const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
      for (const int call : lack.calls) seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
      seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
                       SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
      if (seccomp_load(filter) != 0) return 201;
      const GuardReport report = guard_process(p.limits());
      if (report.missing.size() != 1 || report.missing[0].find(lack.said) != 0) return 202;
      return read_some(p.secret) == lack.read && open_socket(AF_INET, SOCK_STREAM) == lack.connect ? 0 : 203;
    });
    CAPTURE(lack.said);
    CHECK(result == 0);
  }
}
