# SPDX-License-Identifier: MIT
# Builds the DLLs for 32-bit programs (target installed_32) and their test programs into bin/x86, beside the 64-bit
# server, as the preset mingw32 does. Without the 32-bit cross compiler both targets are empty.
include(ExternalProject)
add_custom_target(installed_32)
find_program(OPENPLA_CC_32 NAMES i686-w64-mingw32-gcc-win32 i686-w64-mingw32-gcc)
if(NOT CMAKE_CROSSCOMPILING OR NOT OPENPLA_CC_32)
  message(STATUS "32-bit programs: DLLs not built, cross compiler missing (Debian: gcc-mingw-w64-i686-win32)")
  return()
endif()
set(OPENPLA_BIN_32 ${OPENPLA_BIN_DIR}/x86)
# This build step builds only the DLLs, so that builds without tests do not wait for the test programs.
ExternalProject_Add(programs_32 SOURCE_DIR ${CMAKE_SOURCE_DIR} PREFIX ${CMAKE_BINARY_DIR}/_deps/programs_32
  BINARY_DIR ${CMAKE_BINARY_DIR}/x86 BUILD_ALWAYS ON
  CONFIGURE_COMMAND ${CMAKE_COMMAND} --preset mingw32 -S ${CMAKE_SOURCE_DIR} -B <BINARY_DIR>
  -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DBUILD_TESTING=${BUILD_TESTING} -DOPENPLA_WERROR=${OPENPLA_WERROR}
  -DOPENPLA_DEBUG_INFO=${OPENPLA_DEBUG_INFO} -DOPENPLA_ASSERTS=${OPENPLA_ASSERTS}
  -DOPENPLA_SOURCES_DIR=${OPENPLA_SOURCES_DIR} -DOPENPLA_BIN_DIR=${OPENPLA_BIN_32} --no-warn-unused-cli
  BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target installed
  INSTALL_COMMAND "" STEP_TARGETS build)
add_dependencies(installed_32 programs_32-build)
if(BUILD_TESTING)
  ExternalProject_Add_Step(programs_32 tests COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> DEPENDEES build ALWAYS ON)
endif()
