// The only source that defines volk's function pointers, which are hidden in this library.
#include <volk.c>
