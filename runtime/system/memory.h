#pragma once
// The memory of the machine and of this process. Any thread.
#include <cstddef>

namespace lunagrad {

size_t machine_memory();  // bytes of the machine's memory
// Bytes that this process can still use without swapping: the machine's MemAvailable, or less when a control
// group sets a limit. SIZE_MAX where the system does not say. Reads files of the system.
size_t available_memory();
size_t resident_memory();  // bytes of this process that are in the machine's memory; 0 when unknown

// Maps `size` bytes at a multiple of `alignment`; null when the system refuses. Both are multiples of a page,
// `alignment` is a power of two. The system reserves addresses, and gives memory when a page is written.
char* map_memory(size_t size, size_t alignment);
void unmap_memory(void* mapping, size_t size);    // a whole mapping
void use_huge_pages(void* mapping, size_t size);  // a wish, which the system may ignore

}  // namespace lunagrad
