# SPDX-License-Identifier: MIT
foreach(thing classic mof mof_files schema schemas tmf trace_logging values)
  openpla_test(test_tdh_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_tdh_${thing}.c LINK openpla_tdh)
endforeach()
foreach(thing manifest registered wevt_template)
  openpla_test(test_tdh_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_tdh_${thing}.c LINK openpla_tdh)
endforeach()
openpla_test(test_tdh_dump ${CMAKE_CURRENT_LIST_DIR}/test_tdh_dump.c LINK openpla_tdh)
openpla_test(test_tdh_payload_filter ${CMAKE_CURRENT_LIST_DIR}/test_tdh_payload_filter.c LINK openpla_tdh)
# As programs use it.
foreach(thing event_api provider_api)
  openpla_test(test_tdh_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_tdh_${thing}.c LINK openpla_etw openpla_tdh)
endforeach()
