# The tests of the SIMD kernels, for builds of the engine alone.
find_package(doctest REQUIRED)
add_executable(lunagrad-engine-tests tests/main.cpp tests/runtime/test_elementwise.cpp tests/runtime/test_reduce.cpp tests/runtime/test_math.cpp)
precompile_headers(lunagrad-engine-tests <doctest/doctest.h>)
set_source_files_properties(tests/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # doctest's own code
target_link_libraries(lunagrad-engine-tests PRIVATE lunagrad-runtime doctest::doctest PkgConfig::HIGHWAY)
add_test(NAME engine COMMAND lunagrad-engine-tests)
