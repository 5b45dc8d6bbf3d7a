# Several ranks over MPI, where it is installed. MPI keeps memory, so leak detection is off. Not under TSan, which does
# not see how MPI's own threads wait for each other.
if(NOT LUNAGRAD_SANITIZE MATCHES thread)
  add_test(NAME distributed
           COMMAND ${PROJECT_SOURCE_DIR}/tests/distributed/all $<TARGET_FILE:lunagrad> ${PROJECT_BINARY_DIR}/distributed)
  set_tests_properties(distributed PROPERTIES SKIP_RETURN_CODE 77 PROCESSORS 2 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()
