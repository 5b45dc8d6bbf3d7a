#pragma once
// A picture that the window draws with ImGui::Image(texture.id(), …). Owns the pixels until the Presenter has
// uploaded them, and then the image on the graphics device, which is freed a few frames after the texture.
// The sampler takes the nearest pixel. Drawing thread only.
#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lunagrad {

struct TextureEntry;  // see texture_store.h

class Texture {
 public:
  static constexpr int kLargest = 4096;  // largest width and height that every device supports

  Texture() = default;
  // Replaces the picture: width * height pixels in rows, red in the lowest byte. Sizes from 1 to kLargest.
  void set(int width, int height, const uint32_t* rgba);
  void clear() { entry_.reset(); }

  bool empty() const { return !entry_; }
  int width() const;
  int height() const;
  ImTextureID id() const { return entry_.get(); }

  static size_t bytes_in_use();  // bytes of all textures
  static bool are_drawn();       // false in a host with its own renderer, which draws no textures

 private:
  std::shared_ptr<TextureEntry> entry_;
};

}  // namespace lunagrad
