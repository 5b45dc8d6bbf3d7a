# The tests of the SIMD kernels, for builds of the engine alone; under a sanitizer also hostile calls of every op.
find_package(doctest REQUIRED)
set(ENGINE_TESTS tests/main.cpp tests/runtime/test_elementwise.cpp tests/runtime/test_reduce.cpp tests/runtime/test_math.cpp)
if(LUNAGRAD_SANITIZE)
  file(GLOB SAMPLE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/samples/*.cpp)
  list(FILTER SAMPLE_SOURCES EXCLUDE REGEX "/(ends|reference_file)[.]cpp$")  # they read JSON
  list(APPEND ENGINE_TESTS tests/runtime/test_hostile_calls.cpp tests/runtime/test_threads.cpp ${SAMPLE_SOURCES})
endif()
add_executable(lunagrad-engine-tests ${ENGINE_TESTS})
lunagrad_precompile_headers(lunagrad-engine-tests <doctest/doctest.h>)
set_source_files_properties(tests/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # doctest's own code
target_link_libraries(lunagrad-engine-tests PRIVATE lunagrad-runtime doctest::doctest PkgConfig::LUNAGRAD_HIGHWAY)
add_test(NAME engine COMMAND lunagrad-engine-tests)
# The objects of the engine that need each other; this build has an object for each source.
if(LUNAGRAD_SANITIZE)
  find_program(DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
  add_test(NAME components COMMAND ${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/components ${PROJECT_BINARY_DIR} ${CMAKE_NM})
endif()
if(TARGET lunagrad-c)
  include(cmake/tests_capi.cmake)
endif()
