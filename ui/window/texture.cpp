#include "ui/window/texture.h"

#include <cassert>

#include "ui/window/texture_store.h"

namespace lunagrad {

std::vector<std::shared_ptr<TextureEntry>>& all_textures() {
  static std::vector<std::shared_ptr<TextureEntry>> all;
  return all;
}

int& texture_stores() {
  static int stores = 0;
  return stores;
}

bool Texture::are_drawn() { return texture_stores() > 0; }

void Texture::set(int width, int height, const uint32_t* rgba) {
  assert(width > 0 && height > 0 && width <= kLargest && height <= kLargest);
  if (!entry_) {
    entry_ = std::make_shared<TextureEntry>();
    all_textures().push_back(entry_);
  }
  entry_->width = width;
  entry_->height = height;
  entry_->pixels.assign(rgba, rgba + size_t(width) * size_t(height));
}

int Texture::width() const { return entry_ ? entry_->width : 0; }
int Texture::height() const { return entry_ ? entry_->height : 0; }

size_t Texture::bytes_in_use() {
  size_t bytes = 0;
  for (const auto& entry : all_textures()) bytes += size_t(entry->width) * size_t(entry->height) * 4;
  return bytes;
}

}  // namespace lunagrad
