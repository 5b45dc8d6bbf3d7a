# Counts the clicks that lead to a value, a cause, the first NaN and back to the latest step: clicks.lua, in a new window for
# each figure.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
function(count_clicks figure script)
  expect(${figure} 0 "" ${display} ${WORKBENCH} ${SOURCE}/tests/ui/drives/${script} ${VALIDATION} --size 1280x800
         --drive ${SOURCE}/tests/ui/drives/clicks.lua ${figure} ${WORK})
  message("${said}")
  set(faults ${faults} PARENT_SCOPE)
endfunction()
count_clicks(value_of_a_node why_script.lua)
count_clicks(cause_of_a_zero_gradient why_script.lua)
count_clicks(first_nan first_nan_script.lua)
count_clicks(live_again why_script.lua)
finish()
