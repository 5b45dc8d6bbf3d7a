# The command line: the program lunagrad.
find_package(CLI11 REQUIRED)
pkg_check_modules(LUNAGRAD_EDIT REQUIRED IMPORTED_TARGET libedit)

# The commit that `lunagrad version` prints. It is read at configuration, which runs again after each commit. A build
# outside a clone names it in LUNAGRAD_COMMIT.
if(NOT DEFINED CACHE{LUNAGRAD_COMMIT})
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE LUNAGRAD_COMMIT
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
                  OUTPUT_VARIABLE LUNAGRAD_GIT_LOG OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
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
lunagrad_precompile_headers(lunagrad <iostream>)
lunagrad_group_sources(lunagrad)
target_link_libraries(lunagrad PRIVATE lunagrad-script lunagrad-runtime lunagrad-lua CLI11::CLI11 PkgConfig::LUNAGRAD_EDIT
                      nlohmann_json::nlohmann_json Threads::Threads)
if(LUNAGRAD_GPU)
  target_compile_definitions(lunagrad PRIVATE LUNAGRAD_HAS_GPU)
  target_link_libraries(lunagrad PRIVATE lunagrad-gpu)
endif()
if(TARGET lunagrad-mpi)
  add_dependencies(lunagrad lunagrad-mpi)  # loaded at run time
endif()
