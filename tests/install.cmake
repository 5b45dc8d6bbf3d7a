# Installs the build into a prefix, trains with the installed program, and builds and runs the C++ host against the package.
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
