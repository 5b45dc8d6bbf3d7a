# Tests and benchmarks. Each tests/test_*.cpp is one doctest program's source; all of them link into one binary.
find_package(doctest REQUIRED)

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*.cpp)
if(TEST_SOURCES)
  add_executable(lunagrad-tests ${TEST_SOURCES})
  target_link_libraries(lunagrad-tests PRIVATE lunagrad-script lunagrad-runtime doctest::doctest)
  add_test(NAME engine COMMAND lunagrad-tests)
endif()
