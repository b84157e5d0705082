# SPDX-License-Identifier: MIT
# openpla_message_table(TARGET PREFIX...): adds a message table to the DLL, so that a program can pass a result code to
# FormatMessage. The table has the messages of all results in engine/base/result_texts.def whose names begin with one of
# the prefixes. Its layout is MESSAGE_RESOURCE_DATA: one block per message, then the messages, each padded to 4 bytes.
function(openpla_message_table target)
  if(NOT WIN32)
    return()
  endif()
  set(list ${CMAKE_SOURCE_DIR}/engine/base/result_texts.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  set(rows)
  foreach(prefix ${ARGN})
    file(STRINGS ${list} found REGEX "^RESULT_TEXT\\(${prefix}_")
    list(APPEND rows ${found})
  endforeach()
  list(LENGTH rows count)
  math(EXPR offset "4 + 12 * ${count}")
  set(blocks)
  set(messages)
  foreach(row ${rows})
    if(NOT row MATCHES "^RESULT_TEXT\\([A-Z_]+, (0x[0-9A-F]+), \"([^\"%\\\\]+)\"\\)$")
      message(FATAL_ERROR "${list}: invalid row: ${row}")
    endif()
    set(number ${CMAKE_MATCH_1})
    set(text ${CMAKE_MATCH_2})
    # Each entry has its length, flags (1: UTF-16), the text, a line end and a NUL.
    string(LENGTH "${text}" length)
    set(end "\\r\\n\\0")
    math(EXPR size "4 + 2 * (${length} + 3)")
    math(EXPR odd "${size} % 4")
    if(odd)
      string(APPEND end "\\0")
      math(EXPR size "${size} + 2")
    endif()
    string(APPEND blocks "  ${number}L, ${number}L, ${offset}L,\n")
    string(APPEND messages "  ${size}, 1, L\"${text}${end}\",\n")
    math(EXPR offset "${offset} + ${size}")
  endforeach()
  string(REGEX REPLACE ",\n$" "\n" messages "${messages}")
  set(resource ${CMAKE_BINARY_DIR}/messages/${target}.rc)
  file(CONFIGURE OUTPUT ${resource} CONTENT [[
LANGUAGE 9, 1
/* 11 is RT_MESSAGETABLE. */
1 11
BEGIN
  @count@L,
@blocks@@messages@END
]] @ONLY)
  target_sources(${target} PRIVATE ${resource})
endfunction()
