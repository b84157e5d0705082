# SPDX-License-Identifier: MIT
set(tests test_pcq_methods test_pcq_tcp test_pcq_client test_pcq_late)
if(NOT WIN32) # the test writes accounts as SIDs, and has a separate registry
  list(APPEND tests test_pcq_access)
endif()
openpla_tests(tests_pdh_remote TESTS ${tests} WITH ${CMAKE_CURRENT_LIST_DIR}/pcq_loopback.c LINK openpla_pdh_remote)
set_tests_properties(test_pcq_tcp PROPERTIES RESOURCE_LOCK remote_accounts)
# With 0, everything runs on one thread, so the test can make each allocation fail. It also does not fail on a busy
# machine.
set_property(TEST test_pcq_client APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=0)
# The limit (in ms) is short for a test that waits for it, but long enough for a computer that responds.
set_property(TEST test_pcq_late APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=300)
if(WIN32)
  openpla_test(test_windows_link ${CMAKE_CURRENT_LIST_DIR}/test_windows_link.c LINK openpla_pdh_remote)
  target_link_options(test_windows_link PRIVATE -Wl,--wrap=os_is_wine,--wrap=__imp_RpcBindingSetAuthInfoW)
  openpla_test(test_perf_consumer ${CMAKE_CURRENT_LIST_DIR}/test_perf_consumer.c LINK openpla_pdh_remote)
  add_dependencies(test_perf_consumer openpdh)
  set_property(TEST test_perf_consumer APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=0)
endif()
