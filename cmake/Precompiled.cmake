# SPDX-License-Identifier: MIT
# Precompiles engine/base/wintypes.h for all targets that have our flags. For Windows it includes 70,000 lines, which
# took two thirds of the compile time. A native build does not use it: there the header includes almost nothing, and the
# build detects sources that lack an include. A source with SKIP_PRECOMPILE_HEADERS does not use it either.
option(OPENPLA_PRECOMPILE "Precompile engine/base/wintypes.h" ${WIN32})
if(NOT OPENPLA_PRECOMPILE)
  return()
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.c CONTENT "/* Only to have a source to precompile the header for. */\n")
add_library(openpla_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.c)
target_link_libraries(openpla_precompiled PRIVATE openpla_flags)
target_precompile_headers(openpla_precompiled PRIVATE <engine/base/wintypes.h>)
# ccache caches these compilations only with the following options and with sloppiness=pch_defines,time_macros.
target_compile_options(openpla_flags INTERFACE $<$<C_COMPILER_ID:GNU>:-fpch-preprocess>
  "$<$<C_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")

function(openpla_use_precompiled folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(type MATCHES "LIBRARY|EXECUTABLE" AND "openpla_flags" IN_LIST libraries AND NOT target STREQUAL openpla_precompiled)
      target_precompile_headers(${target} REUSE_FROM openpla_precompiled)
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    openpla_use_precompiled(${below})
  endforeach()
endfunction()
# Runs at the end of the configuration, when all targets exist.
cmake_language(DEFER CALL openpla_use_precompiled ${CMAKE_SOURCE_DIR})
