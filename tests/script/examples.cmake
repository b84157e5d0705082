# SPDX-License-Identifier: MIT
add_test(NAME script.examples
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/examples.py ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.examples ";server")
add_test(NAME script.configuration COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/configuration.py)
openpla_test_properties(script.configuration ";server")
add_test(NAME script.template COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/template.py)
openpla_test_properties(script.template ";server")
# Uses the NT Kernel Logger session, as test_categories does. A prefix has only one.
set_tests_properties(script.template PROPERTIES RESOURCE_LOCK kernels_session)
add_test(NAME script.sql_log
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/sql_log.py ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.sql_log ";server")
openpla_needs_postgres(script.sql_log)
set_property(TEST script.sql_log APPEND PROPERTY ENVIRONMENT "OPENPLA_TEST_DSN_DATABASE=${OPENPLA_TEST_DSN_DATABASE}")
add_test(NAME script.c_examples
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/c_examples.py ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.c_examples ";server")
add_test(NAME script.providers
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/providers.py ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.providers ";server")
# Both tests register the same network event provider.
set_tests_properties(script.c_examples script.providers PROPERTIES RESOURCE_LOCK network_provider)
add_test(NAME script.trace_set COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/trace_set.py)
openpla_test_properties(script.trace_set ";server")
openpla_test_apart(script.trace_set) # other tests use the same event provider
add_test(NAME script.task COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/task.py)
openpla_test_properties(script.task ";server")
add_test(NAME script.alert COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/alert.py)
openpla_test_properties(script.alert ";server")
add_test(NAME script.account COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/account.py)
openpla_test_properties(script.account ";server")
add_test(NAME script.baseline COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/baseline.py
  $<TARGET_FILE:openpla_program> ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.baseline ";server")
add_test(NAME script.report COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/report.py)
openpla_test_properties(script.report ";server")
add_test(NAME script.languages
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/languages.py ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(script.languages ";server")
add_test(NAME script.extract COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/extract.py)
openpla_test_properties(script.extract ";server")
add_test(NAME script.folders COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/folders.py)
openpla_test_properties(script.folders ";server")
add_test(NAME script.api_trace COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/api_trace.py)
openpla_test_properties(script.api_trace ";server")
set_tests_properties(script.api_trace PROPERTIES RESOURCE_LOCK api_target)
