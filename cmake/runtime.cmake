# The engine: tensors, operations, gradients, CPU. Knows the standard library, BLAS and SIMD; io/ also JSON, zlib, libzip and
# libpng.
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(HIGHWAY REQUIRED IMPORTED_TARGET libhwy)
find_library(SLEEF sleef REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(LIBPNG REQUIRED IMPORTED_TARGET libpng)

file(GLOB_RECURSE RUNTIME_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/*.cpp)
add_library(lunagrad-runtime SHARED ${RUNTIME_SOURCES})
set_target_properties(lunagrad-runtime PROPERTIES CXX_VISIBILITY_PRESET default)
target_include_directories(lunagrad-runtime PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
# No contraction and no reassociation: a kernel means what it says, on every SIMD target.
# The library is always loaded at start-up, so its thread-local variables may use the fast model.
target_compile_options(lunagrad-runtime PRIVATE -ffp-contract=off -fno-semantic-interposition
                       -ftls-model=initial-exec)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # NEON alone: the vectors of SVE have no size and cannot be members of a class.
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
  # GCC 12's pass over dead instructions does not end where vectors are loaded in pairs.
  target_compile_options(lunagrad-runtime PRIVATE -fno-dce)
endif()
if(LUNAGRAD_ONE_TARGET)
  target_compile_definitions(lunagrad-runtime PRIVATE HWY_COMPILE_ONLY_STATIC)
  target_compile_options(lunagrad-runtime PRIVATE -march=haswell)
endif()
if(LUNAGRAD_SANITIZE MATCHES undefined)
  # Vector code from end to end: what is undefined there the checks do not see, and they treble the compile time.
  set_source_files_properties(runtime/cpu/elementwise_kernels.cpp runtime/cpu/complex_kernels.cpp
                              PROPERTIES COMPILE_OPTIONS -fno-sanitize=undefined)
endif()
target_link_options(lunagrad-runtime PRIVATE -Wl,-Bsymbolic -Wl,-z,defs)
target_link_libraries(lunagrad-runtime PRIVATE PkgConfig::OPENBLAS PkgConfig::HIGHWAY ${SLEEF} Threads::Threads
                      ZLIB::ZLIB PkgConfig::LIBZIP PkgConfig::LIBPNG nlohmann_json::nlohmann_json)
