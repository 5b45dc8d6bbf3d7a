// The functions of lunagrad.core that lg.data calls: batch plans, which describe how samples become batches;
// passes, whose batches worker threads make ahead of the script; and functions that read folders and files.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "runtime/io/input_file.h"
#include "runtime/io/png.h"
#include "runtime/io/prefetch.h"
#include "runtime/ops.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/size.h"
#include "script/lua/user_type.h"

namespace lunagrad {
namespace {

constexpr UserType<const BatchPlan> kPlan("lunagrad.BatchPlan", "plan of batches");
constexpr UserType<Prefetch> kPrefetch("lunagrad.Prefetch", "pass of batches");

std::string readable_path(lua_State* L, int index) {
  return binding_state(L).files.check(std::string(check_string(L, index, "data")), FileUse::read, "data");
}

// --- plans ---

void require_table(lua_State* L, int index) {
  if (!lua_istable(L, index)) fail("data: a table expected (got ", type_name(L, index), ")");
}

int64_t integer_field(lua_State* L, int table, const char* name) {
  lua_getfield(L, table, name);
  const int64_t value = check_integer(L, lua_gettop(L), {"data", name});
  lua_pop(L, 1);
  return value;
}

std::vector<float> floats_field(lua_State* L, int table, const char* name) {
  std::vector<float> values;
  if (lua_getfield(L, table, name) == LUA_TTABLE)
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; ++i, lua_pop(L, 1))
      values.push_back(float(check_number(L, lua_gettop(L), {"transform", name})));
  lua_settop(L, table);
  return values;
}

// {{kind = "normalize", mean =, std =}, {kind = "crop", height =, width =, padding =}, {kind = "flip", p =}};
// lg.data.transform has checked the values.
std::vector<ImageStep> check_steps(lua_State* L, int index) {
  std::vector<ImageStep> steps;
  require_table(L, index);
  for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; ++i, lua_settop(L, index)) {
    const int table = lua_gettop(L);
    require_table(L, table);
    ImageStep step;
    lua_getfield(L, table, "kind");
    const std::string_view kind = check_string(L, -1, "transform");
    if (kind == "normalize") {
      step.mean = floats_field(L, table, "mean");
      step.deviation = floats_field(L, table, "std");
    } else if (kind == "crop") {
      step.kind = ImageStep::Kind::crop;
      step.height = integer_field(L, table, "height");
      step.width = integer_field(L, table, "width");
      step.padding = integer_field(L, table, "padding");
    } else {
      step.kind = ImageStep::Kind::flip;
      lua_getfield(L, table, "p");
      step.probability = check_number(L, -1, {"transform", "p"});
    }
    steps.push_back(std::move(step));
  }
  lua_settop(L, index);
  return steps;
}

// {rows = tensor}, {windows = u8 tensor, start =, stride =, length =} or
// {files = {paths}, channels =, shape = {…}}
BatchColumn check_column(lua_State* L, int table) {
  BatchColumn column;
  require_table(L, table);
  if (lua_getfield(L, table, "rows") != LUA_TNIL) {
    const Tensor rows = check_tensor(L, -1, "data").detach();
    if (rows.ndim() == 0) fail("data: a tensor with a first dim expected");
    if (!rows.device().is_cpu())
      fail("DataLoader: workers and transforms read tensors on the CPU (got one on ", rows.device().name(),
           ")");
    column.source = contiguous(rows);
    column.shape = column.source.shape();
    column.shape.erase(0);
    column.dtype = column.source.dtype();
  } else if (lua_getfield(L, table, "windows") != LUA_TNIL) {
    column.kind = BatchColumn::Kind::windows;
    column.source = contiguous(check_tensor(L, -1, "data"));
    if (column.source.dtype() != DType::u8 || column.source.ndim() != 1 || !column.source.device().is_cpu())
      fail("data: windows are cut from u8 [bytes] on the CPU");
    column.start = integer_field(L, table, "start");
    column.stride = integer_field(L, table, "stride");
    column.shape = {integer_field(L, table, "length")};
    column.dtype = DType::i64;
  } else {
    column.kind = BatchColumn::Kind::images;
    column.channels = int(integer_field(L, table, "channels"));
    lua_getfield(L, table, "shape");
    column.shape = check_integers(L, lua_gettop(L), lua_gettop(L), "data");
    lua_getfield(L, table, "files");
    require_table(L, lua_gettop(L));
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; ++i, lua_pop(L, 1))
      column.files.push_back(readable_path(L, -1));
  }
  lua_settop(L, table);
  return column;
}

