#include "runtime/io/pt.h"

#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/io/pickle.h"
#include "runtime/io/read_budget.h"
#include "runtime/io/zip_archive.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

constexpr uint64_t kLongestPickle = uint64_t(1) << 28;  // in bytes
constexpr uint64_t kRatio = 256;     // bytes of values per byte of the pickle: "]" makes a list
constexpr uint64_t kTextRatio = 16;  // bytes of texts per byte: a recalled text is copied
constexpr uint64_t kTensor = 256;    // bytes of a tensor's objects

// The types of storages. Types of 8 and 16 bits become i32.
struct StorageType {
  const char* name;  // name of the storage class, and the dtype
  const char* dtype_name;
  DType dtype;
  int file_bytes = 0;  // bytes of an element in the file; 0: the same as in `dtype`
};
constexpr StorageType kTypes[] = {
    {"torch FloatStorage", "torch float32", DType::f32},
    {"torch DoubleStorage", "torch float64", DType::f64},
    {"torch HalfStorage", "torch float16", DType::f16},
    {"torch BFloat16Storage", "torch bfloat16", DType::bf16},
    {"torch LongStorage", "torch int64", DType::i64},
    {"torch IntStorage", "torch int32", DType::i32},
    {"torch ByteStorage", "torch uint8", DType::u8},
    {"torch BoolStorage", "torch bool", DType::boolean},
    {"torch ComplexFloatStorage", "torch complex64", DType::c64},
    {"torch ComplexDoubleStorage", "torch complex128", DType::c128},
    {"torch ShortStorage", "torch int16", DType::i32, 2},
    {"torch CharStorage", "torch int8", DType::i32, 1},
};

const StorageType* type_of(const std::string& name) {
  for (const StorageType& type : kTypes)
    if (name == type.name || name == type.dtype_name) return &type;
  return nullptr;
}

template <class T>
void widen_to_i32(const std::string& bytes, int32_t* to) {
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    to[i] = value;
  }
}

// Makes the object of a file from its pickle.
class PtLoader {
 public:
  explicit PtLoader(const std::string& path)
      : path_(path), archive_(path, ".pt file (torch.save of PyTorch 1.6 or newer)") {
    const ZipEntry* pickled = nullptr;
    for (const ZipEntry& entry : archive_.entries()) {
      if (entry.name.ends_with("/data.pkl")) pickled = &entry;
      if (entry.name.ends_with("/byteorder") && is_big_endian(entry)) complain("its numbers are big-endian");
    }
    if (!pickled) complain("not a .pt file: it has no data.pkl");
    root_ = pickled->name.substr(0, pickled->name.size() - std::string_view("data.pkl").size());
    if (pickled->size > kLongestPickle)
      complain("its pickle has ", pickled->size, " bytes, more than ", kLongestPickle);
    for (const ZipEntry& entry : archive_.entries())
      if (entry.name.starts_with(root_ + "data/"))
        storages_[entry.name.substr(root_.size() + 5)] = {&entry, {}};
    budget_.emplace(path + ": data.pkl", pickled->packed, kRatio);
    texts_.emplace(path + ": data.pkl: its texts", pickled->packed, kTextRatio);
    pickle_ = read_pickle(archive_.content(*pickled, "data.pkl", *budget_), path, *budget_);
  }

  PtValue load() { return convert(pickle_.root, 0); }

