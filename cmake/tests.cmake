# Tests and benchmarks. The doctest sources tests/test_*.cpp link into one binary, split into a few ctest entries so
# that both cores have work.
find_package(doctest REQUIRED)

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*.cpp)
add_executable(lunagrad-tests ${TEST_SOURCES})
target_link_libraries(lunagrad-tests PRIVATE lunagrad-script lunagrad-runtime doctest::doctest
                      PkgConfig::HIGHWAY PkgConfig::LUA)
target_compile_definitions(lunagrad-tests PRIVATE LUNAGRAD_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                           LUNAGRAD_BINARY_DIR="${CMAKE_BINARY_DIR}")

add_test(NAME layers COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -P ${CMAKE_SOURCE_DIR}/tests/layers.cmake)
add_test(NAME engine COMMAND lunagrad-tests)
