# Tests and benchmarks. The doctest sources tests/test_*.cpp link into one binary, split into a few ctest entries so
# that both cores have work.
find_package(doctest REQUIRED)

file(GLOB SAMPLE_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/samples/*.cpp)
file(GLOB_RECURSE TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/runtime/*.cpp
     ${CMAKE_SOURCE_DIR}/tests/script/*.cpp ${CMAKE_SOURCE_DIR}/tests/support/*.cpp)
list(APPEND TEST_SOURCES ${CMAKE_SOURCE_DIR}/tests/main.cpp)
add_library(lunagrad-samples OBJECT ${SAMPLE_SOURCES})
target_link_libraries(lunagrad-samples PRIVATE lunagrad-runtime doctest::doctest)
target_compile_options(lunagrad-samples PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
add_executable(lunagrad-tests ${TEST_SOURCES} $<TARGET_OBJECTS:lunagrad-samples>)
target_link_libraries(lunagrad-tests PRIVATE lunagrad-script lunagrad-runtime doctest::doctest
                      PkgConfig::HIGHWAY PkgConfig::LUA nlohmann_json::nlohmann_json ZLIB::ZLIB PkgConfig::PROTOBUF)
# It reads what was written.
set_source_files_properties(tests/script/onnx/test_onnx.cpp PROPERTIES COMPILE_OPTIONS "-isystem;${ONNX_DIR}"
                            OBJECT_DEPENDS ${ONNX_DIR}/onnx.pb.h)
target_compile_options(lunagrad-tests PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
if(LUNAGRAD_SANITIZE MATCHES undefined)
  target_compile_options(lunagrad-tests PRIVATE -fno-sanitize=undefined)  # what is tested has it; the tests need it not
endif()
add_dependencies(lunagrad-tests lunagrad)  # test_cli.cpp runs it
target_compile_definitions(lunagrad-tests PRIVATE LUNAGRAD_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                           LUNAGRAD_BINARY_DIR="${CMAKE_BINARY_DIR}")

add_test(NAME format COMMAND ${PROJECT_SOURCE_DIR}/tests/format)
set_tests_properties(format PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME layers COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -P ${CMAKE_SOURCE_DIR}/tests/layers.cmake)
# A few entries, so that both cores have work: the table of ops, what else the engine has, and scripts. Of the thread
# sanitizer only what shares memory between threads; the table of ops runs on one pool of threads.
if(LUNAGRAD_SANITIZE MATCHES thread)
  add_test(NAME engine COMMAND lunagrad-tests "-sf=*test_allocator*,*test_cli*,*test_lua*,*test_parallel*,*test_prefetch*,*test_reload*,*test_resume*,*test_run_control*,*test_session*")
else()
  set(SCRIPT_TESTS "*test_cli*,*test_docs*,*test_edge*,*test_full_disk*,*test_hostile*,*test_lua*,*test_onnx.cpp,*test_reload*,*test_resume*,*test_run_control*,*test_runs*,*test_sandbox*,*test_session*,*test_stop*,*test_test_command*")
  add_test(NAME engine-ops COMMAND lunagrad-tests "-sf=*test_ops*")
  add_test(NAME engine COMMAND lunagrad-tests "-sfe=*test_ops*,*test_onnx_ops*,${SCRIPT_TESTS}")
  add_test(NAME script COMMAND lunagrad-tests "-sf=${SCRIPT_TESTS}")
  if(LUNAGRAD_SANITIZE)
    # Programs that open a device leave what its driver's libraries leave, under no name once they are unloaded.
    set_tests_properties(engine script PROPERTIES ENVIRONMENT "VK_DRIVER_FILES=none;VK_ICD_FILENAMES=none")
  endif()
endif()

# The examples, as a user runs them. Their assertions and the figures that they print are the test.
foreach(EXAMPLE 01_tensors 02_gradients 03_xor)
  add_test(NAME example-${EXAMPLE} WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/examples/${EXAMPLE}.lua)
endforeach()
add_test(NAME example-04_digits_mlp WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
         COMMAND sh -ec "./lunagrad run ${PROJECT_SOURCE_DIR}/examples/04_digits_mlp.lua >digits.log; cat digits.log; \
grep -Eq 'test accuracy (9[7-9]|100)[.]' digits.log")
# A few steps of the longer ones.
foreach(EXAMPLE 08_autoencoder 09_vae 10_custom_op 12_resume 13_sweep)
  add_test(NAME example-${EXAMPLE} WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/examples/${EXAMPLE}.lua --set epochs=2)
endforeach()
foreach(EXAMPLE 06_char_lm 07_transformer)
  add_test(NAME example-${EXAMPLE} WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/examples/${EXAMPLE}.lua --set steps=3 --set width=32 --set written=20
                   -- ${PROJECT_SOURCE_DIR}/README.md)
endforeach()
add_test(NAME example-11_higher_order WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
         COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/examples/11_higher_order.lua --set steps=20)
# The example that wants MNIST gets the digits in MNIST's form.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/digits-idx)
add_test(NAME digits-idx COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/digits_idx.lua -- ${CMAKE_BINARY_DIR}/digits-idx)
add_test(NAME example-05_mnist_cnn WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
         COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/examples/05_mnist_cnn.lua --set epochs=1 -- digits-idx)
set_tests_properties(digits-idx PROPERTIES FIXTURES_SETUP digits-idx)
set_tests_properties(example-05_mnist_cnn PROPERTIES FIXTURES_REQUIRED digits-idx)
# Models and samples of every op as ONNX files, looked at by the checker of Debian's python3-onnx.
find_program(DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
set(ONNX_MODELS ${CMAKE_BINARY_DIR}/onnx-models)
file(MAKE_DIRECTORY ${ONNX_MODELS})
add_test(NAME onnx-models COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/onnx/models.lua -- ${ONNX_MODELS})
add_test(NAME onnx-ops COMMAND lunagrad-tests "-tc=ONNX: every op*")
add_test(NAME onnx-check COMMAND ${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/onnx/check.py ${ONNX_MODELS})
set_tests_properties(onnx-models onnx-ops PROPERTIES FIXTURES_SETUP onnx-models)
set_tests_properties(onnx-ops PROPERTIES ENVIRONMENT "LUNAGRAD_ONNX_FOLDER=${ONNX_MODELS}")
set_tests_properties(onnx-check PROPERTIES FIXTURES_REQUIRED onnx-models)
# Sanitizers hold memory back, and what is linked with them needs them too.
if(NOT LUNAGRAD_SANITIZE)
  add_test(NAME memory COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/memory.lua)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
           -DWORK=${CMAKE_BINARY_DIR}/install -DXVFB=${XVFB_RUN} -DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
           -P ${PROJECT_SOURCE_DIR}/tests/install.cmake)
endif()

# The Vulkan device, in a process of its own with the validation layer watching.
if(TARGET lunagrad-gpu)
  file(GLOB GPU_TEST_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/gpu/*.cpp)
  add_executable(lunagrad-gpu-tests ${GPU_TEST_SOURCES} $<TARGET_OBJECTS:lunagrad-samples>
                 $<TARGET_OBJECTS:lunagrad-shaders>)
  target_link_libraries(lunagrad-gpu-tests PRIVATE lunagrad-gpu-objects lunagrad-script lunagrad-runtime doctest::doctest)
  target_include_directories(lunagrad-gpu-tests PRIVATE ${CMAKE_BINARY_DIR})
  target_compile_definitions(lunagrad-gpu-tests PRIVATE LUNAGRAD_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_compile_options(lunagrad-gpu-tests PRIVATE ${LUNAGRAD_OPTIMIZE_TESTS})
  set(GPU_CACHE "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/gpu-cache")
  if(LUNAGRAD_SANITIZE)
    # What concerns the host's memory and threads, and without the layer, which is not instrumented: streams, rings, uploads,
    # pipelines, files, failures of every call, training. A driver that is unloaded leaves what cannot be told from leaks of
    # our own.
    add_test(NAME gpu COMMAND lunagrad-gpu-tests
             "-sf=*test_device*,*test_faults*,*test_optimizers*,*pipelines*,*test_summary*,*test_times*,*test_training*,*test_uploads*")
    set_tests_properties(gpu PROPERTIES ENVIRONMENT "${GPU_CACHE};ASAN_OPTIONS=detect_leaks=0")
  else()
    # Two halves, which run side by side: a driver of the CPU compiles what its cache lacks in one thread, which takes minutes
    # in a fresh clone, and after a change of many shaders.
    set(GPU_HALF "*test_samples*,*test_attention*,*test_turns*")
    add_test(NAME gpu-samples COMMAND lunagrad-gpu-tests "-sf=${GPU_HALF}")
    add_test(NAME gpu COMMAND lunagrad-gpu-tests "-sfe=${GPU_HALF}")
    set_tests_properties(gpu gpu-samples PROPERTIES COST 100 ENVIRONMENT "LUNAGRAD_VALIDATION=1;${GPU_CACHE}")  # first
  endif()
  add_test(NAME gpu-kernel WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/lua/test_kernel.lua --device vulkan)
  set_tests_properties(gpu-kernel PROPERTIES ENVIRONMENT "LUNAGRAD_VALIDATION=1;ASAN_OPTIONS=detect_leaks=0" FAIL_REGULAR_EXPRESSION "vulkan validation")
  add_test(NAME gpu-kernel-names WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
           COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/lua/test_kernel.lua --device vulkan --kernels)
  set_tests_properties(gpu-kernel-names PROPERTIES PASS_REGULAR_EXPRESSION "dispatches  kernel\n +[0-9]+  [a-z]")
  # Vulkan's names stay inside: a program that also links an ImGui with its own Vulkan would mix them up.
  add_test(NAME gpu-symbols COMMAND sh -c "! nm -D --defined-only $<TARGET_FILE:lunagrad-gpu> | grep ' vk\|volk'")
endif()
