# SPDX-License-Identifier: MIT
# Tests the objects as clients see them. One program runs three times: with the objects in its own process, with the COM
# wrapper, and with the objects in the server.
add_executable(test_objects ${CMAKE_CURRENT_LIST_DIR}/test_objects.c ${CMAKE_SOURCE_DIR}/tests/com/client.c
  ${CMAKE_CURRENT_LIST_DIR}/objects_rows.c ${CMAKE_CURRENT_LIST_DIR}/objects_properties.c
  ${CMAKE_CURRENT_LIST_DIR}/objects_values.c ${CMAKE_CURRENT_LIST_DIR}/objects_collections.c
  ${CMAKE_CURRENT_LIST_DIR}/objects_value_maps.c ${CMAKE_CURRENT_LIST_DIR}/objects_xml.c
  ${CMAKE_CURRENT_LIST_DIR}/objects_sets.c ${CMAKE_CURRENT_LIST_DIR}/objects_six_collections.c
  ${CMAKE_CURRENT_LIST_DIR}/objects_providers.c ${CMAKE_CURRENT_LIST_DIR}/objects_collector_kinds.c
  ${CMAKE_CURRENT_LIST_DIR}/objects_client_objects.c
  ${CMAKE_CURRENT_LIST_DIR}/objects.rc)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/objects.rc PROPERTIES
  OBJECT_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/objects.manifest COMPILE_OPTIONS "-I;${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_objects PRIVATE openetw openpla_idl cmocka::cmocka ole32 oleaut32 uuid openpla_flags)
add_dependencies(test_objects openpla openplasrv openplahost openpdh openetwhost)
add_test(NAME test_objects.in_process COMMAND test_objects in-process)
openpla_test_properties(test_objects.in_process)
add_test(NAME test_objects.facade COMMAND test_objects facade)
openpla_test_properties(test_objects.facade ";server")
add_test(NAME test_objects.local_server COMMAND test_objects local-server)
openpla_test_properties(test_objects.local_server ";server")
# The three tests commit, start and delete sets with the same names.
set_tests_properties(test_objects.in_process test_objects.facade test_objects.local_server PROPERTIES
  RESOURCE_LOCK sets_of_test_objects)

add_executable(test_threads ${CMAKE_SOURCE_DIR}/tests/com/test_threads.c ${CMAKE_SOURCE_DIR}/tests/com/client.c
  ${CMAKE_CURRENT_LIST_DIR}/objects.rc)
target_link_libraries(test_threads PRIVATE openpla_idl cmocka::cmocka ole32 oleaut32 uuid openpla_flags)
add_dependencies(test_threads openpla openplasrv)
add_test(NAME test_threads.in_process COMMAND test_threads in-process)
openpla_test_properties(test_threads.in_process)
add_test(NAME test_threads.facade COMMAND test_threads facade)
openpla_test_properties(test_threads.facade ";server")
set_tests_properties(test_threads.in_process test_threads.facade PROPERTIES RESOURCE_LOCK sets_of_test_threads)

# The code of the COM wrapper is linked into the test, so that its allocations can be counted.
openpla_test(test_convert ${CMAKE_SOURCE_DIR}/tests/com/test_convert.c LINK openpla_com)
openpla_test(test_program_folder ${CMAKE_SOURCE_DIR}/tests/com/test_program_folder.c LINK openpla_reg)
openpla_test(test_counter_security ${CMAKE_SOURCE_DIR}/tests/com/test_counter_security.c LINK openpla_com)
target_link_options(test_counter_security PRIVATE -Wl,--wrap=os_is_wine,--wrap=pcq_settings_read
  -Wl,--wrap=counter_calls_begin,--wrap=__imp_RpcServerRegisterAuthInfoA,--wrap=__imp_RpcServerRegisterIf2
  -Wl,--wrap=__imp_RpcServerUseProtseqEpA,--wrap=__imp_RpcServerListen)
openpla_test(test_caller ${CMAKE_SOURCE_DIR}/tests/com/test_caller.c LINK openpla_com)
target_link_options(test_caller PRIVATE -Wl,--wrap=os_is_wine,--wrap=__imp_I_RpcBindingInqLocalClientPID
  -Wl,--wrap=__imp_CoImpersonateClient,--wrap=__imp_CoRevertToSelf)
