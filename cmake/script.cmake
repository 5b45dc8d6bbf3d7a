# The Lua edge, the session, and the command line.
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4-c++)
find_package(CLI11 REQUIRED)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)

file(GLOB SCRIPT_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/script/*.cpp)
list(REMOVE_ITEM SCRIPT_SOURCES ${PROJECT_SOURCE_DIR}/script/main.cpp)
add_library(lunagrad-script STATIC ${SCRIPT_SOURCES})
target_compile_definitions(lunagrad-script PRIVATE LUNAGRAD_VERSION="${PROJECT_VERSION}")
target_link_libraries(lunagrad-script PUBLIC lunagrad-runtime PRIVATE PkgConfig::LUA nlohmann_json::nlohmann_json
                      Threads::Threads)
# Where an uninstalled program finds the bundled Lua library.
target_compile_definitions(lunagrad-script PRIVATE LUNAGRAD_LUA_SOURCE="${PROJECT_SOURCE_DIR}/lua")

# The program. main.cpp alone knows the GPU backend.
file(GLOB CLI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/script/cli/*.cpp)
add_executable(lunagrad ${PROJECT_SOURCE_DIR}/script/main.cpp ${CLI_SOURCES})
target_compile_options(lunagrad PRIVATE ${LUNAGRAD_OPTIMIZE_OUTSIDE})
target_compile_definitions(lunagrad PRIVATE LUNAGRAD_VERSION="${PROJECT_VERSION}")
target_link_libraries(lunagrad PRIVATE lunagrad-script lunagrad-runtime PkgConfig::LUA CLI11::CLI11 PkgConfig::EDIT
                      nlohmann_json::nlohmann_json Threads::Threads)
if(LUNAGRAD_GPU)
  target_compile_definitions(lunagrad PRIVATE LUNAGRAD_HAS_GPU)
  target_link_libraries(lunagrad PRIVATE lunagrad-gpu)
endif()
