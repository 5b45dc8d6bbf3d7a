# Drives the real window on a virtual display with Vulkan's validation watching, and starts it where it cannot start.
#   cmake -DWORKBENCH=<program> -DSOURCE=<root> -DWORK=<folder> -DXVFB=<xvfb-run> -P tests/ui/drive.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
# xvfb-run has an exit code of its own when it cannot tidy up behind itself; the program's is kept beside it.
file(WRITE ${WORK}/keep_code "\"$@\"\necho $? >${WORK}/exit_code\n")
set(display ${XVFB} -a -s "-screen 0 1920x1080x24" sh ${WORK}/keep_code)
set(faults 0)

# Runs a command in the work folder and checks its exit code and a part of what it says.
function(expect name code words)
  file(REMOVE ${WORK}/exit_code)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE said
                  ERROR_VARIABLE said TIMEOUT 240)
  if(EXISTS ${WORK}/exit_code)
    file(STRINGS ${WORK}/exit_code result)
  endif()
  string(FIND "${said}" "${words}" found)
  if(NOT result STREQUAL code OR found EQUAL -1)
    message("${name}: exit code ${result}, expected ${code} and \"${words}\"\n${said}")
    math(EXPR faults "${faults} + 1")
    set(faults ${faults} PARENT_SCOPE)
  endif()
endfunction()

function(drive name)
  file(READ ${SOURCE}/tests/ui/${name}.drive commands)
  string(REPLACE PICTURES ${WORK} commands "${commands}")
  file(WRITE ${WORK}/${name}.drive "${commands}")
  expect(${name} 0 "" ${display} ${WORKBENCH} ${SOURCE}/examples/04_digits_mlp.lua --drive ${WORK}/${name}.drive
         --validation --set epochs=150)
  set(faults ${faults} PARENT_SCOPE)
endfunction()

drive(digits)
foreach(picture paused light finished small)
  if(NOT EXISTS ${WORK}/${picture}.png)
    message("digits: no ${picture}.png")
    math(EXPR faults "${faults} + 1")
  endif()
endforeach()
string(TIMESTAMP before "%s")
drive(closing)
string(TIMESTAMP after "%s")
math(EXPR took "${after} - ${before}")
if(took GREATER 20)
  message("closing: took ${took} s")
  math(EXPR faults "${faults} + 1")
endif()

set(bare ${CMAKE_COMMAND} -E env --unset=DISPLAY --unset=WAYLAND_DISPLAY)
expect(no-display 5 "there is no display" ${bare} ${WORKBENCH})
expect(no-driver 5 "package mesa-vulkan-drivers" ${display} ${CMAKE_COMMAND} -E env VK_ICD_FILENAMES=/nonexistent
       VK_DRIVER_FILES=/nonexistent ${WORKBENCH})
expect(unknown-flag 2 "unknown flag --frobnicate" ${WORKBENCH} --frobnicate)
expect(bad-size 2 "--size needs WIDTHxHEIGHT" ${WORKBENCH} --size large)
expect(help 0 "opens the window" ${WORKBENCH} --help)
expect(no-drive-file 6 "cannot read" ${display} ${WORKBENCH} --drive /nonexistent)
file(WRITE ${WORK}/failing.drive "expect state exploded\n")
expect(failing-drive 1 "failing.drive:1: expect state exploded: not shown" ${display} ${WORKBENCH} --drive
       ${WORK}/failing.drive)
file(WRITE ${WORK}/broken.lua "local lg = require 'lunagrad'\nprint('begin')\nlg.ones(2, 3):matmul(lg.ones(2, 3))\n")
file(WRITE ${WORK}/broken.drive "wait state failed\nexpect console.error broken.lua:3:\nexpect tape.search\nquit\n")
expect(script-error 0 "" ${display} ${WORKBENCH} ${WORK}/broken.lua --drive ${WORK}/broken.drive --validation)

if(faults)
  message(FATAL_ERROR "${faults} faults in driving the window")
endif()
