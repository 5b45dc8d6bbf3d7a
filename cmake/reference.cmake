# Shell completions and the man pages, from what the programs print themselves.
include(GNUInstallDirs)
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
  set(MADE ${PROJECT_BINARY_DIR}/reference/${FOLDER})
  file(MAKE_DIRECTORY ${MADE})
  add_custom_command(TARGET lunagrad POST_BUILD VERBATIM COMMAND lunagrad ${ARGUMENTS} > ${MADE}/${NAME})
  if(LUNAGRAD_INSTALL)
    install(FILES ${MADE}/${NAME} DESTINATION ${FOLDER})
  endif()
endforeach()
if(TARGET lunagrad-workbench)
  set(MADE ${PROJECT_BINARY_DIR}/reference/${CMAKE_INSTALL_MANDIR}/man1/lunagrad-workbench.1)
  add_custom_command(TARGET lunagrad-workbench POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:lunagrad-workbench> -DOUT=${MADE} -DVERSION=${PROJECT_VERSION}
            -P ${PROJECT_SOURCE_DIR}/cmake/workbench_page.cmake)
  if(LUNAGRAD_INSTALL)
    install(FILES ${MADE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
# The documents as a site: the target `docs` writes it into docs/ of the build folder. Where cmark-gfm is installed
# (./setup.sh docs), it is built with everything else, except with sanitizers.
find_program(LUNAGRAD_CMARK_GFM cmark-gfm)
set(LUNAGRAD_SITE ${PROJECT_BINARY_DIR}/docs)
file(GLOB_RECURSE SITE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/* ${PROJECT_SOURCE_DIR}/examples/*.lua
     ${PROJECT_SOURCE_DIR}/lua/meta/* ${PROJECT_SOURCE_DIR}/lua/pytorch/* ${PROJECT_SOURCE_DIR}/lua/lunagrad/optim/*)
add_custom_command(OUTPUT ${LUNAGRAD_SITE}/index.html
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${LUNAGRAD_SITE}
  COMMAND lunagrad meta --site ${LUNAGRAD_SITE}
  DEPENDS lunagrad ${SITE_SOURCES} ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  COMMENT "Writing the site of the documents" VERBATIM)
if(LUNAGRAD_CMARK_GFM AND NOT LUNAGRAD_SANITIZE)
  add_custom_target(docs ALL DEPENDS ${LUNAGRAD_SITE}/index.html)
else()
  add_custom_target(docs DEPENDS ${LUNAGRAD_SITE}/index.html)
endif()
if(LUNAGRAD_INSTALL)
  install(DIRECTORY ${LUNAGRAD_SITE}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html OPTIONAL)
endif()
