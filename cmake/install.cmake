# `cmake --install` and the package for find_package(lunagrad), with these targets: lunagrad::runtime (tensors, ops,
# gradients), lunagrad::script (a session), lunagrad::gpu (install() of gpu/gpu.h) and, for
# find_package(lunagrad COMPONENTS ui), lunagrad::ui (the window's panels, ui/embed.h). The last two exist if they were built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(LUNAGRAD_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR}/lunagrad)
set(LUNAGRAD_LIBRARIES lunagrad-runtime lunagrad-script)
set(LUNAGRAD_PROGRAMS lunagrad)
set(LUNAGRAD_HEADERS runtime script/session.h script/session_console.h script/session_control.h script/session_host.h
    script/session_inspection.h script/session_watches.h script/view)
if(LUNAGRAD_GPU)
  list(APPEND LUNAGRAD_LIBRARIES lunagrad-gpu)
  list(APPEND LUNAGRAD_HEADERS gpu/gpu.h)
endif()
if(LUNAGRAD_UI)
  list(APPEND LUNAGRAD_PROGRAMS lunagrad-workbench)
  list(APPEND LUNAGRAD_LIBRARIES lunagrad-ui)
  list(APPEND LUNAGRAD_HEADERS ui/embed.h ui/base/description.h ui/base/stopwatch.h ui/window/presenter.h
       ui/window/display_input.h ui/window/input_queue.h ui/window/theme.h ui/window/window.h)
endif()

foreach(LIBRARY IN LISTS LUNAGRAD_LIBRARIES)
  string(REPLACE lunagrad- "" SHORT ${LIBRARY})
  set_target_properties(${LIBRARY} PROPERTIES EXPORT_NAME ${SHORT} INSTALL_RPATH "$ORIGIN")
endforeach()
set_target_properties(${LUNAGRAD_PROGRAMS} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
# A host writes <lunagrad/runtime/ops.h>; the headers themselves include "runtime/core/op.h".
target_include_directories(lunagrad-runtime INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                           $<INSTALL_INTERFACE:${LUNAGRAD_INCLUDE}>)
foreach(LIBRARY IN LISTS LUNAGRAD_LIBRARIES)
  get_target_property(TYPE ${LIBRARY} TYPE)
  if(TYPE STREQUAL SHARED_LIBRARY)
    set_target_properties(${LIBRARY} PROPERTIES VERSION ${PROJECT_VERSION}
                          SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
endforeach()

install(TARGETS ${LUNAGRAD_PROGRAMS})
install(TARGETS ${LUNAGRAD_LIBRARIES} EXPORT lunagrad)
if(TARGET lunagrad-mpi)
  set_target_properties(lunagrad-mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS lunagrad-mpi DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT lunagrad NAMESPACE lunagrad:: FILE lunagrad-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lunagrad)
foreach(HEADER IN LISTS LUNAGRAD_HEADERS)
  get_filename_component(FOLDER ${HEADER} DIRECTORY)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${HEADER})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${HEADER} DESTINATION ${LUNAGRAD_INCLUDE}/${FOLDER}
            FILES_MATCHING PATTERN *.h PATTERN *.def)
  else()
    install(FILES ${PROJECT_SOURCE_DIR}/${HEADER} DESTINATION ${LUNAGRAD_INCLUDE}/${FOLDER})
  endif()
endforeach()
# Shell completions and the man page, which the program prints itself.
set(LUNAGRAD_REFERENCE
    "completion bash|${CMAKE_INSTALL_DATADIR}/bash-completion/completions/lunagrad"
    "completion zsh|${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_lunagrad"
    "completion fish|${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/lunagrad.fish"
    "man|${CMAKE_INSTALL_MANDIR}/man1/lunagrad.1")
foreach(ENTRY IN LISTS LUNAGRAD_REFERENCE)
  string(REGEX MATCH "^(.*)[|](.*)$" ENTRY "${ENTRY}")
  set(TARGET ${CMAKE_MATCH_2})
  string(REPLACE " " ";" ARGUMENTS "${CMAKE_MATCH_1}")
  get_filename_component(FOLDER ${TARGET} DIRECTORY)
  get_filename_component(NAME ${TARGET} NAME)
  set(MADE ${CMAKE_BINARY_DIR}/reference/${FOLDER})
  file(MAKE_DIRECTORY ${MADE})
  add_custom_command(TARGET lunagrad POST_BUILD VERBATIM COMMAND lunagrad ${ARGUMENTS} > ${MADE}/${NAME})
  install(FILES ${MADE}/${NAME} DESTINATION ${FOLDER})
endforeach()
# The documents as a site: the target `docs` writes it into docs/ of the build folder. Where cmark-gfm is installed
# (./setup.sh docs), it is built with everything else, except with sanitizers.
find_program(CMARK_GFM cmark-gfm)
set(LUNAGRAD_SITE ${CMAKE_BINARY_DIR}/docs)
file(GLOB_RECURSE SITE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/* ${PROJECT_SOURCE_DIR}/examples/*.lua
     ${PROJECT_SOURCE_DIR}/lua/meta/* ${PROJECT_SOURCE_DIR}/lua/pytorch/* ${PROJECT_SOURCE_DIR}/lua/lunagrad/optim/*)
add_custom_command(OUTPUT ${LUNAGRAD_SITE}/index.html
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${LUNAGRAD_SITE}
  COMMAND lunagrad meta --site ${LUNAGRAD_SITE}
  DEPENDS lunagrad ${SITE_SOURCES} ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  COMMENT "Writing the site of the documents" VERBATIM)
if(CMARK_GFM AND NOT LUNAGRAD_SANITIZE)
  add_custom_target(docs ALL DEPENDS ${LUNAGRAD_SITE}/index.html)
else()
  add_custom_target(docs DEPENDS ${LUNAGRAD_SITE}/index.html)
endif()
install(DIRECTORY ${LUNAGRAD_SITE}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lua ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/lunagrad)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/assets
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lunagrad)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lunagrad-config.cmake.in
  ${CMAKE_BINARY_DIR}/lunagrad-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lunagrad)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/lunagrad-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/lunagrad-config.cmake ${CMAKE_BINARY_DIR}/lunagrad-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lunagrad)
