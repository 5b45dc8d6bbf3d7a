# Sweeps whose workers are killed, stopped and signalled.
if(NOT LUNAGRAD_SANITIZE)
  add_test(NAME sweep COMMAND ${PROJECT_SOURCE_DIR}/tests/sweep/all $<TARGET_FILE:lunagrad> ${PROJECT_BINARY_DIR}/sweep)
  set_tests_properties(sweep PROPERTIES PROCESSORS 2)
endif()
