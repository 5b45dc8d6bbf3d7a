#pragma once
// The classes that a compiled Lua chunk makes with nn.class: which fields of their objects the chunk reads,
// and which it assigns. Any thread.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "script/chunk/follow.h"

namespace lunagrad {

class ClassFields : public ChunkObserver {
 public:
  struct Missing {
    std::string type, field;         // "Block", "dwon"
    std::vector<std::string> known;  // fields and methods of the class, to suggest one
    int line = 0;
  };
  // The reads of fields that nothing in the chunk assigns and no library module has, by line. `of_library`:
  // whether an object of nn.Module has the field.
  std::vector<Missing> missing(const std::function<bool(const std::string& field)>& of_library) const;

  void reads(const Known& holder, std::string_view field, int line, bool method) override;
  void assigns(const Known& holder, std::string_view field, int line) override;
  void calls(const Known& function, std::span<const Known> arguments, int line) override;
  void makes_class(const Known& type, const Known& parent) override;

 private:
  struct Read {
    int type;
    std::string field;
    int line;
  };
  struct Class {
    std::string name;
    int parent = -1;
    bool open = false;  // objects may have fields with unknown names
    std::set<std::string> fields;
  };
  static bool is_ours(const Known&);
  std::map<int, Class> classes_;
  std::vector<Read> reads_;
  std::set<std::string> elsewhere_;  // assigned in unknown tables, which may be objects
};

}  // namespace lunagrad
