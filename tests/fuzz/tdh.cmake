# SPDX-License-Identifier: MIT
foreach(what event_values trace_logging)
  openpla_fuzz(fuzz_${what} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${what}.c ${CMAKE_CURRENT_LIST_DIR}/decode_event.c
    LINK openpla_tdh)
endforeach()
