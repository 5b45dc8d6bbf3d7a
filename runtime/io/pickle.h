#pragma once
// Python's pickles, protocols 2 to 5 (docs.python.org/3/library/pickle.html, the opcodes in
// Lib/pickletools.py), as plain values. Nothing is executed: a call of a Python function becomes a value that
// names the function, and the reader of a file format decides which functions it knows. Any thread.
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/io/read_budget.h"

namespace lunagrad {

struct PickleValue;
using Pickled = PickleValue*;  // the Pickle owns it

struct PickleValue {
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    real,
    text,        // UTF-8 text or bytes
    list,        // also tuples and sets
    dict,        // pairs in order
    global,      // a class or function: text is "module name"
    call,        // items[0] called with items[1]; items[2], if any, is the state for __setstate__
    persistent,  // an object outside the pickle: items[0] is its id
    mark         // only on the stack of the reader
  } kind = Kind::none;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Pickled> items;
  // also the items set later on the result of calling a dict's class
  std::vector<std::pair<Pickled, Pickled>> pairs;
};
using PickleKind = PickleValue::Kind;

// Owns its values. One value may be part of several others, and a damaged file may hold a list that contains
// itself. None, true and false are one value each.
class Pickle {
 public:
  Pickled root = nullptr;

  explicit Pickle(ReadBudget* budget = nullptr) : budget_(budget) {}  // the budget is charged for the values
  Pickled make(PickleKind);
  Pickled none();
  Pickled boolean(bool);
  Pickled integer(int64_t);
  Pickled real(double);
  Pickled text(std::string_view);
  Pickled list(std::vector<Pickled> items);
  Pickled global(std::string_view module, std::string_view name);
  Pickled call(Pickled function, Pickled arguments);

 private:
  Pickled constant(size_t which, PickleKind);
  ReadBudget* budget_;
  std::deque<PickleValue> values_;
  std::array<Pickled, 3> constants_{};  // false, true, None
};

// Error of kind file, which begins with `where`, for bytes that are not a pickle or an unknown opcode. Also
// throws the errors of the budget, which must live as long as the pickle.
Pickle read_pickle(std::string_view bytes, const std::string& where, ReadBudget&);

// Writes the root as a pickle of protocol 2, for values of the kinds none to persistent. Lists are written as
// lists; arguments of calls and ids of persistent objects are written as tuples. A value that is part of
// several others is written several times.
std::string write_pickle(const Pickle&);

}  // namespace lunagrad
