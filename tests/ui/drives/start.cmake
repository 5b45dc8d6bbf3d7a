# Starts the window where it cannot start, closes it during a run, and lets drives and scripts fail.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
set(digits ${SOURCE}/examples/04_digits_mlp.lua --set epochs=150)

string(TIMESTAMP before "%s")
expect(closing 0 "" ${display} ${WORKBENCH} ${digits} ${VALIDATION} --drive ${SOURCE}/tests/ui/drives/closing.lua)
string(TIMESTAMP after "%s")
math(EXPR took "${after} - ${before}")
if(took GREATER 20)
  message("closing: took ${took} s")
  math(EXPR faults "${faults} + 1")
endif()

# The first frame with a script open. Measured in CPU time of the thread, which other load changes little.
file(WRITE ${WORK}/first.lua "ui.wait('panel', 'Editor')")
expect(first-frame 0 "CPU time until then" ${display} ${WORKBENCH} ${digits} --times --drive ${WORK}/first.lua)
message("${said}")
string(REGEX MATCH "without the driver: ([0-9]+) ms" found "${said}")
if(NOT found OR CMAKE_MATCH_1 GREATER 300)
  message("first-frame: more than 300 ms of CPU time without the driver")
  math(EXPR faults "${faults} + 1")
endif()

set(bare ${CMAKE_COMMAND} -E env --unset=DISPLAY --unset=WAYLAND_DISPLAY)
expect(no-display 5 "there is no display" ${bare} ${WORKBENCH})
expect(no-driver 5 "package mesa-vulkan-drivers" ${display} ${CMAKE_COMMAND} -E env VK_ICD_FILENAMES=/nonexistent
       VK_DRIVER_FILES=/nonexistent ${WORKBENCH})
expect(unknown-flag 2 "unknown flag --frobnicate" ${WORKBENCH} --frobnicate)
expect(bad-size 2 "--size needs WIDTHxHEIGHT" ${WORKBENCH} --size large)
expect(help 0 "opens the window" ${WORKBENCH} --help)

# Drives that fail: exit code 1, the line, and what is shown instead.
expect(no-drive-file 6 "cannot read /nonexistent" ${display} ${WORKBENCH} --drive /nonexistent)
function(failing name words code)
  file(WRITE ${WORK}/${name}.lua "${code}")
  expect(${name} 1 "${name}.lua:${words}" ${display} ${WORKBENCH} --drive ${WORK}/${name}.lua)
  set(faults ${faults} PARENT_SCOPE)
endfunction()
failing(expects "2: state \"exploded\" is not shown: state shows \"ready\"" "\nui.expect('state', 'exploded')")
failing(clicks "1: nowhere \"\" is not shown: no nowhere is shown, but" "ui.click('nowhere')")
failing(waits "1: state \"exploded\" was not shown within 0.2 s" "ui.wait('state', 'exploded', 0.2)")
failing(presses "1: no such key: \"Hyper+Q\"" "ui.key('Hyper+Q')")
failing(misspelt "1: syntax error near 'click'" "ui click")
finish()
