// The only translation unit that defines volk's function pointers, which are hidden in this library.
#include <volk.c>
