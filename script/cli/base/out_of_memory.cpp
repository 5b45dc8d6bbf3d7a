#include "script/cli/base/out_of_memory.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>

#include "runtime/core/error.h"
#include "script/view/run.h"

namespace lunagrad {

int exit_code_of(const std::exception& exception) {
  const auto* const error = dynamic_cast<const Error*>(&exception);
  const auto* const system = dynamic_cast<const std::system_error*>(&exception);
  const bool memory = dynamic_cast<const std::bad_alloc*>(&exception) ||
                      (error && error->kind() == ErrorKind::memory) ||
                      (system && (system->code().value() == EAGAIN || system->code().value() == ENOMEM));
  return int(memory ? Outcome::memory : Outcome::error);
}

namespace {

// Called for an exception that nothing catches.
[[noreturn]] void end_program() {
  int code = 1;
  try {
    if (const std::exception_ptr exception = std::current_exception()) std::rethrow_exception(exception);
  } catch (const std::exception& exception) {
    code = exit_code_of(exception);
  } catch (...) {
    code = 1;
  }
  if (code != int(Outcome::memory)) std::abort();
  constexpr std::string_view kMessage = "lunagrad: not enough memory\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(code);
}

// Runs before the constructors of static objects, also of shared libraries.
void install(int, char**, char**) { std::set_terminate(end_program); }
[[gnu::section(".preinit_array"), gnu::used]] void (*const kInstall)(int, char**, char**) = install;

}  // namespace
}  // namespace lunagrad
