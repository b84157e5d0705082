# SPDX-License-Identifier: MIT
# What `cmake --install` installs from a native build, by component, below DESTDIR and CMAKE_INSTALL_PREFIX:
#   tools  openpla, its manual pages, completion for bash, zsh and fish, report schemas, rules and XML Schemas
#   logs-library, logs-development, python-module  libopenpla-logs and its Python module (library/CMakeLists.txt)
# The target `tools` builds only what the component `tools` installs. installer/deb/native.sh builds Debian packages
# from the components.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)

# The manual pages and shell completions are generated from the program's own output. A cross-compiled program runs in
# an emulator.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(said ${CMAKE_BINARY_DIR}/tools)
set(pages ${said}/man1)
set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:openpla_program>)
file(MAKE_DIRECTORY ${said}/zsh ${said}/bash ${said}/fish ${said}/schemas)
set(written ${said}/bash/openpla ${said}/zsh/_openpla ${said}/fish/openpla.fish)
add_custom_command(OUTPUT ${pages}/openpla.1
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/installer/man_pages.py verbs ${pages} ${PROJECT_VERSION} ${program}
  DEPENDS openpla_program ${CMAKE_SOURCE_DIR}/installer/man_pages.py VERBATIM COMMENT "manual pages")
foreach(file ${written})
  get_filename_component(shell ${file} DIRECTORY)
  get_filename_component(shell ${shell} NAME)
  add_custom_command(OUTPUT ${file} COMMAND ${program} completion ${shell} > ${file} DEPENDS openpla_program VERBATIM
    COMMENT "completion for ${shell}")
endforeach()
foreach(schema set report report-schema rules)
  set(file ${said}/schemas/${schema}.xsd)
  add_custom_command(OUTPUT ${file} COMMAND ${program} schema ${schema} > ${file} DEPENDS openpla_program VERBATIM
    COMMENT "XML Schema of ${schema}")
  list(APPEND written ${file})
endforeach()
add_custom_target(tools ALL DEPENDS openpla_program ${pages}/openpla.1 ${written})

install(TARGETS openpla_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
install(FILES ${said}/bash/openpla DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
# Debian packages install completions in vendor-completions; other systems use site-functions.
if(EXISTS /etc/debian_version)
  set(zsh_folder vendor-completions)
else()
  set(zsh_folder site-functions)
endif()
install(FILES ${said}/zsh/_openpla DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder} COMPONENT tools)
install(FILES ${said}/fish/openpla.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
# The openpla program contains these files too. They are installed so that users can read them, use them as templates,
# and validate their own files.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/engine/report/make/schemas/ ${said}/schemas/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/openpla/schemas COMPONENT tools)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/engine/report/rules/packs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/openpla/rules
  COMPONENT tools)
