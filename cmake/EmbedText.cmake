# SPDX-License-Identifier: MIT
# openpla_text_literal(OUT FILE): the text of the file as a C string literal, a line of source for each of its lines. A
# change of the file configures the build anew.
function(openpla_text_literal out file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\r" "" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()
