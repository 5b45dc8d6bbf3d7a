#include "runtime/storage.h"

#include "runtime/context.h"

namespace lunagrad {

Storage::Storage(Device& device_in, size_t bytes_in)
    : device(device_in), data(device_in.alloc(bytes_in)), bytes(bytes_in) {}

Storage::~Storage() { device.free(data, bytes); }

void Storage::mark_written(const char* op) {
  ++version;
  last_writer = op;
  last_write = context().line;
}

}  // namespace lunagrad
