#include "capi/values.h"

#include <algorithm>
#include <iterator>

#include "capi/structs.h"

namespace lunagrad::capi {

using TablePtr = std::shared_ptr<const SessionTable>;

ValueObject& value_of(const lg_value* handle, const Engine& engine) {
  const HandleSlot& slot = slot_of(handle, Kind::value);
  if (slot.engine != &engine) refuse(LG_INVALID_HANDLE, "the value belongs to another engine");
  return static_cast<ValueObject&>(*slot.owned);
}

lg_value* new_value(Engine& engine, SessionValue value) {
  auto made = std::make_unique<ValueObject>(std::move(value));
  engine.slots.reserve(1);
  return engine.slots.add_value(made.release());
}

namespace {

constexpr size_t kData = 72;  // size of the first version
static_assert(sizeof(lg_data) == kData);

// Runs f(engine, value) for the engine of the handle.
template <class F>
lg_code with_value(const lg_value* value, F f) {
  return wall([&] {
    HandleSlot& slot = slot_of(value, Kind::value);
    const Work work(*slot.engine);
    f(*slot.engine, static_cast<ValueObject&>(*slot.owned).value);
  });
}

const char* kind_text(const SessionValue& value) {
  static constexpr const char* kNames[] = {"nil",    "a boolean", "an integer", "a real",
                                           "a text", "a tensor",  "a tensor",   "a table"};
  return kNames[value.is.index()];
}

const TablePtr& table_of(const SessionValue& value) {
  if (const TablePtr* const table = std::get_if<TablePtr>(&value.is)) return *table;
  refuse(LG_VALUE, "a table is expected, and the value is ", kind_text(value));
}

// The table of a value, which no other value has. Tables are made as values that may change.
SessionTable& changed_table(SessionValue& value) {
  table_of(value);
  TablePtr& table = std::get<TablePtr>(value.is);
  if (table.use_count() > 1) table = std::make_shared<SessionTable>(*table);
  return const_cast<SessionTable&>(*table);
}

// The value that becomes an item or a field.
SessionValue inner_of(const lg_value* handle, const Engine& engine) {
  if (!handle) return {};
  const SessionValue& value = value_of(handle, engine).value;
  if (depth_of(value) >= kMostNestedTables)
    refuse(LG_VALUE, "tables are nested more than ", kMostNestedTables, " deep");
  return value;
}

SessionValue value_from(const lg_data& given, const Engine& engine) {
  switch (given.kind) {
    case LG_NONE:
      return {};
    case LG_BOOLEAN:
      if (given.integer != 0 && given.integer != 1)
        refuse(LG_INVALID_ARGUMENT, "a boolean is 0 or 1, and ", given.integer, " is given");
      return {given.integer == 1};
    case LG_INTEGER:
      return {given.integer};
    case LG_REAL:
      return {given.real};
    case LG_TEXT:
      if (given.length) require(given.text, "text");
      return {std::string(given.length ? given.text : "", given.length)};
    case LG_TENSOR:
      return {tensor_of(given.tensor, engine)};
    case LG_TABLE:
      return {TablePtr(std::make_shared<SessionTable>())};
  }
  refuse(LG_INVALID_ARGUMENT, "no value has the kind ", given.kind);
}

lg_data data_of(const SessionValue& value) {
  lg_data found{};
  if (const bool* const b = std::get_if<bool>(&value.is)) {
    found.kind = LG_BOOLEAN;
    found.integer = *b;
    found.real = *b;
  } else if (const int64_t* const i = std::get_if<int64_t>(&value.is)) {
    found.kind = LG_INTEGER;
    found.integer = *i;
    found.real = double(*i);
  } else if (const double* const f = std::get_if<double>(&value.is)) {
    found.kind = LG_REAL;
    found.real = *f;
  } else if (const std::string* const bytes = std::get_if<std::string>(&value.is)) {
    found.kind = LG_TEXT;
    found.text = bytes->c_str();
    found.length = bytes->size();
  } else if (std::get_if<Tensor>(&value.is)) {
    found.kind = LG_TENSOR;
  } else if (const TablePtr* const table = std::get_if<TablePtr>(&value.is)) {
    found.kind = LG_TABLE;
    found.n_items = (*table)->items.size();
    found.n_fields = (*table)->fields.size();
  }
  return found;
}

}  // namespace
}  // namespace lunagrad::capi