// Error unless the column holds at least `samples` samples.
void require_samples(const BatchColumn& column, int64_t samples) {
  int64_t held = int64_t(column.files.size()), end = 0;
  if (column.kind == BatchColumn::Kind::rows) held = column.source.size(0);
  if (column.kind == BatchColumn::Kind::windows) {
    const int64_t length = column.shape[0];
    const bool fits =
        samples <= 0 || (column.start >= 0 && column.stride > 0 && length > 0 &&
                         !__builtin_mul_overflow(samples - 1, column.stride, &end) &&
                         !__builtin_add_overflow(end, column.start, &end) &&
                         !__builtin_add_overflow(end, length, &end) && end <= column.source.numel());
    held = fits ? samples : 0;
  }
  if (samples < 0 || samples > held) fail("data: ", samples, " samples, and a column holds ", held);
}

// data_plan(samples, columns, steps) -> plan
int data_plan(lua_State* L) {
  lua_settop(L, 3);
  auto plan = std::make_shared<BatchPlan>();
  plan->samples = check_integer(L, 1, "data");
  require_table(L, 2);
  for (lua_Integer i = 1; lua_rawgeti(L, 2, i) != LUA_TNIL; ++i) {
    plan->columns.push_back(check_column(L, lua_gettop(L)));
    lua_settop(L, 3);
  }
  lua_settop(L, 3);
  if (plan->columns.empty()) fail("data: at least one column expected");
  for (const BatchColumn& column : plan->columns) require_samples(column, plan->samples);
  plan->steps = check_steps(L, 3);
  if (!plan->steps.empty()) {
    BatchColumn& first = plan->columns[0];
    if (first.kind == BatchColumn::Kind::rows && first.dtype != DType::u8 && first.dtype != DType::f32)
      fail("transform: images of u8 or f32 expected (got ", first.dtype, ")");
    first.shape = transformed(plan->steps, first.shape);
    first.dtype = DType::f32;
  }
  kPlan.push(L, std::move(plan));
  return 1;
}

// Reads a 1-d tensor of sample indices, from 0. Error for an index outside of the plan's samples.
std::vector<int64_t> check_order(lua_State* L, int index, const BatchPlan& plan) {
  const Tensor& tensor = check_tensor(L, index, "data");
  if (!is_integral(tensor.dtype()) || tensor.ndim() != 1)
    fail("data: indices are a list of integers (got ", tensor.dtype(), " ", tensor.shape(), ")");
  std::vector<int64_t> order = tensor.to_vector<int64_t>();
  for (const int64_t i : order)
    if (i < 0 || i >= plan.samples)
      fail("data: index ", i, " is out of range for ", plan.samples, " samples");
  return order;
}

BatchDraw check_draw(lua_State* L, int index) {
  return {uint64_t(check_integer(L, index, "data")), uint64_t(check_integer(L, index + 1, "data"))};
}

// Pushes the tensors of a batch. Windows and images come from files, so they are moved to the default device,
// like all data from files. Rows of tensors stay on the CPU.
int push_batch(lua_State* L, const BatchPlan& plan, TensorList batch) {
  luaL_checkstack(L, int(batch.size()), "data");
  const bool from_files = plan.columns[0].kind != BatchColumn::Kind::rows;
  for (Tensor& tensor : batch) push_result(L, from_files ? to(tensor, *context().device) : std::move(tensor));
  after_op(L);
  return int(batch.size());
}

