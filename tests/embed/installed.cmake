# Hosts of the install that the entry `install` made in PREFIX: the components of find_package, each header by itself,
# pkg-config, and hosts with a Lua of their own. Run by ctest as
#   cmake -DSOURCE=<root> -DPREFIX=<folder> -DWORK=<folder> -DCOMPONENTS=<what is built> -DLAUNCHER=<ccache> -P tests/embed/installed.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/empty)
function(step)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
foreach(COMPONENT gpu ui)
  string(TOUPPER HAS_${COMPONENT} NAME)
  set(${NAME} FALSE)
  if(COMPONENT IN_LIST COMPONENTS)
    set(${NAME} TRUE)
  endif()
endforeach()
set(CONFIGURE ${CMAKE_COMMAND} -G Ninja -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
step(${CONFIGURE} -S ${SOURCE}/tests/embed/components -B all -DCASE=all -DHAS_GPU=${HAS_GPU} -DHAS_UI=${HAS_UI})
file(GLOB_RECURSE PC ${PREFIX}/lunagrad-script.pc)
file(STRINGS ${PC} SCRIPT_NEEDS REGEX "^Requires: lunagrad-runtime .")  # without the part onnx it needs no module
step(${CMAKE_COMMAND} -E env PKG_CONFIG_LIBDIR=${WORK}/empty ${CONFIGURE} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
     -DPKG_CONFIG_USE_CMAKE_PREFIX_PATH=OFF -S ${SOURCE}/tests/embed/components -B lacking -DCASE=lacking "-DSCRIPT_NEEDS=${SCRIPT_NEEDS}")

file(GLOB_RECURSE PC ${PREFIX}/lunagrad.pc)
get_filename_component(PC ${PC} DIRECTORY)
foreach(HOST "lunagrad-runtime;${SOURCE}/tests/embed/parent/host.cpp" "lunagrad;${SOURCE}/examples/embed/main.cpp")
  list(POP_FRONT HOST MODULE)
  step(sh -ec "export PKG_CONFIG_PATH=${PC}
${LAUNCHER} c++ -std=c++20 -c ${HOST} -o ${MODULE}.o $(pkg-config --cflags ${MODULE})
c++ ${MODULE}.o -o ${MODULE} $(pkg-config --libs ${MODULE}) -Wl,-rpath,$(pkg-config --variable=libdir ${MODULE})
./${MODULE}")
endforeach()
# A project in C alone, and the same host without CMake.
if("c" IN_LIST COMPONENTS)
  step(${CMAKE_COMMAND} -G Ninja -DCMAKE_PREFIX_PATH=${PREFIX} -S ${SOURCE}/examples/embed_c -B in-c)
  step(${CMAKE_COMMAND} --build in-c)
  step(in-c/lunagrad-embed-c)
  step(in-c/lunagrad-embed-c-session)
  step(sh -ec "export PKG_CONFIG_PATH=${PC}
for host in main session
do
  cc -std=c99 -Wall -Wextra -pedantic -Werror ${SOURCE}/examples/embed_c/$host.c -o fit-$host $(pkg-config --cflags --libs lunagrad-c) \
-Wl,-rpath,$(pkg-config --variable=libdir lunagrad-c)
  ./fit-$host
done")
endif()
foreach(COMPONENT IN LISTS COMPONENTS)
  step(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${PC} pkg-config --cflags --libs lunagrad-${COMPONENT})
endforeach()

file(MAKE_DIRECTORY ${WORK}/lua)
step(sh -ec "cd lua && ${SOURCE}/tests/embed/lua/hosts ${PREFIX} ${LAUNCHER}")

step(${CONFIGURE} -S ${SOURCE}/tests/embed/headers -B headers -DINSTALLED=${PREFIX})
step(${CMAKE_COMMAND} --build headers)
