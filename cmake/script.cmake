# The Lua edge, the session, and the command line.
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4-c++)
find_package(CLI11 REQUIRED)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)

file(GLOB SCRIPT_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/script/*.cpp)
list(REMOVE_ITEM SCRIPT_SOURCES ${CMAKE_SOURCE_DIR}/script/main.cpp)
add_library(lunagrad-script STATIC ${SCRIPT_SOURCES})
target_link_libraries(lunagrad-script PUBLIC lunagrad-runtime PRIVATE PkgConfig::LUA nlohmann_json::nlohmann_json
                      Threads::Threads)
# Where an uninstalled program finds the bundled Lua library.
target_compile_definitions(lunagrad-script PRIVATE LUNAGRAD_LUA_SOURCE="${CMAKE_SOURCE_DIR}/lua")
