#include "runtime/io/pickle.h"

#include <bit>
#include <cstring>
#include <map>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

constexpr uint64_t kSlot = 2 * sizeof(Pickled);  // bytes of a vector's element; vectors double
constexpr size_t kLongestName = 1000;            // of a function, including its module
constexpr uint64_t kMemo = 64;                   // bytes of an entry of the memo

// The stack machine of a pickle.
class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& where, ReadBudget& budget)
      : bytes_(bytes), where_(where), budget_(budget), out_(&budget) {}

  Pickle read() {
    for (;;) {
      const char code = take(1)[0];
      if (code == '.') {
        out_.root = pop();
        return std::move(out_);
      }
      step(code);
    }
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, where_, ": ", parts...);
  }

  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) complain("the pickle ends early");
    const std::string_view piece = bytes_.substr(at_, size_t(count));
    at_ += size_t(count);
    return piece;
  }
  std::string_view take_line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) complain("the pickle ends early");
    const std::string_view line = take(end - at_);
    take(1);
    return line;
  }
  template <class T>
  T number() {  // little-endian
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  Pickled pop() {
    if (stack_.empty() || stack_.back()->kind == PickleKind::mark)
      complain("the pickle is damaged: its stack is empty");
    const Pickled top = stack_.back();
    stack_.pop_back();
    return top;
  }
  PickleValue& top() {
    if (stack_.empty() || stack_.back()->kind == PickleKind::mark)
      complain("the pickle is damaged: its stack is empty");
    return *stack_.back();
  }
  // Returns the values above the last mark, and removes them and the mark.
  std::vector<Pickled> pop_to_mark() {
    size_t mark = stack_.size();
    while (mark > 0 && stack_[mark - 1]->kind != PickleKind::mark) --mark;
    if (mark == 0) complain("the pickle is damaged: it has no mark");
    std::vector<Pickled> values(stack_.begin() + long(mark), stack_.end());
    stack_.resize(mark - 1);
    return values;
  }

  void push(Pickled value) {
    budget_.take(kSlot);
    stack_.push_back(value);
  }
  void push_tuple(size_t count) {
    std::vector<Pickled> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push(out_.list(std::move(items)));
  }

  void remember(uint64_t key) {
    top();  // throws an Error when there is none
    budget_.take(kMemo);
    memo_[key] = stack_.back();
  }
  void recall(uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) complain("the pickle is damaged: nothing has the number ", key);
    push(found->second);
  }

  void append(const std::vector<Pickled>& values) {
    PickleValue& list = top();
    if (list.kind != PickleKind::list) complain("the pickle is damaged: it appends to no list");
    budget_.take(values.size() * kSlot);
    list.items.insert(list.items.end(), values.begin(), values.end());
  }
  void set_items(const std::vector<Pickled>& values) {
    PickleValue& dict = top();
    if (dict.kind != PickleKind::dict && dict.kind != PickleKind::call)
      complain("the pickle is damaged: it sets items of no dict");
    if (values.size() % 2) complain("the pickle is damaged: a key has no value");
    budget_.take(values.size() * kSlot);
    for (size_t i = 0; i < values.size(); i += 2) dict.pairs.emplace_back(values[i], values[i + 1]);
  }
  void build() {
    const Pickled state = pop();
    PickleValue& object = top();
    if (object.kind == PickleKind::call && object.items.size() == 2) object.items.push_back(state);
  }

  // An integer of up to eight bytes, two's complement. Longer integers are not supported.
  void push_long(uint64_t count) {
    const std::string_view digits = take(count);
    if (count > 8) complain("an integer of ", count, " bytes does not fit 64 bits");
    uint64_t value = count > 0 && (digits[size_t(count) - 1] & 0x80) ? ~uint64_t(0) : 0;
    for (size_t i = size_t(count); i-- > 0;) value = value << 8 | uint8_t(digits[i]);
    push(out_.integer(int64_t(value)));
  }

  void push_global(std::string_view module, std::string_view name) {
    if (module.size() + name.size() > kLongestName)
      complain("the pickle is damaged: the name of a function has ", module.size() + name.size(), " bytes");
    push(out_.global(module, name));
  }

  void step(char code) {
    switch (code) {
      case '\x80':  // PROTO
        if (const auto version = number<uint8_t>(); version > 5)
          complain("pickle protocol ", int(version), " is not known");
        return;
      case '\x95':  // FRAME
        number<uint64_t>();
        return;
      case '(':
        return push(out_.make(PickleKind::mark));
      case '0':
        pop();
        return;
      case '1':
        pop_to_mark();
        return;
      case '2': {
        top();
        return push(stack_.back());
      }
      case 'N':
        return push(out_.none());
      case '\x88':
      case '\x89':
        return push(out_.boolean(code == '\x88'));
      case 'J':
        return push(out_.integer(number<int32_t>()));
      case 'K':
        return push(out_.integer(number<uint8_t>()));
      case 'M':
        return push(out_.integer(number<uint16_t>()));
      case '\x8a':
        return push_long(number<uint8_t>());
      case '\x8b':
        return push_long(number<uint32_t>());
      case 'G': {  // big-endian
        uint64_t bits = number<uint64_t>();
        if constexpr (std::endian::native == std::endian::little) bits = __builtin_bswap64(bits);
        return push(out_.real(std::bit_cast<double>(bits)));
      }
      case 'X':
      case 'T':
      case 'B':
        return push(out_.text(take(number<uint32_t>())));
      case 'U':
      case 'C':
      case '\x8c':
        return push(out_.text(take(number<uint8_t>())));
      case '\x8d':
      case '\x8e':
      case '\x96':
        return push(out_.text(take(number<uint64_t>())));
      case ']':
      case ')':
      case '\x8f':
        return push(out_.make(PickleKind::list));
      case 'l':
      case 't':
      case '\x91':
        return push(out_.list(pop_to_mark()));
      case '\x85':
      case '\x86':
      case '\x87':
        return push_tuple(size_t(uint8_t(code) - 0x84));
      case 'a':
        return append({pop()});
      case 'e':
      case '\x90':
        return append(pop_to_mark());
      case '}':
        return push(out_.make(PickleKind::dict));
      case 'd': {
        const std::vector<Pickled> values = pop_to_mark();
        push(out_.make(PickleKind::dict));
        return set_items(values);
      }
      case 's': {
        const Pickled value = pop(), key = pop();
        return set_items({key, value});
      }
      case 'u':
        return set_items(pop_to_mark());
      case 'c': {
        const std::string_view module = take_line();
        return push_global(module, take_line());
      }
      case '\x93': {
        const Pickled name = pop(), module = pop();
        if (name->kind != PickleKind::text || module->kind != PickleKind::text)
          complain("the pickle is damaged: a name is no text");
        return push_global(module->text, name->text);
      }
      case 'R':
      case '\x81': {
        const Pickled arguments = pop(), function = pop();
        return push(out_.call(function, arguments));
      }
      case 'b':
        return build();
      case 'Q': {
        const Pickled value = out_.make(PickleKind::persistent);
        value->items = {pop()};
        return push(value);
      }
      case 'q':
        return remember(number<uint8_t>());
      case 'r':
        return remember(number<uint32_t>());
      case '\x94':
        return remember(memo_.size());
      case 'h':
        return recall(number<uint8_t>());
      case 'j':
        return recall(number<uint32_t>());
      default:
        complain("pickle opcode ", int(uint8_t(code)), " is not known");
    }
  }

  std::string_view bytes_;
  const std::string& where_;
  ReadBudget& budget_;
  size_t at_ = 0;
  Pickle out_;
  std::vector<Pickled> stack_;
  std::map<uint64_t, Pickled> memo_;
};

