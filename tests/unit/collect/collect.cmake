# SPDX-License-Identifier: MIT
# Natively the tests put their own PDH in the place of ours; a Windows program finds its PDH by LoadLibrary.
if(NOT WIN32)
  openpla_tests(tests_collect_counters TESTS test_counter_query test_counter_collector test_alert_collector
    WITH ${CMAKE_CURRENT_LIST_DIR}/fake_pdh.c LINK openpla_collect)
endif()
openpla_tests(tests_collect TESTS test_alert_evaluate test_trace_session LINK openpla_collect)
# These functions do something else only where a test asks for it: registry values that change under the reader, adapters
# that go, files that grow.
openpla_tests(tests_configuration TESTS test_configuration_read test_configuration_registry test_configuration_network
  test_configuration_collector LINK openpla_collect openpla_schemas LibXml2::LibXml2)
target_link_options(tests_configuration PRIVATE -Wl,--wrap=registry_value_at,--wrap=network_adapters,--wrap=file_write)
# With real sessions.
foreach(tests tests_collect tests_configuration)
  add_dependencies(${tests} openetwhost)
endforeach()
# Each page that is written is looked at.
openpla_test(test_configuration_document ${CMAKE_CURRENT_LIST_DIR}/test_configuration_document.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
target_link_options(test_configuration_document PRIVATE -Wl,--wrap=file_write_at)
# Natively with a WMI of the test's own, which can hang; a Windows program asks the host's.
openpla_test(test_configuration_queries ${CMAKE_CURRENT_LIST_DIR}/test_configuration_queries.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
if(NOT WIN32)
  target_link_options(test_configuration_queries PRIVATE -Wl,--wrap=management_query)
endif()
