#include "runtime/core/called.h"

#include <typeinfo>

namespace lunagrad {
namespace {

constinit thread_local const char* called = nullptr;

// The name by which scripts call an op; null for a hidden record.
const char* public_name(const Op& op) { return op.hidden() ? op.short_form : op.name; }

}  // namespace

const char* called_op() { return called; }

std::string with_name(const char* op, const std::string& message) {
  const std::string name = op;
  const bool named = message.starts_with(name + ":") || message.starts_with(name + "_:");
  return named ? message : name + ": " + message;
}

Called::Called(const char* op) : outer_(called) { called = op; }
Called::~Called() { called = outer_; }
void Called::become(const char* op) { called = op; }

void rethrow_with_name(const char* op, const Error& error) {
  const bool about_values = error.kind() == ErrorKind::value || error.kind() == ErrorKind::numeric;
  // Derived error types carry more than a text, or belong to another op: they pass unchanged.
  if (!about_values || typeid(error) != typeid(Error)) throw;
  throw Error(with_name(op, error.what()), error.kind());
}

Operands compose(const Call& call) {
  return run_called(public_name(*call.op), [&] { return call.op->compose(call); });
}

}  // namespace lunagrad