class PickleWriter {
 public:
  std::string write(const PickleValue& value) {
    out_ = "\x80\x02";
    add(value);
    return out_ + ".";
  }

 private:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add(const PickleValue& value) {
    switch (value.kind) {
      case PickleKind::none:
        out_ += 'N';
        return;
      case PickleKind::boolean:
        out_ += value.boolean ? '\x88' : '\x89';
        return;
      case PickleKind::integer:
        if (value.integer >= INT32_MIN && value.integer <= INT32_MAX) {
          out_ += 'J';
          return number(int32_t(value.integer));
        }
        out_ += "\x8a\x08";
        return number(value.integer);
      case PickleKind::real:
        out_ += 'G';
        return number(__builtin_bswap64(std::bit_cast<uint64_t>(value.real)));
      case PickleKind::text:
        out_ += 'X';
        number(uint32_t(value.text.size()));
        out_ += value.text;
        return;
      case PickleKind::list:
        out_ += "](";
        for (const Pickled& item : value.items) add(*item);
        out_ += 'e';
        return;
      case PickleKind::dict:
        out_ += "}(";
        for (const auto& [key, item] : value.pairs) add(*key), add(*item);
        out_ += 'u';
        return;
      case PickleKind::global:
        out_ += 'c' + value.text.substr(0, value.text.find(' ')) + '\n' +
                value.text.substr(value.text.find(' ') + 1) + '\n';
        return;
      case PickleKind::call:
        add(*value.items[0]);
        add_tuple(*value.items[1]);
        out_ += 'R';
        return;
      case PickleKind::persistent:
        add_tuple(*value.items[0]);
        out_ += 'Q';
        return;
      case PickleKind::mark:
        return;
    }
  }

