# Installs the build into a prefix, trains with the installed program, and builds and runs the C++ hosts against the CMake
# package. The host that shows panels runs on a virtual display where XVFB is found.
file(REMOVE_RECURSE ${WORK})
function(step)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(MAKE_DIRECTORY ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
step(prefix/bin/lunagrad -e "lg = require 'lunagrad'; assert(lg.nn.Linear(2, 1)(lg.ones(3, 2)):size(1) == 3)")
step(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/embed -B embed -DCMAKE_PREFIX_PATH=${WORK}/prefix
     -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
step(${CMAKE_COMMAND} --build embed)
step(embed/lunagrad-embed)

# An install may be moved, and a host may lie anywhere: both find the Lua files of the install, not the source tree's.
file(REMOVE_RECURSE ${WORK}/moved)
file(RENAME ${WORK}/prefix ${WORK}/moved)
set(ENV{LD_LIBRARY_PATH} ${WORK}/moved/lib:${WORK}/moved/lib/x86_64-linux-gnu:${WORK}/moved/lib/aarch64-linux-gnu)
file(MAKE_DIRECTORY ${WORK}/elsewhere)
file(COPY ${WORK}/embed/lunagrad-embed DESTINATION ${WORK}/elsewhere)
file(READ ${WORK}/moved/share/lunagrad/lua/lunagrad/init.lua LIBRARY)
file(WRITE ${WORK}/moved/share/lunagrad/lua/lunagrad/init.lua "print('the moved library')\n${LIBRARY}")
foreach(HOST "moved/bin/lunagrad;-e;require 'lunagrad'" "elsewhere/lunagrad-embed")
  execute_process(COMMAND ${HOST} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE SAID)
  if(NOT SAID MATCHES "the moved library")
    message(FATAL_ERROR "${HOST} took another Lua library: ${SAID}")
  endif()
endforeach()
file(WRITE ${WORK}/moved/share/lunagrad/lua/lunagrad/init.lua "${LIBRARY}")
unset(ENV{LD_LIBRARY_PATH})
file(RENAME ${WORK}/moved ${WORK}/prefix)

if(XVFB)
  step(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/embed_ui -B embed_ui -DCMAKE_PREFIX_PATH=${WORK}/prefix
       -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
  step(${CMAKE_COMMAND} --build embed_ui)
  step(${XVFB} -a -n 90 -s "-screen 0 1280x1024x24" embed_ui/lunagrad-embed-ui 120 ${WORK}/embed_ui.png)
  file(SIZE ${WORK}/embed_ui.png bytes)
  if(bytes LESS 20000)  # an empty window packs into a tenth
    message(FATAL_ERROR "the picture of the host's window has ${bytes} bytes: it shows no panels")
  endif()
endif()
