# The Lua bindings and the session.
include(${PROJECT_SOURCE_DIR}/cmake/lua.cmake)
# The static library: another shared library would make each start 2 % longer, and only a sandbox needs it.
find_library(LUNAGRAD_SECCOMP libseccomp.a REQUIRED)

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
lunagrad_group_sources(lunagrad-script-once)
target_link_libraries(lunagrad-script-once PRIVATE lunagrad-runtime lunagrad-lua nlohmann_json::nlohmann_json)

add_library(lunagrad-script STATIC ${SCRIPT_SOURCES} $<TARGET_OBJECTS:lunagrad-script-once>)
foreach(PART IN LISTS LIBRARY_PARTS)
  target_sources(lunagrad-script PRIVATE $<TARGET_OBJECTS:${PART}>)
endforeach()
foreach(PACKAGE IN LISTS PART_PACKAGES)
  string(REGEX REPLACE "=.*" "" PACKAGE ${PACKAGE})
  target_link_libraries(lunagrad-script PRIVATE PkgConfig::LUNAGRAD_${PACKAGE})
endforeach()
target_compile_options(lunagrad-script PRIVATE ${LUNAGRAD_OPTIMIZE_OUTSIDE})
lunagrad_precompile_headers(lunagrad-script <lua.hpp>)
lunagrad_group_sources(lunagrad-script)
target_link_libraries(lunagrad-script PUBLIC lunagrad-runtime
                      PRIVATE $<BUILD_INTERFACE:lunagrad-lua> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> ${LUNAGRAD_SECCOMP} Threads::Threads)
if(LUNAGRAD_SHARED_LUA)
  target_link_libraries(lunagrad-script PRIVATE PkgConfig::LUNAGRAD_LUA)
else()
  set_source_files_properties(${LUA_OBJECT} PROPERTIES EXTERNAL_OBJECT TRUE)
  target_sources(lunagrad-script PRIVATE ${LUA_OBJECT})
endif()
# Where a program that is not installed finds the bundled Lua library. A package names the folder that it installs, since it
# may contain no path of the build.
set(LUNAGRAD_LUA_FALLBACK ${PROJECT_SOURCE_DIR}/lua CACHE STRING "the Lua library of a program that finds none near itself")
mark_as_advanced(LUNAGRAD_LUA_FALLBACK)
set_source_files_properties(script/meta/library.cpp PROPERTIES COMPILE_DEFINITIONS
                            LUNAGRAD_LUA_SOURCE="${LUNAGRAD_LUA_FALLBACK}")
if(LUNAGRAD_PROGRAMS)
  include(cmake/program.cmake)
endif()
