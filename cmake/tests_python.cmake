# Tests of the Python package with the C library, by Debian's Python. The entries are skipped where it lacks numpy, PyTorch or
# setuptools.
function(add_python_test NAME)
  add_test(NAME ${NAME} COMMAND ${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/python/run.py $<TARGET_FILE:lunagrad-c> ${ARGN})
  set_tests_properties(${NAME} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
add_python_test(python tensor ops threads)
add_python_test(python-numpy numpy)
add_python_test(python-torch torch)
if(TARGET lunagrad-script)  # else the library has no sessions
  add_python_test(python-sessions sessions session_threads)
  # Alone: two of its deadlines do not hold on a machine that is busy with other tests.
  set_tests_properties(python-sessions PROPERTIES RUN_SERIAL TRUE LABELS long)
  add_python_test(python-package package)
  # The examples of docs/python.md are the programs.
  add_python_test(python-page page)
endif()