// plan_batch(plan, indices, seed, pass) -> a tensor for each column
int plan_batch(lua_State* L) {
  const std::shared_ptr<const BatchPlan> plan = kPlan.check(L, 1, "data");
  const std::vector<int64_t> indices = check_order(L, 2, *plan);
  const BatchDraw draw = check_draw(L, 3);
  TensorList batch = empty_batch(*plan, int64_t(indices.size()));
  std::vector<void*> out;
  for (const Tensor& tensor : batch) out.push_back(tensor.raw());
  fill_batch(*plan, indices.data(), int64_t(indices.size()), draw, out.data(), context().stop_requested);
  context().check_stop();
  return push_batch(L, *plan, std::move(batch));
}

// --- passes ---

// prefetch(plan, order, seed, pass, batch_size, first, batches, workers, ahead) -> pass
int start_prefetch(lua_State* L) {
  const std::shared_ptr<const BatchPlan> plan = kPlan.check(L, 1, "data");
  std::vector<int64_t> order = check_order(L, 2, *plan);
  const PrefetchOptions options{.batch_size = check_integer(L, 5, "data"),
                                .first = check_integer(L, 6, "data"),
                                .batches = check_integer(L, 7, "data"),
                                .workers = int(check_integer(L, 8, "data")),
                                .ahead = int(check_integer(L, 9, "data"))};
  // DataLoader has checked these values. This check protects the engine from a script that calls _prefetch
  // directly.
  if (options.batch_size < 1 || options.first < 0 || options.batches < options.first || options.workers < 1 ||
      options.workers > 1024 || options.ahead < 1 || options.ahead > 1 << 20 ||
      options.batches > (order.empty() ? 0 : (int64_t(order.size()) - 1) / options.batch_size + 1))
    fail("data: no such batches");
  kPrefetch.push(L, std::make_shared<Prefetch>(plan, std::move(order), options, check_draw(L, 3)));
  return 1;
}

// prefetch_next(pass) -> a tensor for each column; nothing at the end
int prefetch_next(lua_State* L) {
  const std::shared_ptr<Prefetch> pass = kPrefetch.check(L, 1, "data");
  return push_batch(L, pass->plan(), pass->next());
}

// --- files ---

// list_folder(path) -> names of its folders, names of its files; both sorted by bytes
int list_folder(lua_State* L) {
  const std::string path = readable_path(L, 1);
  std::vector<std::string> folders, files;
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (entry->is_directory(ignored))
      folders.push_back(name);
    else if (entry->is_regular_file(ignored))
      files.push_back(name);
  }
  if (error) fail_as(ErrorKind::file, path, ": cannot read the folder: ", error.message());
  for (std::vector<std::string>* list : {&folders, &files}) {
    std::sort(list->begin(), list->end());
    lua_createtable(L, int(list->size()), 0);
    for (size_t i = 0; i < list->size(); ++i) {
      push_string(L, (*list)[i]);
      lua_rawseti(L, -2, lua_Integer(i) + 1);
    }
  }
  return 2;
}

// image_shape(path, channels) -> {channels, height, width} of a PNG file
int image_shape(lua_State* L) {
  const FileInfo info = describe_png(readable_path(L, 1));
  const std::vector<uint64_t>& shape = info.arrays[0].shape;
  push_dims(L, {check_integer(L, 2, "data"), int64_t(shape[1]), int64_t(shape[2])});
  return 1;
}

// read_bytes(path) -> u8 [bytes], on the CPU
int read_bytes(lua_State* L) {
  const InputFile file{readable_path(L, 1)};
  Tensor out = Tensor::empty({int64_t(file.size())}, DType::u8);
  if (file.size() > 0) file.read(out.raw(), 0, file.size());
  push_result(L, std::move(out));
  return 1;
}

constexpr luaL_Reg kFunctions[] = {
    {"_data_plan", guard<data_plan>},     {"_plan_batch", guard<plan_batch>},
    {"_prefetch", guard<start_prefetch>}, {"_prefetch_next", guard<prefetch_next>},
    {"_list_folder", guard<list_folder>}, {"_image_shape", guard<image_shape>},
    {"_read_bytes", guard<read_bytes>},   {nullptr, nullptr}};

template <class T>
void define(lua_State* L, const UserType<T>& type) {
  type.define(L);
  lua_pushboolean(L, false);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

}  // namespace

void bind_data(lua_State* L, int core, int) {
  define(L, kPlan);
  define(L, kPrefetch);
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
