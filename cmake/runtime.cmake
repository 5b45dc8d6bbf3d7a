# The engine: tensors, ops, gradients, CPU kernels. It depends on the standard library, OpenBLAS, Highway and SLEEF; io/ also
# on JSON, zlib, libzip and libpng.
pkg_check_modules(LUNAGRAD_OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(LUNAGRAD_HIGHWAY REQUIRED IMPORTED_TARGET libhwy)
find_library(LUNAGRAD_SLEEF sleef REQUIRED)
pkg_check_modules(LUNAGRAD_LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(LUNAGRAD_LIBPNG REQUIRED IMPORTED_TARGET libpng)

file(GLOB_RECURSE RUNTIME_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/*.cpp)
list(FILTER RUNTIME_SOURCES EXCLUDE REGEX "/runtime/dist/mpi/")  # an optional part (parts.cmake)
# The loops of the elementwise rows, in sources of some of the rows each (runtime/ops/elementwise/cpu/elementwise_shard.h).
set(SHARD_SOURCES)
file(STRINGS ${PROJECT_SOURCE_DIR}/runtime/ops/elementwise/cpu/elementwise_kernels.h LAST_SHARD REGEX "kRowShards = ")
string(REGEX REPLACE ".*kRowShards = ([0-9]+).*" "\\1-1" LAST_SHARD "${LAST_SHARD}")
math(EXPR LAST_SHARD "${LAST_SHARD}")
foreach(SHARD RANGE ${LAST_SHARD})
  set(SHARD_SOURCE ${PROJECT_BINARY_DIR}/shards/elementwise_${SHARD}.cpp)
  file(CONFIGURE OUTPUT ${SHARD_SOURCE} CONTENT "#define LUNAGRAD_SHARD ${SHARD}\n#include \"runtime/ops/elementwise/cpu/elementwise_shard.h\"\n")
  list(APPEND SHARD_SOURCES ${SHARD_SOURCE})
endforeach()
if(LUNAGRAD_SHARED)
  set(RUNTIME_KIND SHARED)
else()
  set(RUNTIME_KIND STATIC)
endif()
add_library(lunagrad-runtime ${RUNTIME_KIND} ${RUNTIME_SOURCES} ${SHARD_SOURCES})
set_target_properties(lunagrad-runtime PROPERTIES CXX_VISIBILITY_PRESET default)
target_include_directories(lunagrad-runtime PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
# No contraction and no reassociation: a kernel computes the same on every SIMD target.
target_compile_options(lunagrad-runtime PRIVATE -ffp-contract=off -fno-semantic-interposition)
if(LUNAGRAD_SHARED)
  # Programs load the library at start-up, never with dlopen, so thread-local variables can use the initial-exec model. An
  # archive may become a part of a library that is loaded later.
  target_compile_options(lunagrad-runtime PRIVATE -ftls-model=initial-exec)
  target_link_options(lunagrad-runtime PRIVATE -Wl,-Bsymbolic -Wl,-z,defs)
endif()
# Each SIMD target is a fifth of the kernels' compile time. A processor with SSSE3 and nothing newer (before 2008) runs the
# baseline. A native build has the baseline and the best target of this processor; the kernels compute the same bits.
set(DISABLED_TARGETS HWY_SSSE3)
if(LUNAGRAD_SIMD_TARGETS STREQUAL native AND NOT LUNAGRAD_ONE_TARGET AND NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  if(NOT DEFINED LUNAGRAD_BEST_TARGET)
    try_run(RAN COMPILED ${PROJECT_BINARY_DIR}/simd_target ${PROJECT_SOURCE_DIR}/cmake/simd_target.cpp
            LINK_LIBRARIES PkgConfig::LUNAGRAD_HIGHWAY RUN_OUTPUT_VARIABLE BEST)
    if(COMPILED AND RAN EQUAL 0)
      set(LUNAGRAD_BEST_TARGET ${BEST} CACHE INTERNAL "the best SIMD target of this processor")
    endif()
  endif()
  if(DEFINED LUNAGRAD_BEST_TARGET)
    list(APPEND DISABLED_TARGETS HWY_SSE4 HWY_AVX2 HWY_AVX3)
    list(REMOVE_ITEM DISABLED_TARGETS HWY_${LUNAGRAD_BEST_TARGET})
  endif()
endif()
list(JOIN DISABLED_TARGETS "|" DISABLED_TARGETS)
# Clang's baseline would be 128 bits of emulated vectors, whose arrays functions cannot return. Tests that look at HWY_TARGETS
# need the definitions, too.
set(SIMD_DEFINITION "HWY_DISABLED_TARGETS=(${DISABLED_TARGETS})" HWY_BROKEN_EMU128=1)
target_compile_definitions(lunagrad-runtime PRIVATE ${SIMD_DEFINITION})
# The check makes objects larger, so a program that links the library must be compiled with the same definition: it is
# installed.
if(NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  target_compile_definitions(lunagrad-runtime PUBLIC LUNAGRAD_CHECK_THREADS)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # NEON only: SVE vectors have no compile-time size, so a class cannot hold them.
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
  # GCC 12's dead-code elimination does not terminate on loads of vector pairs.
  target_compile_options(lunagrad-runtime PRIVATE -fno-dce)
endif()
if(LUNAGRAD_ONE_TARGET)
  target_compile_definitions(lunagrad-runtime PRIVATE HWY_COMPILE_ONLY_STATIC)
  target_compile_options(lunagrad-runtime PRIVATE -march=haswell)
endif()
if(LUNAGRAD_SANITIZE MATCHES undefined)
  # These files are vector intrinsics, which UBSan does not check. It would triple their compile time.
  set_source_files_properties(${SHARD_SOURCES} runtime/ops/elementwise/cpu/complex_kernels.cpp
                              PROPERTIES COMPILE_OPTIONS -fno-sanitize=undefined)
endif()
if(LUNAGRAD_SANITIZE)
  # The code outside the kernels runs once for each op: it can be slow, and compiles faster at -O0.
  set(ONCE_PER_OP ${RUNTIME_SOURCES})
  list(FILTER ONCE_PER_OP EXCLUDE REGEX "/cpu/")
  set_property(SOURCE ${ONCE_PER_OP} APPEND PROPERTY COMPILE_OPTIONS -O0)
endif()
lunagrad_precompile_headers(lunagrad-runtime)
lunagrad_group_sources(lunagrad-runtime)
target_link_libraries(lunagrad-runtime PRIVATE PkgConfig::LUNAGRAD_OPENBLAS PkgConfig::LUNAGRAD_HIGHWAY ${LUNAGRAD_SLEEF} Threads::Threads
                      ZLIB::ZLIB PkgConfig::LUNAGRAD_LIBZIP PkgConfig::LUNAGRAD_LIBPNG $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> ${CMAKE_DL_LIBS})
