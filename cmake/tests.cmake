# Tests and benchmarks. The doctest sources of tests/runtime and tests/script are one program, run as several ctest entries in
# parallel.
find_package(doctest REQUIRED)

file(GLOB SAMPLE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/samples/*.cpp)
file(GLOB_RECURSE TEST_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/runtime/*.cpp
     ${PROJECT_SOURCE_DIR}/tests/script/*.cpp ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
list(APPEND TEST_SOURCES ${PROJECT_SOURCE_DIR}/tests/main.cpp)
list(REMOVE_ITEM TEST_SOURCES ${LEFT_OUT_TESTS} "")
add_library(lunagrad-samples OBJECT ${SAMPLE_SOURCES})
target_link_libraries(lunagrad-samples PRIVATE lunagrad-runtime doctest::doctest nlohmann_json::nlohmann_json)
target_compile_options(lunagrad-samples PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
lunagrad_precompile_headers(lunagrad-samples <doctest/doctest.h>)
lunagrad_group_sources(lunagrad-samples)
add_executable(lunagrad-tests ${TEST_SOURCES} $<TARGET_OBJECTS:lunagrad-samples>)
target_link_libraries(lunagrad-tests PRIVATE lunagrad-script lunagrad-runtime doctest::doctest
                      PkgConfig::LUNAGRAD_HIGHWAY lunagrad-lua nlohmann_json::nlohmann_json ZLIB::ZLIB ${LUNAGRAD_SECCOMP})
target_compile_options(lunagrad-tests PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
target_compile_definitions(lunagrad-tests PRIVATE ${SIMD_DEFINITION})
lunagrad_precompile_headers(lunagrad-tests <doctest/doctest.h>)
lunagrad_group_sources(lunagrad-tests)
set_source_files_properties(tests/main.cpp tests/gpu/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # doctest's own code
if(LUNAGRAD_SANITIZE MATCHES undefined)
  target_compile_options(lunagrad-tests PRIVATE -fno-sanitize=undefined)  # only the tested libraries are checked
endif()
add_dependencies(lunagrad-tests lunagrad)  # test_cli.cpp runs it
# The folders of this clone, for the files that name them: ccache shares the objects of all other files between clones.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/folders/folders.h CONTENT "\
#define LUNAGRAD_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"
#define LUNAGRAD_BINARY_DIR \"${PROJECT_BINARY_DIR}\"
#define LUNAGRAD_FAILING_MALLOC \"$<TARGET_FILE:lunagrad-failing-malloc>\"
#define LUNAGRAD_NOTED_SYNCS \"$<TARGET_FILE:lunagrad-noted-syncs>\"
#define LUNAGRAD_BROKEN_WALLS \"$<TARGET_FILE:lunagrad-broken-walls>\"
")
target_include_directories(lunagrad-tests PRIVATE ${PROJECT_BINARY_DIR}/folders)
# Tests with mutated files of every format: a program of its own, which a build with sanitizers compiles in minutes.
file(GLOB READER_TESTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
list(REMOVE_ITEM READER_TESTS ${LEFT_OUT_TESTS} "")
add_executable(lunagrad-reader-tests ${READER_TESTS} ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_link_libraries(lunagrad-reader-tests PRIVATE lunagrad-script lunagrad-runtime doctest::doctest PkgConfig::LUNAGRAD_HIGHWAY lunagrad-lua
                      nlohmann_json::nlohmann_json ZLIB::ZLIB)
target_compile_options(lunagrad-reader-tests PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
lunagrad_group_sources(lunagrad-reader-tests)
target_include_directories(lunagrad-reader-tests PRIVATE ${PROJECT_BINARY_DIR}/folders)
if(NOT LUNAGRAD_SANITIZE MATCHES thread)
  add_test(NAME mutated-files WORKING_DIRECTORY ${PROJECT_BINARY_DIR} COMMAND lunagrad-reader-tests)
endif()
# Preloaded into the program, to make allocations fail, to log syncs, to break the walls of a sandbox, and to simulate a
# device that flushes subnormal numbers. Sanitizers do not allow this.
foreach(NAME failing-malloc noted-syncs broken-walls flushing-device)
  string(REPLACE - _ FILE ${NAME})
  add_library(lunagrad-${NAME} MODULE ${PROJECT_SOURCE_DIR}/tests/preload/${FILE}.cpp)
  set_target_properties(lunagrad-${NAME} PROPERTIES PREFIX "")
endforeach()
add_dependencies(lunagrad-tests lunagrad-failing-malloc lunagrad-noted-syncs lunagrad-broken-walls)

add_test(NAME format COMMAND ${PROJECT_SOURCE_DIR}/tests/format)
set_tests_properties(format PROPERTIES SKIP_RETURN_CODE 77)
# Generates PyTorch's cases of the op records' examples.
add_custom_target(records COMMAND ${CMAKE_COMMAND} -E env LUNAGRAD=$<TARGET_FILE:lunagrad>
                  ${PROJECT_SOURCE_DIR}/tests/reference/generate.py examples DEPENDS lunagrad VERBATIM)

add_test(NAME layers COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/tests/layers.cmake)
# Several entries, so that they run in parallel: the table of op samples, the rest of tests/runtime/, and tests/script/. Under the
# thread sanitizer only tests of memory that threads share run: the files with TEST_SUITE_BEGIN("threads").
if(LUNAGRAD_SANITIZE MATCHES thread)
  add_test(NAME engine COMMAND lunagrad-tests -ts=threads)
else()
  add_test(NAME engine-ops COMMAND lunagrad-tests "-sf=*tests/runtime/test_ops.cpp")
  add_test(NAME engine COMMAND lunagrad-tests "-sfe=*tests/runtime/test_ops.cpp,*tests/script/*")
  add_test(NAME script COMMAND lunagrad-tests "-sf=*tests/script/*" "-sfe=*test_onnx_ops*,*test_pages*")
  if(NOT LUNAGRAD_SANITIZE AND NOT LEFT_OUT_TESTS)  # the pages show a release build with all parts
    add_test(NAME pages COMMAND lunagrad-tests "-sf=*test_pages*")
  endif()
  if(LUNAGRAD_SANITIZE)
    # No Vulkan device: the leak checker has no names for the leaks of an unloaded driver, so they cannot be suppressed.
    set_tests_properties(engine script PROPERTIES ENVIRONMENT "VK_DRIVER_FILES=none;VK_ICD_FILENAMES=none")
  endif()
endif()

# The examples, as a user runs them; the longer ones take a few steps. Their assertions and printed figures are the test. An
# example that needs no arguments needs no line here.
set(ARGUMENTS_05_mnist_cnn --set epochs=1 -- digits-idx)
foreach(NAME 06_char_lm 07_transformer)
  set(ARGUMENTS_${NAME} --set steps=3 --set width=32 --set written=20 -- ${PROJECT_SOURCE_DIR}/README.md)
endforeach()
foreach(NAME 08_autoencoder 09_vae 10_custom_op 12_resume 13_sweep)
  set(ARGUMENTS_${NAME} --set epochs=2)
endforeach()
set(ARGUMENTS_11_higher_order --set steps=20)
set(ARGUMENTS_14_find_the_bug --steps 100)
file(GLOB EXAMPLES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.lua)
list(REMOVE_ITEM EXAMPLES ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua)
foreach(EXAMPLE ${EXAMPLES})
  get_filename_component(NAME ${EXAMPLE} NAME_WE)
  add_test(NAME example-${NAME} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
           COMMAND lunagrad run ${EXAMPLE} ${ARGUMENTS_${NAME}})
endforeach()
add_test(NAME example-04_digits_mlp WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
         COMMAND sh -ec "./lunagrad run ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua >digits.log; cat digits.log; \
grep -Eq 'test accuracy (9[7-9]|100)[.]' digits.log")
# The MNIST example trains on the bundled digits, converted to MNIST's IDX files.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/digits-idx)
add_test(NAME digits-idx COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/digits_idx.lua -- ${PROJECT_BINARY_DIR}/digits-idx)
set_tests_properties(digits-idx PROPERTIES FIXTURES_SETUP digits-idx)
set_tests_properties(example-05_mnist_cnn PROPERTIES FIXTURES_REQUIRED digits-idx)
# The tests of tests/lua that tests/script/lua/test_lua.cpp does not run. test_run.lua needs a run of its own.
file(GLOB LUA_TESTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/lua/test_*.lua)
list(REMOVE_ITEM LUA_TESTS ${LEFT_OUT_TESTS} "")
file(READ ${PROJECT_SOURCE_DIR}/tests/script/lua/test_lua.cpp RUN_BY_STATE)
foreach(FILE ${LUA_TESTS})
  get_filename_component(NAME ${FILE} NAME)
  string(FIND "${RUN_BY_STATE} test_run.lua" ${NAME} PLACE)
  if(NOT PLACE EQUAL -1)
    list(REMOVE_ITEM LUA_TESTS ${FILE})
  endif()
endforeach()
add_test(NAME lua WORKING_DIRECTORY ${PROJECT_BINARY_DIR} COMMAND lunagrad test ${LUA_TESTS})
# Without a GPU's driver: an error that lists the devices would load it, and drivers leak when they unload.
set_tests_properties(lua PROPERTIES ENVIRONMENT "VK_ICD_FILENAMES=/dev/null;VK_DRIVER_FILES=/dev/null")
# Scripts as PyTorch's users write them. Each ends with an assertion about what it trained. `./test --all` runs them on
# the Vulkan device, too.
add_test(NAME scripts WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
         COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/all $<TARGET_FILE:lunagrad>)
# Random calls of every function that a script can reach; `./test --all` makes more, on the Vulkan device and in the sandbox, too.
add_test(NAME hostile-calls COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/hostile_calls $<TARGET_FILE:lunagrad>
         ${PROJECT_BINARY_DIR}/hostile-calls)
# The pages of `lunagrad runs export` and `lunagrad serve` in headless Chromium, if it is installed.
if("serve" IN_LIST PARTS)
  add_test(NAME browser COMMAND ${PROJECT_SOURCE_DIR}/tests/report/browser $<TARGET_FILE:lunagrad> ${PROJECT_BINARY_DIR}/browser)
  set_tests_properties(browser PROPERTIES SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION "SKIPPED")
endif()
find_program(DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
foreach(FILE IN LISTS PART_TESTS)
  include(${FILE})
endforeach()
# The words of comments and documents.
add_test(NAME wording COMMAND ${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/wording)
# The site of the documents, if cmark-gfm is installed: links, anchors, the pages of the reference, the index of the search.
add_test(NAME site COMMAND ${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/site $<TARGET_FILE:lunagrad> ${PROJECT_BINARY_DIR}/site)
set_tests_properties(site PROPERTIES SKIP_RETURN_CODE 77)
# The files, tests and targets that CONTRIBUTING.md names; `./test --all` follows two of its recipes.
add_test(NAME recipes COMMAND ${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/recipes --read)
# What tests/lua/test_pt.lua saves, read by PyTorch where it is installed.
add_test(NAME pt-torch COMMAND sh -ec "$<TARGET_FILE:lunagrad> run ${PROJECT_SOURCE_DIR}/tests/lua/test_pt.lua -- ${PROJECT_BINARY_DIR}/saved.pt && \
${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/reference/checkpoint.py check ${PROJECT_BINARY_DIR}/saved.pt")
set_tests_properties(pt-torch PROPERTIES SKIP_RETURN_CODE 77)
# Not under a sanitizer: it keeps freed memory, and a host that links the libraries would need it too.
if(NOT LUNAGRAD_SANITIZE)
  add_test(NAME memory COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/memory.lua)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
           -DWORK=${PROJECT_BINARY_DIR}/install -DXVFB=${XVFB_RUN} -DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
           -P ${PROJECT_SOURCE_DIR}/tests/install.cmake)
  # Hosts of that install, and a project around this one. `./test --all` builds such a project.
  set_tests_properties(install PROPERTIES FIXTURES_SETUP install)
  list(JOIN LUNAGRAD_COMPONENTS "$<SEMICOLON>" BUILT_COMPONENTS)
  add_test(NAME embed-installed COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DPREFIX=${PROJECT_BINARY_DIR}/install/prefix
           -DWORK=${PROJECT_BINARY_DIR}/embed-installed "-DCOMPONENTS=${BUILT_COMPONENTS}" -DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
           -P ${PROJECT_SOURCE_DIR}/tests/embed/installed.cmake)
  set_tests_properties(embed-installed PROPERTIES FIXTURES_REQUIRED install)
  add_test(NAME embed-parent COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${PROJECT_BINARY_DIR}/embed-parent
           -DGPU=${LUNAGRAD_GPU} -DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER} -P ${PROJECT_SOURCE_DIR}/tests/embed/parent.cmake)
endif()

if(TARGET lunagrad-c)
  include(cmake/tests_capi.cmake)
endif()

# The program of tests/bench/scrub.
add_executable(lunagrad-scrub EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/bench/scrub.cpp)
target_link_libraries(lunagrad-scrub PRIVATE lunagrad-script lunagrad-runtime CLI11::CLI11)
if(TARGET lunagrad-gpu)
  target_compile_definitions(lunagrad-scrub PRIVATE LUNAGRAD_HAS_GPU)
  target_link_libraries(lunagrad-scrub PRIVATE lunagrad-gpu)
endif()

# The Vulkan device, in its own process with the validation layer.
if(TARGET lunagrad-gpu)
  file(GLOB GPU_TEST_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/gpu/*.cpp)
  add_executable(lunagrad-gpu-tests ${GPU_TEST_SOURCES} $<TARGET_OBJECTS:lunagrad-samples>
                 $<TARGET_OBJECTS:lunagrad-shaders>)
  target_link_libraries(lunagrad-gpu-tests PRIVATE lunagrad-gpu-objects lunagrad-script lunagrad-runtime doctest::doctest)
  target_include_directories(lunagrad-gpu-tests PRIVATE ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/folders)
  target_compile_options(lunagrad-gpu-tests PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
  lunagrad_precompile_headers(lunagrad-gpu-tests <volk.h> <doctest/doctest.h>)
  lunagrad_group_sources(lunagrad-gpu-tests)
  add_dependencies(lunagrad-gpu-tests lunagrad-flushing-device)
  set(GPU_CACHE "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/gpu-cache")
  if(LUNAGRAD_SANITIZE)
    # Tests of host memory and threads, the files with TEST_SUITE_BEGIN("host"): streams, ring buffers, uploads, pipelines,
    # files, failures of every call, training. Without the validation layer, which is not instrumented. Without leak
    # detection, since drivers leak when they unload.
    add_test(NAME gpu COMMAND lunagrad-gpu-tests -ts=host)
    set_tests_properties(gpu PROPERTIES ENVIRONMENT "${GPU_CACHE};ASAN_OPTIONS=detect_leaks=0")
  else()
    # Three entries, two of which run in parallel. Mesa's CPU driver compiles shaders that its cache lacks in one
    # thread, which takes minutes in a fresh clone and after a change of many shaders, and a process keeps all shaders
    # that it compiled: gigabytes.
    set(GPU_SAMPLES "*test_samples*,*test_attention*,*test_turns*,*test_reductions*,*test_losses*,*test_long_rows*")
    set(GPU_A_TO_E "*test_a*,*test_b*,*test_c*,*test_d*,*test_e*")
    add_test(NAME gpu-samples COMMAND lunagrad-gpu-tests "-sf=${GPU_SAMPLES}")
    add_test(NAME gpu-a-to-e COMMAND lunagrad-gpu-tests "-sf=${GPU_A_TO_E}" "-sfe=${GPU_SAMPLES}")
    add_test(NAME gpu COMMAND lunagrad-gpu-tests "-sfe=${GPU_SAMPLES},${GPU_A_TO_E}")
    set_tests_properties(gpu gpu-samples gpu-a-to-e PROPERTIES COST 100 ENVIRONMENT "LUNAGRAD_VALIDATION=1;${GPU_CACHE}")  # first
  endif()
  add_test(NAME gpu-kernel WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/lua/test_kernel.lua --device vulkan)
  set_tests_properties(gpu-kernel PROPERTIES ENVIRONMENT "LUNAGRAD_VALIDATION=1;ASAN_OPTIONS=detect_leaks=0" FAIL_REGULAR_EXPRESSION "vulkan validation")
  add_test(NAME gpu-kernel-names WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/lua/test_kernel.lua --device vulkan --kernels)
  set_tests_properties(gpu-kernel-names PROPERTIES PASS_REGULAR_EXPRESSION "dispatches  kernel\n +[0-9]+  [a-z]")
  # The tests in Lua with the line "-- Tested on a GPU, too.", with a GPU as the default device.
  file(GLOB GPU_LUA_TESTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/lua/test_*.lua)
  foreach(FILE ${GPU_LUA_TESTS})
    file(STRINGS ${FILE} MARK REGEX "^-- Tested on a GPU, too[.]$" LIMIT_COUNT 1)
    if(NOT MARK OR FILE IN_LIST LEFT_OUT_TESTS)
      continue()
    endif()
    string(REGEX REPLACE ".*/test_(.*)[.]lua" "\\1" NAME ${FILE})
    add_test(NAME gpu-lua-${NAME} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
             COMMAND lunagrad test ${FILE} --device vulkan)
    set_tests_properties(gpu-lua-${NAME} PROPERTIES
                         ENVIRONMENT "LUNAGRAD_VALIDATION=1;${GPU_CACHE};ASAN_OPTIONS=detect_leaks=0"
                         FAIL_REGULAR_EXPRESSION "vulkan validation")
  endforeach()
  # As on devices without subnormal numbers (tests/preload/flushing_device.cpp).
  if(NOT LUNAGRAD_SANITIZE)
    add_test(NAME gpu-flushing WORKING_DIRECTORY ${PROJECT_BINARY_DIR} COMMAND sh -ec "$<TARGET_FILE:lunagrad-gpu-tests> '-tc=*ends of f32' && \
$<TARGET_FILE:lunagrad> test ${PROJECT_SOURCE_DIR}/tests/lua/test_ends.lua ${PROJECT_SOURCE_DIR}/tests/lua/test_range.lua --device vulkan")
    set_tests_properties(gpu-flushing PROPERTIES LABELS long
                         ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:lunagrad-flushing-device>;${GPU_CACHE}")
  endif()
  # Sorts in subgroups of 16: Mesa's CPU driver has 8 with vectors of 256 bits.
  if(NOT LUNAGRAD_SANITIZE)
    add_test(NAME gpu-subgroups-of-16 COMMAND lunagrad-gpu-tests "-tc=long rows of every type*")
    set_tests_properties(gpu-subgroups-of-16 PROPERTIES LABELS long ENVIRONMENT "LP_NATIVE_VECTOR_WIDTH=512;LUNAGRAD_VALIDATION=1;${GPU_CACHE}")
  endif()
  # Random programs on both devices, for five seconds of processor time; any seed and number by hand.
  add_test(NAME fuzz-devices WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/fuzz/devices.lua -- 100000 1 vulkan 5)
  set_tests_properties(fuzz-devices PROPERTIES ENVIRONMENT "${GPU_CACHE};ASAN_OPTIONS=detect_leaks=0")
  # The library must not export Vulkan's names: a program whose ImGui loads Vulkan itself would mix them up.
  add_test(NAME gpu-symbols COMMAND sh -c "! nm -D --defined-only $<TARGET_FILE:lunagrad-gpu> | grep ' vk\|volk'")
endif()
