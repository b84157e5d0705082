# SPDX-License-Identifier: MIT
# In native builds, these tests replace our PDH functions with fake ones. A Windows program loads PDH with LoadLibrary,
# so it cannot be replaced there.
if(NOT WIN32)
  openpla_tests(tests_collect_counters TESTS test_counter_query test_counter_collector test_alert_collector
    WITH ${CMAKE_CURRENT_LIST_DIR}/fake_pdh.c LINK openpla_collect)
endif()
openpla_tests(tests_collect TESTS test_alert_evaluate test_trace_session LINK openpla_collect)
# The wrapped functions behave differently only when a test requests it: registry values change while they are read,
# adapters disappear, and files grow.
openpla_tests(tests_configuration TESTS test_configuration_read test_configuration_registry test_configuration_network
  test_configuration_collector LINK openpla_collect openpla_schemas LibXml2::LibXml2)
target_link_options(tests_configuration PRIVATE -Wl,--wrap=registry_value_at,--wrap=network_adapters,--wrap=file_write)
# These tests use real sessions.
foreach(tests tests_collect tests_configuration)
  add_dependencies(${tests} openetwhost)
endforeach()
# The test inspects each page that is written.
openpla_test(test_configuration_document ${CMAKE_CURRENT_LIST_DIR}/test_configuration_document.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
target_link_options(test_configuration_document PRIVATE -Wl,--wrap=file_write_at)
# In native builds the test replaces WMI with a function that can hang. A Windows program queries the system's WMI.
openpla_test(test_configuration_queries ${CMAKE_CURRENT_LIST_DIR}/test_configuration_queries.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
if(NOT WIN32)
  target_link_options(test_configuration_queries PRIVATE -Wl,--wrap=management_query)
endif()
