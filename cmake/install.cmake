# `cmake --install`: the programs, the libraries and headers of the components (components.cmake), the Lua files and documents,
# and what makes hosts find them: a CMake package for find_package(lunagrad), and files of pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(INSTALLED_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/lunagrad)

# A host writes <lunagrad/runtime/ops.h>; the headers themselves include "runtime/core/op.h".
target_include_directories(lunagrad-runtime INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/lunagrad>)
foreach(COMPONENT IN LISTS LUNAGRAD_COMPONENTS)
  set(LIBRARY lunagrad-${COMPONENT})
  set_target_properties(${LIBRARY} PROPERTIES EXPORT_NAME ${COMPONENT} INSTALL_RPATH "$ORIGIN")
  get_target_property(TYPE ${LIBRARY} TYPE)
  if(TYPE STREQUAL SHARED_LIBRARY AND NOT COMPONENT STREQUAL "c")  # capi.cmake has the version of its interface
    set_target_properties(${LIBRARY} PROPERTIES VERSION ${PROJECT_VERSION}
                          SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
  # Each component has a file of targets, so that a host needs only the packages of the components that it asks for.
  install(TARGETS ${LIBRARY} EXPORT ${LIBRARY})
  install(EXPORT ${LIBRARY} NAMESPACE lunagrad:: FILE ${LIBRARY}-targets.cmake DESTINATION ${INSTALLED_PACKAGE})
  foreach(HEADER IN LISTS LUNAGRAD_HEADERS_${COMPONENT})
    get_filename_component(FOLDER ${HEADER} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lunagrad/${FOLDER})
  endforeach()
endforeach()
if(TARGET lunagrad-c)
  target_include_directories(lunagrad-c INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(FILES ${PROJECT_SOURCE_DIR}/capi/lunagrad.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
foreach(PROGRAM lunagrad lunagrad-workbench)
  if(TARGET ${PROGRAM})
    set_target_properties(${PROGRAM} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS ${PROGRAM})
  endif()
endforeach()
if(TARGET lunagrad-mpi)
  # In a folder of the version, as the runtime looks for it: it is no library that a program links.
  set_target_properties(lunagrad-mpi PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS lunagrad-mpi DESTINATION ${CMAKE_INSTALL_LIBDIR}/lunagrad-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
if(TARGET lunagrad-workbench)
  set(DESKTOP ${PROJECT_SOURCE_DIR}/packaging/desktop)
  install(FILES ${DESKTOP}/lunagrad-workbench.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${DESKTOP}/lunagrad-workbench.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
  install(FILES ${DESKTOP}/lunagrad-workbench.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
  install(FILES ${DESKTOP}/lunagrad-workbench.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(LUNAGRAD_SCRIPT)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lua ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/assets
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lunagrad)
  if(NOT LUNAGRAD_SHARED_LUA)
    install(FILES ${LUA_FOLDER}/LICENSE.lua DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endif()

# What the programs of hosts need besides the component's own library: files, packages of CMake, and modules of pkg-config, as
# NAME=MODULE where the targets name PkgConfig::LUNAGRAD_NAME.
set(FILES_runtime)
set(FILES_script ${LUNAGRAD_SECCOMP})
set(PACKAGES_runtime)
set(MODULES_runtime)
if(NOT LUNAGRAD_SHARED)
  set(FILES_runtime ${LUNAGRAD_SLEEF})
  set(PACKAGES_runtime Threads ZLIB)
  set(MODULES_runtime OPENBLAS=openblas HIGHWAY=libhwy LIBZIP=libzip LIBPNG=libpng)
endif()
set(PACKAGES_script Threads)
set(MODULES_script ${PART_PACKAGES})
if(LUNAGRAD_SHARED_LUA)
  list(PREPEND MODULES_script LUA=lua5.4-c++)
endif()
set(PACKAGES_gpu)
set(MODULES_gpu)
set(PACKAGES_ui Threads Vulkan)
set(MODULES_ui IMGUI=imgui GLFW=glfw3 FONTCONFIG=fontconfig FREETYPE=freetype2)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lunagrad-config.cmake.in
  ${PROJECT_BINARY_DIR}/lunagrad-config.cmake INSTALL_DESTINATION ${INSTALLED_PACKAGE} NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lunagrad-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lunagrad-config.cmake ${PROJECT_BINARY_DIR}/lunagrad-config-version.cmake
        DESTINATION ${INSTALLED_PACKAGE})

# Files of pkg-config: lunagrad-COMPONENT.pc, and lunagrad.pc for runtime and script. Their folder is relative to the file, so an
# install may be moved.
set(PKG_CONFIG_FOLDER ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH UP /${PKG_CONFIG_FOLDER} /)
string(REGEX REPLACE "/$" "" UP ${UP})
function(pkg_config_file NAME DESCRIPTION REQUIRES LIBRARIES)
  set(CFLAGS "-I\${includedir}")
  if(NOT NAME STREQUAL "lunagrad-c")
    string(JOIN " " CFLAGS ${CFLAGS} "-I\${includedir}/lunagrad" ${PUBLIC_DEFINITIONS})
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pkgconfig/${NAME}.pc @ONLY CONTENT "prefix=\${pcfiledir}/@UP@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: @NAME@
Description: @DESCRIPTION@
Version: @PROJECT_VERSION@
Requires: @REQUIRES@
Cflags: @CFLAGS@
Libs: -L\${libdir} @LIBRARIES@
")
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${NAME}.pc DESTINATION ${PKG_CONFIG_FOLDER})
endfunction()
get_target_property(PUBLIC_DEFINITIONS lunagrad-runtime INTERFACE_COMPILE_DEFINITIONS)
if(PUBLIC_DEFINITIONS)
  list(TRANSFORM PUBLIC_DEFINITIONS PREPEND -D)
else()
  set(PUBLIC_DEFINITIONS)
endif()
set(DESCRIPTION_runtime "Tensors, operations and gradients")
set(DESCRIPTION_script "Sessions that run Lua scripts of training")
set(DESCRIPTION_gpu "The Vulkan backend")
set(DESCRIPTION_c "Tensors, operations and gradients for programs in C")
set(DESCRIPTION_ui "Panels that show a session in a window")
set(LIBRARIES_runtime)
if(NOT LUNAGRAD_SHARED)
  set(LIBRARIES_runtime ${FILES_runtime} -lz -pthread)
endif()
set(LIBRARIES_script ${FILES_script} -pthread)
set(LIBRARIES_gpu)
set(LIBRARIES_ui -pthread)
set(BELOW_runtime)
set(BELOW_script lunagrad-runtime)
set(BELOW_gpu lunagrad-runtime)
set(BELOW_ui lunagrad-script vulkan)
foreach(COMPONENT IN LISTS LUNAGRAD_COMPONENTS)
  set(MODULES ${MODULES_${COMPONENT}})
  list(TRANSFORM MODULES REPLACE "^.*=" "")
  string(JOIN " " REQUIRES ${BELOW_${COMPONENT}} ${MODULES})
  set(NAME_OF_LIBRARY lunagrad-${COMPONENT})
  if(COMPONENT STREQUAL "c")
    set(NAME_OF_LIBRARY lunagrad)
  endif()
  string(JOIN " " LIBRARIES -l${NAME_OF_LIBRARY} ${LIBRARIES_${COMPONENT}})
  pkg_config_file(lunagrad-${COMPONENT} "${DESCRIPTION_${COMPONENT}}" "${REQUIRES}" "${LIBRARIES}")
endforeach()
set(REQUIRES lunagrad-runtime)
if(TARGET lunagrad-script)
  set(REQUIRES lunagrad-script)
endif()
pkg_config_file(lunagrad "Tensors and gradients, scripted in Lua" ${REQUIRES} "")
