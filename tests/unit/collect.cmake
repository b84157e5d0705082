# SPDX-License-Identifier: MIT
# Natively the tests put their own PDH in the place of ours; a Windows program finds its PDH by LoadLibrary.
if(NOT WIN32)
  foreach(thing query collector)
    openpla_test(test_counter_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_counter_${thing}.c
      ${CMAKE_CURRENT_LIST_DIR}/fake_pdh.c LINK openpla_collect)
  endforeach()
  openpla_test(test_alert_collector ${CMAKE_CURRENT_LIST_DIR}/test_alert_collector.c
    ${CMAKE_CURRENT_LIST_DIR}/fake_pdh.c LINK openpla_collect)
endif()
openpla_test(test_alert_judge ${CMAKE_CURRENT_LIST_DIR}/test_alert_judge.c LINK openpla_collect)
# With real sessions.
openpla_test(test_trace_session ${CMAKE_CURRENT_LIST_DIR}/test_trace_session.c LINK openpla_collect)
add_dependencies(test_trace_session openetwhost)
# Each page that is written is looked at.
openpla_test(test_configuration_document ${CMAKE_CURRENT_LIST_DIR}/test_configuration_document.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
target_link_options(test_configuration_document PRIVATE -Wl,--wrap=file_write_at)
# With the registry of the host, which somebody changes under the reader.
openpla_test(test_configuration_registry ${CMAKE_CURRENT_LIST_DIR}/test_configuration_registry.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
target_link_options(test_configuration_registry PRIVATE -Wl,--wrap=registry_value_at)
# Natively with a WMI of the test's own, which can hang; a Windows program asks the host's.
openpla_test(test_configuration_queries ${CMAKE_CURRENT_LIST_DIR}/test_configuration_queries.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
openpla_test(test_configuration_network ${CMAKE_CURRENT_LIST_DIR}/test_configuration_network.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
target_link_options(test_configuration_network PRIVATE -Wl,--wrap=network_adapters)
openpla_test(test_configuration_collector ${CMAKE_CURRENT_LIST_DIR}/test_configuration_collector.c LINK openpla_collect
  openpla_schemas LibXml2::LibXml2)
target_link_options(test_configuration_collector PRIVATE -Wl,--wrap=file_write)
add_dependencies(test_configuration_collector openetwhost)
