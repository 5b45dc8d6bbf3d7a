# The Lua bindings, the session and the command line.
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4-c++)
# Lua compiled as C++ exports C names in Debian 12 and C++ names in Debian 13, where lua.hpp wrongly declares C names.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::LUA)
check_cxx_source_compiles("#include <lua.hpp>\nint main() { lua_close(luaL_newstate()); }" LUNAGRAD_LUA_HAS_C_NAMES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT LUNAGRAD_LUA_HAS_C_NAMES)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lua/lua.hpp CONTENT
       "#include <lua.h>\n#include <lualib.h>\n#include <lauxlib.h>\n")
  target_include_directories(PkgConfig::LUA BEFORE INTERFACE ${PROJECT_BINARY_DIR}/lua)
endif()
find_package(CLI11 REQUIRED)
# The static library: another shared library would make each start 2 % longer, and only a sandbox needs it.
find_library(SECCOMP libseccomp.a REQUIRED)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)

# The library contains everything but the command line, which belongs to the program.
file(GLOB_RECURSE SCRIPT_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/script/*.cpp)
# The site of the documents is not in it either: only the program links it.
file(GLOB_RECURSE CLI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/script/cli/*.cpp
     ${PROJECT_SOURCE_DIR}/script/site/*.cpp)
include(${PROJECT_SOURCE_DIR}/cmake/parts.cmake)
list(REMOVE_ITEM SCRIPT_SOURCES ${PROJECT_SOURCE_DIR}/script/main.cpp ${CLI_SOURCES} ${PART_SOURCES})
list(REMOVE_ITEM CLI_SOURCES ${PART_SOURCES})

# The page of reports (script/report/web/), and style and search of the site (script/site/web/), as texts.
file(GLOB WEB_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/script/report/web/*
     ${PROJECT_SOURCE_DIR}/script/report/web/tape_diff/* ${PROJECT_SOURCE_DIR}/script/site/web/*)
set(WEB_TEXTS ${PROJECT_BINARY_DIR}/web_texts.cpp)
add_custom_command(OUTPUT ${WEB_TEXTS}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/script/report/web
          -DSITE=${PROJECT_SOURCE_DIR}/script/site/web -DOUT=${WEB_TEXTS} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${WEB_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake COMMENT "Writing the files of web pages" VERBATIM)
set_source_files_properties(${WEB_TEXTS} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# Folders whose code runs once for a run or a command: -O1 compiles them a quarter faster.
set(ONCE_SOURCES ${SCRIPT_SOURCES})
list(FILTER ONCE_SOURCES INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/script/(check|chunk|guard|meta|report|tape_diff|trust)/")
list(REMOVE_ITEM SCRIPT_SOURCES ${ONCE_SOURCES})
add_library(lunagrad-script-once OBJECT ${ONCE_SOURCES} ${PART_TABLES} ${WEB_TEXTS})
target_compile_options(lunagrad-script-once PRIVATE ${LUNAGRAD_OPTIMIZE_ONCE})
group_sources(lunagrad-script-once)
target_link_libraries(lunagrad-script-once PRIVATE lunagrad-runtime PkgConfig::LUA nlohmann_json::nlohmann_json)

add_library(lunagrad-script STATIC ${SCRIPT_SOURCES} $<TARGET_OBJECTS:lunagrad-script-once>)
foreach(PART IN LISTS LIBRARY_PARTS)
  target_sources(lunagrad-script PRIVATE $<TARGET_OBJECTS:${PART}>)
endforeach()
foreach(PACKAGE IN LISTS PART_PACKAGES)
  string(REGEX REPLACE "=.*" "" PACKAGE ${PACKAGE})
  target_link_libraries(lunagrad-script PRIVATE PkgConfig::${PACKAGE})
endforeach()
target_compile_options(lunagrad-script PRIVATE ${LUNAGRAD_OPTIMIZE_OUTSIDE})
precompile_headers(lunagrad-script <lua.hpp>)
group_sources(lunagrad-script)
target_link_libraries(lunagrad-script PUBLIC lunagrad-runtime PRIVATE PkgConfig::LUA nlohmann_json::nlohmann_json
                      ${SECCOMP} Threads::Threads)
# Where a program that is not installed finds the bundled Lua library.
set_source_files_properties(script/meta/library.cpp PROPERTIES COMPILE_DEFINITIONS
                            LUNAGRAD_LUA_SOURCE="${PROJECT_SOURCE_DIR}/lua")

# The commit that `lunagrad version` prints. It is read at configuration, which runs again after each commit.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE LUNAGRAD_COMMIT
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
                OUTPUT_VARIABLE LUNAGRAD_GIT_LOG OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(LUNAGRAD_COMMIT)
  set(LUNAGRAD_COMMIT "commit ${LUNAGRAD_COMMIT}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${LUNAGRAD_GIT_LOG})
else()
  set(LUNAGRAD_COMMIT "no commit")
endif()
set_source_files_properties(script/cli/command/help.cpp PROPERTIES COMPILE_DEFINITIONS
                            LUNAGRAD_COMMIT="${LUNAGRAD_COMMIT}")

# The program. Only main.cpp includes the GPU backend.
add_executable(lunagrad ${PROJECT_SOURCE_DIR}/script/main.cpp ${CLI_SOURCES} ${COMMAND_TABLE})
target_link_libraries(lunagrad PRIVATE ${PROGRAM_PARTS})
target_compile_options(lunagrad PRIVATE ${LUNAGRAD_OPTIMIZE_ONCE})
precompile_headers(lunagrad <iostream>)
group_sources(lunagrad)
target_link_libraries(lunagrad PRIVATE lunagrad-script lunagrad-runtime PkgConfig::LUA CLI11::CLI11 PkgConfig::EDIT
                      nlohmann_json::nlohmann_json Threads::Threads)
if(LUNAGRAD_GPU)
  target_compile_definitions(lunagrad PRIVATE LUNAGRAD_HAS_GPU)
  target_link_libraries(lunagrad PRIVATE lunagrad-gpu)
endif()
if(TARGET lunagrad-mpi)
  add_dependencies(lunagrad lunagrad-mpi)  # loaded at run time
endif()