  void add_tuple(const PickleValue& list) {
    out_ += '(';
    for (const Pickled& item : list.items) item->kind == PickleKind::list ? add_tuple(*item) : add(*item);
    out_ += 't';
  }

  std::string out_;
};

}  // namespace

Pickled Pickle::make(PickleKind kind) {
  if (budget_) budget_->take(sizeof(PickleValue));
  values_.emplace_back().kind = kind;
  return &values_.back();
}
Pickled Pickle::constant(size_t which, PickleKind kind) {
  if (!constants_[which]) constants_[which] = make(kind);
  return constants_[which];
}
Pickled Pickle::none() { return constant(2, PickleKind::none); }
Pickled Pickle::boolean(bool flag) {
  const Pickled value = constant(flag, PickleKind::boolean);
  value->boolean = flag;
  return value;
}
Pickled Pickle::integer(int64_t number) {
  const Pickled value = make(PickleKind::integer);
  value->integer = number;
  return value;
}
Pickled Pickle::real(double number) {
  const Pickled value = make(PickleKind::real);
  value->real = number;
  return value;
}
Pickled Pickle::text(std::string_view characters) {
  const Pickled value = make(PickleKind::text);
  if (budget_) budget_->take(characters.size());
  value->text = characters;
  return value;
}
Pickled Pickle::list(std::vector<Pickled> items) {
  const Pickled value = make(PickleKind::list);
  if (budget_) budget_->take(items.size() * kSlot);
  value->items = std::move(items);
  return value;
}
Pickled Pickle::global(std::string_view module, std::string_view name) {
  const Pickled value = make(PickleKind::global);
  if (budget_) budget_->take(module.size() + name.size());
  value->text = std::string(module) + " " + std::string(name);
  return value;
}
Pickled Pickle::call(Pickled function, Pickled arguments) {
  const Pickled value = make(PickleKind::call);
  if (budget_) budget_->take(4 * kSlot);
  value->items = {function, arguments};
  return value;
}

Pickle read_pickle(std::string_view bytes, const std::string& where, ReadBudget& budget) {
  return PickleReader(bytes, where, budget).read();
}
std::string write_pickle(const Pickle& pickle) { return PickleWriter().write(*pickle.root); }

}  // namespace lunagrad
