# SPDX-License-Identifier: MIT
foreach(what event_values mof tmf trace_logging)
  openpla_fuzz(fuzz_${what} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${what}.c ${CMAKE_CURRENT_LIST_DIR}/decode_event.c
    LINK openpla_tdh)
endforeach()
openpla_fuzz(fuzz_manifest_xml ${CMAKE_CURRENT_LIST_DIR}/fuzz_manifest_xml.c LINK openpla_tdh)
openpla_fuzz(fuzz_wevt_template ${CMAKE_CURRENT_LIST_DIR}/fuzz_wevt_template.c LINK openpla_tdh)
openpla_fuzz(fuzz_payload_filter ${CMAKE_CURRENT_LIST_DIR}/fuzz_payload_filter.c LINK openpla_tdh)
