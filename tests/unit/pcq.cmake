# SPDX-License-Identifier: MIT
openpla_test(test_pcq_methods ${CMAKE_CURRENT_LIST_DIR}/test_pcq_methods.c LINK openpla_pdh_remote)
openpla_test(test_pcq_tcp ${CMAKE_CURRENT_LIST_DIR}/test_pcq_tcp.c LINK openpla_pdh_remote)
if(NOT WIN32) # it gives accounts as SIDs, and has a registry of its own
  openpla_test(test_pcq_gate ${CMAKE_CURRENT_LIST_DIR}/test_pcq_gate.c LINK openpla_pdh_remote)
endif()
openpla_test(test_pcq_client ${CMAKE_CURRENT_LIST_DIR}/test_pcq_client.c ${CMAKE_CURRENT_LIST_DIR}/pcq_loopback.c
  LINK openpla_pdh_remote)
# On one thread, so that each allocation can be made to fail, and a busy machine fails nothing.
set_property(TEST test_pcq_client APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=0)
# A limit of its own, short for who waits and long enough for a host that answers.
openpla_test(test_pcq_late ${CMAKE_CURRENT_LIST_DIR}/test_pcq_late.c ${CMAKE_CURRENT_LIST_DIR}/pcq_loopback.c
  LINK openpla_pdh_remote)
set_property(TEST test_pcq_late APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=300)
if(WIN32)
  openpla_test(test_windows_link ${CMAKE_CURRENT_LIST_DIR}/test_windows_link.c LINK openpla_pdh_remote)
  target_link_options(test_windows_link PRIVATE -Wl,--wrap=host_is_wine,--wrap=__imp_RpcBindingSetAuthInfoW)
  openpla_test(test_perf_consumer ${CMAKE_CURRENT_LIST_DIR}/test_perf_consumer.c LINK openpla_pdh_remote)
  add_dependencies(test_perf_consumer openpdh)
  set_property(TEST test_perf_consumer APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=0)
endif()
