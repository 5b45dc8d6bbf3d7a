#include "gpu/rates/product_table.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "gpu/vulkan/pipeline.h"
#include "runtime/core/dtype_names.h"

namespace lunagrad::gpu {
namespace {

// The first line of the file: a checksum of the shaders, since changed shaders may have other fastest plans.
std::string first_line() {
  static const std::string line = [] {
    uint64_t hash = checksum({});
    for (const char* shader : {"matmul", "matmul_cooperative"})
      hash = checksum(std::as_bytes(std::span(find_shader(shader).stored)), hash);
    char text[32];
    std::snprintf(text, sizeof text, "shaders %016llx", static_cast<unsigned long long>(hash));
    return std::string(text);
  }();
  return line;
}

// Writes a line "NT f32 units  m n k batch  rows columns parts". N and T are the layouts, as in BLAS.
void write(std::ostream& out, const ProductKey& key, const ProductPlan& plan) {
  out << (key.a_column_major ? 'T' : 'N') << (key.b_row_major ? 'N' : 'T') << ' ' << dtype_name(key.type)
      << ' ' << key.units << ' ' << key.m << ' ' << key.n << ' ' << key.k << ' ' << key.batch << ' '
      << plan.rows << ' ' << plan.columns << ' ' << plan.parts << '\n';
}
bool read(const std::string& line, ProductKey& key, ProductPlan& plan) {
  std::istringstream in(line);
  in.imbue(std::locale::classic());
  std::string layout, type;
  in >> layout >> type >> key.units >> key.m >> key.n >> key.k >> key.batch >> plan.rows >> plan.columns >>
      plan.parts;
  const std::optional<DType> known = dtype_from_name(type);
  if (!in || !known || layout.size() != 2 || plan.parts == 0 || plan.parts > std::max<int64_t>(key.k, 1))
    return false;
  key.type = *known;
  key.a_column_major = layout[0] == 'T';
  key.b_row_major = layout[1] == 'N';
  return true;
}

}  // namespace

ProductTable::ProductTable(const VkPhysicalDeviceProperties& device) : file_("products", device) {
  const std::vector<std::byte> content = file_.load();
  std::istringstream lines(std::string(reinterpret_cast<const char*>(content.data()), content.size()));
  std::string line;
  if (!std::getline(lines, line) || line != first_line()) return;
  ProductKey key;
  ProductPlan plan;
  while (std::getline(lines, line))
    if (read(line, key, plan)) plans_[key] = plan;
}

const ProductPlan* ProductTable::find(const ProductKey& key) const {
  const auto found = plans_.find(key);
  return found == plans_.end() ? nullptr : &found->second;
}
void ProductTable::set(const ProductKey& key, const ProductPlan& plan) { plans_[key] = plan; }
void ProductTable::erase(const ProductKey& key) { plans_.erase(key); }

std::string ProductTable::content() const {
  std::ostringstream text;
  text.imbue(std::locale::classic());  // whatever std::locale::global() is
  text << first_line() << '\n';
  for (const auto& [key, plan] : plans_) write(text, key, plan);
  return std::move(text).str();
}

std::string ProductTable::description() const {
  if (plans_.empty()) return {};
  const std::string all = content();
  char words[64];
  std::snprintf(words, sizeof words, "%zu measured plan%s (%08x)", plans_.size(),
                plans_.size() == 1 ? "" : "s", uint32_t(checksum(std::as_bytes(std::span(all)))));
  return words;
}

bool ProductTable::save() const noexcept {
  try {
    const std::string all = content();
    return file_.save(std::as_bytes(std::span(all)));
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace lunagrad::gpu
