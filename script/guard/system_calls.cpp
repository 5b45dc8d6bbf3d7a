#include "script/guard/system_calls.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "script/guard/sanitizers.h"

namespace lunagrad {
namespace {

// GPU drivers need calls of which there is no list, so calls are refused by name and all others are allowed.
// Numbers from 424 on are the same on every processor; they are given here because libseccomp may be older
// than the call.
struct Call {
  const char* name;
  int number = __NR_SCMP_ERROR;
};

constexpr Call kRefused[] = {
    // Programs and processes. clone() of a thread is allowed below.
    {"execve"},
    {"execveat"},
    {"fork"},
    {"vfork"},
    {"uselib"},
    // Other processes.
    {"ptrace"},
    {"process_vm_readv"},
    {"process_vm_writev"},
    {"process_madvise", 440},
    {"process_mrelease", 448},
    {"kcmp"},
    {"pidfd_open", 434},
    {"pidfd_getfd", 438},
    {"pidfd_send_signal", 424},
    {"rt_sigqueueinfo"},
    {"rt_tgsigqueueinfo"},
    {"tkill"},
    {"setpgid"},
    {"setsid"},
    {"migrate_pages"},
    {"move_pages"},
    // Sockets, and named memory and messages that processes share.
    {"socket"},
    {"socketpair"},
    {"socketcall"},
    {"connect"},
    {"bind"},
    {"listen"},
    {"accept"},
    {"accept4"},
    {"shmget"},
    {"shmat"},
    {"shmctl"},
    {"semget"},
    {"semop"},
    {"semtimedop"},
    {"semctl"},
    {"msgget"},
    {"msgsnd"},
    {"msgrcv"},
    {"msgctl"},
    {"ipc"},
    {"mq_open"},
    {"mq_unlink"},
    // Mounts, name spaces and roots.
    {"mount"},
    {"umount"},
    {"umount2"},
    {"pivot_root"},
    {"chroot"},
    {"setns"},
    {"unshare"},
    {"fsopen", 430},
    {"fsconfig", 431},
    {"fsmount", 432},
    {"fspick", 433},
    {"open_tree", 428},
    {"move_mount", 429},
    {"mount_setattr", 442},
    {"open_tree_attr", 467},
    {"statmount", 457},
    {"listmount", 458},
    // Interfaces through which user programs gained the kernel's rights in the past.
    {"bpf"},
    {"io_uring_setup", 425},
    {"io_uring_enter", 426},
    {"io_uring_register", 427},
    {"keyctl"},
    {"add_key"},
    {"request_key"},
    {"perf_event_open"},
    {"userfaultfd"},
    {"personality"},
    {"modify_ldt"},
    {"vmsplice"},
    {"lookup_dcookie"},
    {"remap_file_pages"},
    // Access to files without their path, and watching all files.
    {"open_by_handle_at"},
    {"name_to_handle_at"},
    {"fanotify_init"},
    {"fanotify_mark"},
    {"quotactl"},
    {"quotactl_fd", 443},
    // Permissions, owners and times of files, which Landlock does not limit. The calls on open files stay
    // allowed.
    {"chmod"},
    {"fchmodat"},
    {"fchmodat2", 452},
    {"chown"},
    {"chown32"},
    {"lchown"},
    {"lchown32"},
    {"fchownat"},
    {"utime"},
    {"utimes"},
    {"futimesat"},
    {"utimensat"},
    {"utimensat_time64"},
    {"setxattr"},
    {"lsetxattr"},
    {"removexattr"},
    {"lremovexattr"},
    {"setxattrat", 463},
    {"removexattrat", 466},
    {"mknod"},
    {"mknodat"},
    // Users and limits.
    {"setuid"},
    {"setgid"},
    {"setreuid"},
    {"setregid"},
    {"setresuid"},
    {"setresgid"},
    {"setfsuid"},
    {"setfsgid"},
    {"setgroups"},
    {"capset"},
    {"setrlimit"},
    {"setpriority"},
    // The whole computer.
    {"init_module"},
    {"finit_module"},
    {"create_module"},
    {"delete_module"},
    {"kexec_load"},
    {"kexec_file_load"},
    {"reboot"},
    {"swapon"},
    {"swapoff"},
    {"acct"},
    {"settimeofday"},
    {"clock_settime"},
    {"clock_settime64"},
    {"clock_adjtime"},
    {"clock_adjtime64"},
    {"adjtimex"},
    {"stime"},
    {"sethostname"},
    {"setdomainname"},
    {"iopl"},
    {"ioperm"},
    {"vhangup"},
    {"syslog"},
    {"nfsservctl"},
    {"sysfs"},
    {"_sysctl"}};

// ioctl() requests that type into another program's terminal.
constexpr unsigned long kTerminalInput[] = {TIOCSTI, TIOCLINUX};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

// A processor may lack a call (EINVAL, EDOM); then nothing can make it, either.
bool taken(int result) { return result == 0 || result == -EINVAL || result == -EDOM || result == -EEXIST; }

bool refuse_each(scmp_filter_ctx filter) {
  for (const Call& call : kRefused) {
    const int known = seccomp_syscall_resolve_name(call.name);
    const int number = known == __NR_SCMP_ERROR ? call.number : known;
    if (number < 0) continue;  // a call of another processor
    if (kLooksForLeaks && call.name == std::string_view("ptrace")) continue;
    if (!taken(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0))) return false;
  }
  return true;
}

bool refuse_by_argument(scmp_filter_ctx filter) {
  const scmp_datum_t own = scmp_datum_t(getpid());
  const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
  constexpr scmp_datum_t kLow = 0xffffffff;  // the kernel reads only 32 bits of these arguments
  bool good = true;
  const auto add = [&](uint32_t action, int call, std::initializer_list<scmp_arg_cmp> arguments) {
    good = good &&
           taken(seccomp_rule_add_array(filter, action, call, unsigned(arguments.size()), arguments.begin()));
  };
  if (!kLooksForLeaks) add(refuse, SCMP_SYS(clone), {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
  // The flags of clone3() are in memory, which a filter cannot read. On ENOSYS the C library calls clone()
  // instead.
  add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), {});
  add(refuse, SCMP_SYS(kill), {SCMP_A0(SCMP_CMP_NE, own)});
  add(refuse, SCMP_SYS(tgkill), {SCMP_A0(SCMP_CMP_NE, own)});
  add(refuse, SCMP_SYS(prlimit64), {SCMP_A2(SCMP_CMP_NE, 0)});
  add(refuse, SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, PR_SET_DUMPABLE)});
  add(refuse, SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, PR_SET_PTRACER)});
  for (const unsigned long request : kTerminalInput)
    add(refuse, SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, request)});
  return good;
}

}  // namespace

std::string limit_system_calls(bool all_threads) {
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_ALLOW));
  if (!filter) return "no memory";
  // Calls with another processor's numbers, such as 32-bit calls.
  int failed = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
  if (failed == 0) failed = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, all_threads);
  // Some kernels switch off speculation in a filtered program, which slows all its loops down. Keep it on:
  // there is nothing in the process's memory that its own code must not read.
  if (failed == 0) seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_SSB, 1);
  if (failed == 0) seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (failed == 0 && (!refuse_each(filter.get()) || !refuse_by_argument(filter.get()))) failed = -EINVAL;
  if (failed == 0) failed = seccomp_load(filter.get());
  return failed == 0 ? "" : std::strerror(failed == -ECANCELED ? errno : -failed);
}

}  // namespace lunagrad
