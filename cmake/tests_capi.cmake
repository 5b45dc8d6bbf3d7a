# Tests of the C library: hosts in C99, compiled by gcc and clang, and in C++ without exceptions; tests/capi/ has their sources.
set(CAPI_TESTS ${PROJECT_SOURCE_DIR}/tests/capi)
set(STRICT_C -std=c99 -Wall -Wextra -pedantic -Werror -O1)
function(add_capi_host NAME SOURCE)
  add_executable(lunagrad-capi-${NAME} ${CAPI_TESTS}/${SOURCE})
  target_link_libraries(lunagrad-capi-${NAME} PRIVATE lunagrad-c Threads::Threads m)
  add_test(NAME capi-${NAME} COMMAND lunagrad-capi-${NAME} ${ARGN})
endfunction()
add_capi_host(host host.c)
target_compile_options(lunagrad-capi-host PRIVATE ${STRICT_C})
set(CAPI_SESSIONS none)  # the library has none
if(TARGET lunagrad-script)
  set(CAPI_SESSIONS)
endif()
foreach(NAME sessions exchange)
  add_capi_host(${NAME} ${NAME}.c ${CAPI_SESSIONS})
  target_compile_options(lunagrad-capi-${NAME} PRIVATE ${STRICT_C})
endforeach()
add_capi_host(no-exceptions no_exceptions.cpp)
target_compile_options(lunagrad-capi-no-exceptions PRIVATE -fno-exceptions -fno-rtti -Wall -Wextra -pedantic -Werror)
set_target_properties(lunagrad-capi-no-exceptions PROPERTIES CXX_STANDARD 11)
add_capi_host(own-resources own_resources.c)
target_compile_options(lunagrad-capi-own-resources PRIVATE ${STRICT_C})
if(TARGET lunagrad-gpu)
  find_library(VULKAN_LOADER vulkan REQUIRED)
  add_capi_host(vulkan vulkan.c)
  target_compile_options(lunagrad-capi-vulkan PRIVATE ${STRICT_C})
  target_link_libraries(lunagrad-capi-vulkan PRIVATE ${VULKAN_LOADER})
  set_tests_properties(capi-vulkan PROPERTIES SKIP_RETURN_CODE 77)
endif()
add_capi_host(random random.c)
target_compile_options(lunagrad-capi-random PRIVATE ${STRICT_C})
if(NOT LUNAGRAD_SANITIZE)
  add_capi_host(allocations allocations.c)  # replaces malloc
  target_compile_options(lunagrad-capi-allocations PRIVATE ${STRICT_C})
  # A tiny add, through lg_call() and through the C++ interface; see the file.
  add_executable(lunagrad-capi-bench EXCLUDE_FROM_ALL ${CAPI_TESTS}/bench.cpp)
  target_link_libraries(lunagrad-capi-bench PRIVATE lunagrad-runtime ${CMAKE_DL_LIBS})
  find_program(LUNAGRAD_CLANG clang)
  if(LUNAGRAD_CLANG)
    add_test(NAME capi-clang COMMAND sh -ec "for host in host sessions exchange; do ${LUNAGRAD_CLANG} -std=c99 -Wall -Wextra -pedantic -Werror -O1 \
-I${PROJECT_SOURCE_DIR}/capi ${CAPI_TESTS}/$host.c -o capi-clang-$host $<TARGET_FILE:lunagrad-c> -Wl,-rpath,$<TARGET_FILE_DIR:lunagrad-c> -lpthread -lm; done
./capi-clang-host && ./capi-clang-sessions ${CAPI_SESSIONS} && ./capi-clang-exchange ${CAPI_SESSIONS}"
             WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  endif()
  # The host of docs/embedding.md is the example.
  add_test(NAME capi-page COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -P ${CAPI_TESTS}/page.cmake)
  # Arrays of numpy and PyTorch through DLPack, both directions.
  find_program(DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
  add_test(NAME capi-dlpack COMMAND ${DEBIAN_PYTHON} ${CAPI_TESTS}/dlpack.py $<TARGET_FILE:lunagrad-c>)
  set_tests_properties(capi-dlpack PROPERTIES SKIP_RETURN_CODE 77)
  # What the library exports is what the header declares, and no more than 90 functions.
  add_test(NAME capi-exports COMMAND sh ${CAPI_TESTS}/exports.sh ${CMAKE_NM} $<TARGET_FILE:lunagrad-c>
           ${PROJECT_SOURCE_DIR}/capi/lunagrad.h)
  include(cmake/tests_python.cmake)
endif()
