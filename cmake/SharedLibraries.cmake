# SPDX-License-Identifier: MIT
# Sanitized builds also link the libraries of engine/ into one shared library, which the test programs use. A static
# copy in each of a hundred programs would take a gigabyte and minutes to link. Two kinds of tests keep static copies:
# tests that replace library functions (--wrap), because the linker replaces only calls in statically linked code, and
# fuzz targets, because libFuzzer reads all counters of a library after each input.
if(NOT OPENPLA_SANITIZE)
  return()
endif()
# Programs are position-independent too: otherwise they would have copy relocations of the shared library's variables,
# which the address sanitizer does not support.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT BUILD_TESTING)
  return()
endif()

# Sets `out` to the targets of the folder and its subfolders.
function(openpla_targets_below folder out)
  get_property(all DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    openpla_targets_below(${below} more)
    list(APPEND all ${more})
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

function(openpla_is_of_type target type out)
  get_target_property(is ${target} TYPE)
  get_target_property(links ${target} LINK_LIBRARIES)
  set(${out} OFF PARENT_SCOPE)
  if(is STREQUAL type AND "openpla_flags" IN_LIST links)
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

function(openpla_share_libraries)
  set(libraries)
  set(objects)
  foreach(folder engine reg com/remote)
    openpla_targets_below(${CMAKE_SOURCE_DIR}/${folder} targets)
    foreach(target ${targets})
      openpla_is_of_type(${target} STATIC_LIBRARY is)
      if(is)
        list(APPEND libraries ${target})
        list(APPEND objects $<TARGET_OBJECTS:${target}>)
      endif()
    endforeach()
  endforeach()
  add_library(openpla_libraries SHARED ${objects})
  set_target_properties(openpla_libraries PROPERTIES LINKER_LANGUAGE C)
  target_link_libraries(openpla_libraries PRIVATE ${libraries} openpla_flags)
  openpla_targets_below(${CMAKE_SOURCE_DIR}/tests targets)
  foreach(target ${targets})
    openpla_is_of_type(${target} EXECUTABLE is)
    get_target_property(options ${target} LINK_OPTIONS)
    if(is AND NOT options MATCHES "--wrap=|-fsanitize=fuzzer")
      # The shared library comes first: the linker takes only undefined symbols from the archives that follow.
      get_target_property(links ${target} LINK_LIBRARIES)
      set_property(TARGET ${target} PROPERTY LINK_LIBRARIES openpla_libraries ${links})
    endif()
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL openpla_share_libraries)