 private:
  struct Stored {
    const ZipEntry* entry;
    std::map<const StorageType*, Tensor> elements;  // the storage's elements, read as each type
  };

  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": ", parts...);
  }

  bool is_big_endian(const ZipEntry& entry) const {
    char start[3];
    if (entry.size < sizeof start) return false;
    archive_.open(entry, "byteorder").read(start, sizeof start);
    return std::string_view(start, sizeof start) == "big";
  }

  PtValue convert(Pickled from, int depth) {
    if (depth > kDeepestNesting) complain("more than ", kDeepestNesting, " lists within each other");
    texts_->take(from->text.size());  // charged again each time a value is recalled
    switch (from->kind) {
      case PickleKind::none:
        return {};
      case PickleKind::boolean:
        return {from->boolean};
      case PickleKind::integer:
        return {from->integer};
      case PickleKind::real:
        return {from->real};
      case PickleKind::text:
        return {from->text};
      case PickleKind::list:
        return {list(from->items, depth)};
      case PickleKind::dict:
        return {dict(from->pairs, depth)};
      case PickleKind::global:
        if (from->text.starts_with("torch ")) return {"torch." + from->text.substr(6)};
        refuse(from->text);
      case PickleKind::call:
        return call(*from, depth);
      case PickleKind::persistent:
      case PickleKind::mark:
        break;
    }
    complain("the pickle is damaged: a storage stands where an object is expected");
  }

  PtValue::List list(const std::vector<Pickled>& items, int depth) {
    PtValue::List out;
    budget_->take(items.size() * sizeof(PtValue));
    out.reserve(items.size());
    for (const Pickled item : items) out.push_back(convert(item, depth + 1));
    return out;
  }
  PtValue::Dict dict(const std::vector<std::pair<Pickled, Pickled>>& pairs, int depth) {
    PtValue::Dict out;
    budget_->take(pairs.size() * sizeof out[0]);
    out.reserve(pairs.size());
    for (const auto& [key, item] : pairs) {
      PtValue name = convert(key, depth + 1);
      out.emplace_back(std::move(name), convert(item, depth + 1));
    }
    return out;
  }

  [[noreturn]] void refuse(std::string function) const {
    if (const size_t space = function.find(' '); space != std::string::npos) function[space] = '.';
    complain("it needs ", function, ", which is not read: tensors, numbers, texts, lists and dicts are");
  }

  // The arguments of a call. Error when there are fewer than `wanted`.
  const std::vector<Pickled>& arguments(const PickleValue& call, size_t wanted) const {
    const PickleValue& given = *call.items[1];
    if (given.kind != PickleKind::list || given.items.size() < wanted)
      complain("the pickle is damaged: ", call.items[0]->text, " has too few arguments");
    return given.items;
  }

  PtValue call(const PickleValue& from, int depth) {
    if (from.items[0]->kind != PickleKind::global)
      complain("the pickle is damaged: it calls something that is no function");
    const std::string& function = from.items[0]->text;
    if (function == "torch._utils _rebuild_tensor_v2" || function == "torch._utils _rebuild_tensor_v3")
      return {tensor(arguments(from, 4), function.ends_with("3"))};
    if (function == "torch._utils _rebuild_parameter" ||
        function == "torch._utils _rebuild_parameter_with_state")
      return convert(arguments(from, 1)[0], depth + 1);
    if (function == "torch._tensor _rebuild_from_type_v2") {  // (function, type, arguments, state)
      const std::vector<Pickled>& given = arguments(from, 3);
      PickleValue inner;
      inner.kind = PickleKind::call;
      inner.items = {given[0], given[2]};
      if (depth > kDeepestNesting) complain("more than ", kDeepestNesting, " calls within each other");
      return call(inner, depth + 1);
    }
    if (function == "collections OrderedDict" || function == "builtins dict" ||
        function == "collections defaultdict" || function == "collections Counter")
      return {mapping(from, depth)};
    if (function == "argparse Namespace" || function == "types SimpleNamespace")
      return from.items.size() > 2 ? convert(from.items[2], depth + 1) : PtValue{PtValue::Dict{}};
    if (function == "torch Size" || function == "builtins set" || function == "__builtin__ set" ||
        function == "builtins frozenset" || function == "builtins list" || function == "builtins tuple")
      return arguments(from, 0).empty() ? PtValue{PtValue::List{}}
                                        : convert(from.items[1]->items[0], depth + 1);
    if (function == "torch device") return convert(arguments(from, 1)[0], depth + 1);
    if (function == "_codecs encode") return {latin1(*arguments(from, 1)[0])};
    refuse(function);
  }

  PtValue::Dict mapping(const PickleValue& from, int depth) {
    PtValue::Dict out;
    for (const Pickled given :
         arguments(from, 0)) {  // a dict's items, or a list of pairs; a defaultdict's factory is skipped
      if (given->kind == PickleKind::dict) out = dict(given->pairs, depth);
      if (given->kind != PickleKind::list) continue;
      for (const Pickled pair : given->items) {
        if (pair->kind != PickleKind::list || pair->items.size() != 2)
          complain("the pickle is damaged: a dict is given no pairs");
        budget_->take(2 * sizeof out[0]);  // vectors double
        out.push_back({convert(pair->items[0], depth + 1), convert(pair->items[1], depth + 1)});
      }
    }
    PtValue::Dict later = dict(from.pairs, depth);
    out.insert(out.end(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
    return out;
  }

  // Bytes that Python 2's protocol stores as text: each character is one byte.
  std::string latin1(const PickleValue& text) {
    if (text.kind != PickleKind::text) complain("the pickle is damaged: it encodes no text");
    texts_->take(2 * text.text.size());
    std::string bytes;
    for (size_t i = 0; i < text.text.size(); ++i) {
      const uint8_t first = uint8_t(text.text[i]);
      if (first < 0x80) {
        bytes += char(first);
      } else if ((first & 0xfc) == 0xc0 && i + 1 < text.text.size()) {
        bytes += char(uint8_t(first << 6) | (uint8_t(text.text[++i]) & 0x3f));
      } else {
        complain("the pickle is damaged: a character of bytes is above 255");
      }
    }
    return bytes;
  }

  Dims sizes(const PickleValue& given) const {
    const bool is_size = given.kind == PickleKind::call && given.items[0]->text == "torch Size";
    const PickleValue& value = is_size ? *arguments(given, 1)[0] : given;
    if (value.kind != PickleKind::list) complain("the pickle is damaged: a shape is no list");
    if (value.items.size() > size_t(kMaxDims))
      complain("a tensor has ", value.items.size(), " dims; at most ", kMaxDims, " are supported");
    Dims out;
    for (const Pickled item : value.items) {
      if (item->kind != PickleKind::integer || item->integer < 0)
        complain("the pickle is damaged: a size is no count");
      out.push_back(item->integer);
    }
    return out;
  }

  // _rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, hooks); v3 has the dtype behind them.
  Tensor tensor(const std::vector<Pickled>& given, bool names_type) {
    if (given[0]->kind != PickleKind::persistent || given[0]->items[0]->kind != PickleKind::list ||
        given[1]->kind != PickleKind::integer)
      complain("the pickle is damaged: a tensor has no storage");
    const std::vector<Pickled>& id = given[0]->items[0]->items;  // "storage", class, key, device, count
    if (id.size() < 3 || id[1]->kind != PickleKind::global || id[2]->kind != PickleKind::text)
      complain("the pickle is damaged: a storage has no key");
    const Pickled named = names_type && given.size() > 6 ? given[6] : id[1];
    const StorageType* const type = named->kind == PickleKind::global ? type_of(named->text) : nullptr;
    if (!type) refuse(named->text);
    const Shape shape = sizes(*given[2]);
    const Strides strides = sizes(*given[3]);
    if (shape.size() != strides.size())
      complain("the pickle is damaged: ", shape.size(), " sizes and ", strides.size(), " strides");
    budget_->take(kTensor);
    const Tensor elements = storage(id[2]->text, *type);
    const int64_t offset = given[1]->integer;
    check_within(shape, strides, offset, elements.numel(), id[2]->text);
    return Tensor(elements.storage_ref(), LayoutRef(new Layout(shape, strides)), offset, type->dtype);
  }

  void check_within(const Shape& shape, const Strides& strides, int64_t offset, int64_t count,
                    const std::string& key) const {
    bool empty = false, outside = offset < 0 || offset > count;
    int64_t last = offset;
    uint64_t elements = 1;
    for (int d = 0; d < shape.size(); ++d) {
      int64_t span = 0;
      empty = empty || shape[d] == 0;
      outside = outside || __builtin_mul_overflow(shape[d] == 0 ? 0 : shape[d] - 1, strides[d], &span) ||
                __builtin_add_overflow(last, span, &last) ||
                __builtin_mul_overflow(elements, uint64_t(shape[d] == 0 ? 1 : shape[d]), &elements) ||
                elements > uint64_t(INT64_MAX) / 16;
    }
    if (outside || (!empty && last >= count))
      complain("a tensor of shape ", shape, " is outside of storage '", key, "' with ", count, " elements");
  }

  const Tensor& storage(const std::string& key, const StorageType& type) {
    const auto found = storages_.find(key);
    if (found == storages_.end()) complain("storage '", key, "' is missing");
    Stored& stored = found->second;
    if (const auto read = stored.elements.find(&type); read != stored.elements.end()) return read->second;
    const std::string what = "storage '" + key + "'";
    const size_t item = type.file_bytes ? size_t(type.file_bytes) : item_size(type.dtype);
    const uint64_t count = stored.entry->size / item;
    Tensor elements = Tensor::empty({int64_t(count)}, type.dtype);
    if (type.file_bytes) {
      ReadBudget packed(path_ + ": " + what);
      const std::string bytes = archive_.content(*stored.entry, what, packed);
      (type.file_bytes == 1 ? widen_to_i32<int8_t> : widen_to_i32<int16_t>)(bytes, elements.data<int32_t>());
    } else {
      const ZipStream stream = archive_.open(*stored.entry, what);
      stream.read(elements.raw(), count * item);
      if (count * item == stored.entry->size) stream.check_end();
    }
    if (type.dtype == DType::boolean) check_boolean(elements, key);
    return stored.elements[&type] = elements;
  }

  void check_boolean(const Tensor& elements, const std::string& key) const {
    const uint8_t* const bytes = static_cast<const uint8_t*>(elements.raw());
    for (int64_t i = 0; i < elements.numel(); ++i)
      if (bytes[i] > 1) complain("storage '", key, "' of type bool holds the byte ", int(bytes[i]));
  }

  const std::string path_;
  ZipArchive archive_;
  std::string root_;  // the folder of the archive, with '/'
  std::unordered_map<std::string, Stored> storages_;
  std::optional<ReadBudget> budget_, texts_;
  Pickle pickle_;
};

// --- writing ---

class PtSaver {
 public:
  Pickled convert(const PtValue& from) { return std::visit(*this, from.value); }

  Pickled operator()(std::monostate) { return pickle_.none(); }
  Pickled operator()(bool value) { return pickle_.boolean(value); }
  Pickled operator()(int64_t value) { return pickle_.integer(value); }
  Pickled operator()(double value) { return pickle_.real(value); }
  Pickled operator()(const std::string& value) { return pickle_.text(value); }
  Pickled operator()(const PtValue::List& value) {
    const Pickled out = pickle_.make(PickleKind::list);
    for (const PtValue& item : value) out->items.push_back(convert(item));
    return out;
  }
  Pickled operator()(const PtValue::Dict& value) {
    const Pickled out = pickle_.make(PickleKind::dict);
    for (const auto& [key, item] : value) {
      const Pickled name = convert(key);
      out->pairs.emplace_back(name, convert(item));
    }
    return out;
  }
  Pickled operator()(const Tensor& x) {
    const StorageType* type = kTypes;
    while (type->dtype != x.dtype()) ++type;
    const std::string_view name = std::string_view(type->name).substr(6);
    const std::string key = std::to_string(contents_.size());
    contents_.push_back({{}, contiguous(to(x.detach(), cpu_device()))});
    const Pickled storage = pickle_.make(PickleKind::persistent);
    storage->items = {pickle_.list({pickle_.text("storage"), pickle_.global("torch", name), pickle_.text(key),
                                    pickle_.text("cpu"), pickle_.integer(x.numel())})};
    std::vector<Pickled> shape, strides;
    for (const int64_t size : x.shape()) shape.push_back(pickle_.integer(size));
    for (const int64_t stride : contiguous_strides(x.shape())) strides.push_back(pickle_.integer(stride));
    const Pickled hooks = pickle_.call(pickle_.global("collections", "OrderedDict"), pickle_.list({}));
    return pickle_.call(pickle_.global("torch._utils", "_rebuild_tensor_v2"),
                        pickle_.list({storage, pickle_.integer(0), pickle_.list(shape), pickle_.list(strides),
                                      pickle_.boolean(false), hooks}));
  }

  void write(const std::string& path, const PtValue& value) {
    pickle_.root = convert(value);
    ZipContent pickled{.preamble = write_pickle(pickle_), .host = {}},
        order{.preamble = "little", .host = {}}, version{.preamble = "3\n", .host = {}};
    AtomicFile file(path);
    ZipWriter writer(path, file.temporary_name());
    writer.add("archive/data.pkl", pickled, false);
    writer.add("archive/byteorder", order, false);
    for (size_t i = 0; i < contents_.size(); ++i)
      writer.add("archive/data/" + std::to_string(i), contents_[i], false);
    writer.add("archive/version", version, false);
    writer.close();
    file.take_up();
    file.commit();
  }

 private:
  Pickle pickle_;
  std::deque<ZipContent> contents_;
};

// --- as a format of named arrays ---

// Names of nested dicts and lists are joined by points.
void flatten(const PtValue& from, const std::string& name, Safetensors& out, ReadBudget& budget) {
  budget.take(name.size());
  const std::string prefix = name.empty() ? "" : name + ".";
  if (const auto* tensor = std::get_if<Tensor>(&from.value)) {
    out.tensors.emplace_back(name, *tensor);
  } else if (const auto* list = std::get_if<PtValue::List>(&from.value)) {
    for (size_t i = 0; i < list->size(); ++i) flatten((*list)[i], prefix + std::to_string(i), out, budget);
  } else if (const auto* dict = std::get_if<PtValue::Dict>(&from.value)) {
    for (const auto& [key, item] : *dict) {
      const auto* text_key = std::get_if<std::string>(&key.value);
      const auto* number_key = std::get_if<int64_t>(&key.value);
      const std::string key_name = text_key ? *text_key : number_key ? std::to_string(*number_key) : "?";
      flatten(item, prefix + key_name, out, budget);
    }
  } else if (const auto* word = std::get_if<std::string>(&from.value)) {
    out.metadata[name] = *word;
  } else if (const auto* number = std::get_if<double>(&from.value)) {
    out.metadata[name] = text(*number);
  } else if (const auto* integer = std::get_if<int64_t>(&from.value)) {
    out.metadata[name] = std::to_string(*integer);
  } else if (const auto* flag = std::get_if<bool>(&from.value)) {
    out.metadata[name] = *flag ? "true" : "false";
  }
}

Safetensors load_flat(const std::string& path) {
  Safetensors out;
  ReadBudget budget(path + ": its names", InputFile(path).size(), kTextRatio);
  flatten(load_pt(path), "", out, budget);
  if (out.tensors.size() == 1 && out.tensors[0].first.empty()) out.tensors[0].first = "tensor";
  return out;
}

void save_flat(const std::string& path, const Safetensors& content) {
  PtValue::Dict dict;
  for (const auto& [name, tensor] : content.tensors) dict.push_back({{name}, {tensor}});
  save_pt(path, {std::move(dict)});
}

FileInfo describe_pt(const std::string& path) {
  const Safetensors content = load_flat(path);
  FileInfo out{.format = "pt"};
  for (const auto& [name, tensor] : content.tensors) {
    const std::vector<uint64_t> shape(tensor.shape().begin(), tensor.shape().end());
    out.arrays.push_back({name, dtype_name(tensor.dtype()), shape, tensor.nbytes()});
  }
  out.metadata = content.metadata;
  return out;
}

}  // namespace

PtValue load_pt(const std::string& path) { return PtLoader(path).load(); }

void save_pt(const std::string& path, const PtValue& value) {
  const NoGrad off;
  PtSaver().write(path, value);
}

FileFormat pt_format() {
  return {.name = "pt",
          .about = "PyTorch's objects (torch.save): tensors, numbers, texts, lists and dicts; runs no code.",
          .endings = {".pt", ".pth"},
          .begins = [](std::string_view start) { return start.starts_with("PK\3\4"); },
          .describe = describe_pt,
          .load_all = load_flat,
          .save_all = save_flat,
          .takes_options = true};
}

}  // namespace lunagrad