using namespace lunagrad;
using namespace lunagrad::capi;

lg_code lg_value_make(lg_engine* engine, const lg_data* data, lg_value** value) {
  return wall([&] {
    require(value, "value");
    Engine& held = engine_of(engine);
    const Work work(held);
    *value = new_value(held, value_from(read_struct(data, kData, "lg_data"), held));
  });
}

lg_code lg_value_release(lg_value* value) {
  return wall([&] {
    if (!value) return;
    HandleSlot& slot = slot_of(value, Kind::value);
    const Work work(*slot.engine);
    slot.engine->slots.release(slot);
  });
}

lg_code lg_value_get(lg_value* value, lg_data* data) {
  return with_value(
      value, [&](Engine&, const SessionValue& held) { write_struct(data, data_of(held), kData, "lg_data"); });
}

lg_code lg_value_tensor(lg_value* value, lg_tensor** tensor) {
  return with_value(value, [&](Engine& engine, const SessionValue& held) {
    require(tensor, "tensor");
    const Tensor* const x = std::get_if<Tensor>(&held.is);
    if (!x) refuse(LG_VALUE, "a tensor is expected, and the value is ", kind_text(held));
    *tensor = new_handle(engine, *x);
  });
}

lg_code lg_table_item(lg_value* table, size_t index, lg_value** item) {
  return with_value(table, [&](Engine& engine, const SessionValue& held) {
    require(item, "item");
    const SessionTable& found = *table_of(held);
    if (index >= found.items.size())
      refuse(LG_NOT_FOUND, "the table has ", found.items.size(), " items, and index is ", index);
    *item = new_value(engine, found.items[index]);
  });
}

lg_code lg_table_set_item(lg_value* table, size_t index, lg_value* item) {
  return with_value(table, [&](Engine& engine, SessionValue& held) {
    const size_t count = table_of(held)->items.size();
    if (index > count) refuse(LG_NOT_FOUND, "the table has ", count, " items, and index is ", index);
    SessionValue value = inner_of(item, engine);
    if (value.nil() && index + 1 < count)
      refuse(LG_VALUE, "only the last item can be removed: a list has no nil inside");
    SessionTable& changed = changed_table(held);
    if (value.nil()) {
      if (index < count) changed.items.pop_back();
    } else if (index == count) {
      changed.items.push_back(std::move(value));
    } else {
      changed.items[index] = std::move(value);
    }
  });
}

lg_code lg_table_field(lg_value* table, const char* name, lg_value** field) {
  return with_value(table, [&](Engine& engine, const SessionValue& held) {
    require(name, "name");
    require(field, "field");
    const auto& fields = table_of(held)->fields;
    const auto found = fields.find(name);
    if (found == fields.end()) refuse(LG_NOT_FOUND, "the table has no field '", name, "'");
    *field = new_value(engine, found->second);
  });
}

lg_code lg_table_set_field(lg_value* table, const char* name, lg_value* field) {
  return with_value(table, [&](Engine& engine, SessionValue& held) {
    require(name, "name");
    SessionValue value = inner_of(field, engine);
    SessionTable& changed = changed_table(held);
    if (value.nil())
      changed.fields.erase(name);
    else
      changed.fields[name] = std::move(value);
  });
}

lg_code lg_table_field_at(lg_value* table, size_t index, const char** name, size_t* length,
                          lg_value** field) {
  return with_value(table, [&](Engine& engine, const SessionValue& held) {
    require(name, "name");
    const auto& fields = table_of(held)->fields;
    if (index >= fields.size())
      refuse(LG_NOT_FOUND, "the table has ", fields.size(), " fields, and index is ", index);
    const auto found = std::next(fields.begin(), std::ptrdiff_t(index));
    if (field) *field = new_value(engine, found->second);
    *name = found->first.c_str();
    if (length) *length = found->first.size();
  });
}
