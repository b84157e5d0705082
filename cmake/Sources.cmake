# SPDX-License-Identifier: MIT
# openpla_sources(OUT FOLDER... [EXCEPT FILE...]): returns the C files of these folders, so that a new file needs no
# line in a CMakeLists.txt. FOLDER and FILE are relative to the caller's folder; an exception that names no file is an
# error.
function(openpla_sources out)
  cmake_parse_arguments(a "" "" "EXCEPT" ${ARGN})
  set(files "")
  foreach(folder ${a_UNPARSED_ARGUMENTS})
    get_filename_component(path ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ABSOLUTE)
    file(GLOB found CONFIGURE_DEPENDS ${path}/*.c)
    if(NOT found)
      message(FATAL_ERROR "openpla_sources: '${folder}' has no C files")
    endif()
    list(APPEND files ${found})
  endforeach()
  foreach(except ${a_EXCEPT})
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${except})
    if(NOT path IN_LIST files)
      message(FATAL_ERROR "openpla_sources: '${except}' is not in these folders: ${a_UNPARSED_ARGUMENTS}")
    endif()
    list(REMOVE_ITEM files ${path})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()
