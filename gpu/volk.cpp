// The one translation unit that defines volk's function pointers, hidden in this library.
#include <volk.c>
