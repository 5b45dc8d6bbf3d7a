#include "script/host/host_calls.h"

#include <cxxabi.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <typeinfo>

namespace lunagrad {
namespace {

std::string name_of(const std::type_info* type) {
  if (!type) return "something of an unknown type";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  return text("a value of type ", name ? name.get() : type->name());
}

}  // namespace

void throw_as_error(const std::string& who) {
  try {
    throw;
  } catch (const std::exception&) {
    throw;
  } catch (const abi::__forced_unwind&) {  // the thread is being cancelled
    throw;
  } catch (const std::string& words) {
    fail(who, " threw: ", words);
  } catch (const char* words) {
    fail(who, " threw: ", words ? words : "nullptr");
  } catch (int number) {
    fail(who, " threw the int ", number, ", not a std::exception");
  } catch (...) {
    fail(who, " threw ", name_of(abi::__cxa_current_exception_type()), ", not a std::exception");
  }
}

bool HostCalls::close(double seconds) {
  closed_ = true;
  const auto start = std::chrono::steady_clock::now();
  while (!mutex_.try_lock()) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= seconds)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  mutex_.unlock();
  return true;
}

std::string HostCalls::try_call(const char* who, const std::function<void()>& code) {
  const std::lock_guard lock(mutex_);
  if (closed_) return {};
  try {
    call_program(who, "", code);
  } catch (const std::exception& error) {
    return *error.what() ? error.what() : text(who, " threw an exception without a message");
  }
  return {};
}

}  // namespace lunagrad
