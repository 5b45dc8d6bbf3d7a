# The tests of the SIMD kernels, for builds of the engine alone.
find_package(doctest REQUIRED)
add_executable(lunagrad-engine-tests tests/main.cpp tests/runtime/test_elementwise.cpp tests/runtime/test_reduce.cpp tests/runtime/test_math.cpp)
target_link_libraries(lunagrad-engine-tests PRIVATE lunagrad-runtime doctest::doctest PkgConfig::HIGHWAY)
add_test(NAME engine COMMAND lunagrad-engine-tests)
