// Codes and messages. The message of a thread lies in a block that its first failure allocates: a
// thread-local array would take the little room that libraries which are loaded later have for such
// variables, and a thread-local string needs an allocation to register its destructor, whose failure ends the
// process.
#include "capi/wall.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "runtime/core/version.h"

static_assert(LG_VERSION_MAJOR == LUNAGRAD_VERSION_MAJOR && LG_VERSION_MINOR == LUNAGRAD_VERSION_MINOR &&
                  LG_VERSION_PATCH == LUNAGRAD_VERSION_PATCH,
              "lunagrad.h and runtime/core/version.h have one version");

namespace lunagrad::capi {
namespace {

constexpr size_t kLongest = 1024;  // bytes of a message and its zero byte

struct Code {
  const char *name, *sentence;
};
constexpr Code kCodes[] = {
    {"OK", "The call succeeded."},
    {"INVALID_ARGUMENT", "A pointer is null, a number is out of range, or an argument has the wrong kind."},
    {"INVALID_HANDLE", "A handle is released, null, of another kind or engine, or no handle."},
    {"WRONG_THREAD", "The handle belongs to another thread."},
    {"BAD_STRUCT", "struct_size is not the size of a known version of the struct."},
    {"BUFFER_SIZE", "A buffer or an array has the wrong size."},
    {"NOT_FOUND", "There is no such operation, argument, field or position."},
    {"VALUE", "Operands or arguments do not fit the operation."},
    {"NUMERIC", "A result is not finite where it must be."},
    {"DEVICE", "There is no such device, or the device failed."},
    {"FILE", "A file cannot be read or written."},
    {"OUT_OF_MEMORY", "The machine, the device or the limit has no room."},
    {"STOPPED", "The engine or the session was asked to stop."},
    {"BUSY", "A callback of the engine is running."},
    {"INTERNAL", "The library has a fault."},
    {"TIMED_OUT", "The time is over, and what was waited for has not happened."},
    {"SCRIPT", "A script, or an evaluated line, ended with an error."}};
constexpr const char* kNoRoom = "out of memory";

// The thread's message: null, a constant, or a block that the key's destructor frees.
[[gnu::tls_model("initial-exec")]] thread_local char* block = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local const char* message = "";

char* message_block() noexcept {
  if (block) return block;
  static const pthread_key_t key = [] {
    pthread_key_t made = pthread_key_t(-1);
    pthread_key_create(&made, [](void* bytes) { std::free(bytes); });
    return made;
  }();
  char* const made = static_cast<char*>(std::malloc(kLongest));
  if (made && pthread_setspecific(key, made) != 0) {
    std::free(made);
    return nullptr;
  }
  return block = made;
}

void keep(const char* text) noexcept {
  char* const bytes = message_block();
  if (!bytes) {
    message = kNoRoom;
    return;
  }
  size_t size = strnlen(text, kLongest - 1);
  // A message that is cut ends with a whole character.
  if (size == kLongest - 1)
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  std::memmove(bytes, text, size);
  bytes[size] = 0;
  message = bytes;
}

lg_code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value:
      return LG_VALUE;
    case ErrorKind::numeric:
      return LG_NUMERIC;
    case ErrorKind::device:
      return LG_DEVICE;
    case ErrorKind::file:
      return LG_FILE;
    case ErrorKind::memory:
      return LG_OUT_OF_MEMORY;
    case ErrorKind::cancelled:
      return LG_STOPPED;
  }
  return LG_INTERNAL;
}

}  // namespace

lg_code caught() noexcept {
  try {
    throw;
  } catch (const Fault& fault) {
    keep(fault.message.c_str());
    return fault.code;
  } catch (const Error& error) {
    keep(error.what());
    return code_of(error.kind());
  } catch (const std::bad_alloc&) {
    message = kNoRoom;
    return LG_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    keep(error.what());
    return LG_INTERNAL;
  } catch (...) {
    keep("an exception of an unknown type");
    return LG_INTERNAL;
  }
}

const char* last_message() noexcept { return message; }
void forget_message() noexcept { message = ""; }

}  // namespace lunagrad::capi

using namespace lunagrad::capi;

uint32_t lg_version(void) { return LG_VERSION; }

lg_code lg_last_error(const char** text, size_t* length) {
  return wall([&] {
    require(text, "text");
    *text = last_message();
    if (length) *length = std::strlen(*text);
  });
}

lg_code lg_set_error(lg_code code, const char* text) {
  return wall([&] {
    require(text, "text");
    if (code <= LG_OK || size_t(code) >= std::size(kCodes))
      refuse(LG_INVALID_ARGUMENT, "code ", code, " is no error");
    throw Fault{code, text};
  });
}

lg_code lg_code_text(lg_code code, const char** name, const char** sentence) {
  return wall([&] {
    if (code < 0 || size_t(code) >= std::size(kCodes)) refuse(LG_NOT_FOUND, "there is no code ", code);
    if (name) *name = kCodes[code].name;
    if (sentence) *sentence = kCodes[code].sentence;
  });
}
