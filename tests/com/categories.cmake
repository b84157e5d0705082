# SPDX-License-Identifier: MIT
# Tests the classes of the namespaces. One program runs twice: with the objects in its own process and in the server.
add_executable(test_categories ${CMAKE_CURRENT_LIST_DIR}/test_categories.c ${CMAKE_CURRENT_LIST_DIR}/client.c
  ${CMAKE_CURRENT_LIST_DIR}/objects/objects.rc)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/objects/objects.rc PROPERTIES
  OBJECT_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/objects/objects.manifest COMPILE_OPTIONS "-I;${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(test_categories PRIVATE openpla_idl cmocka::cmocka ole32 oleaut32 uuid openpla_flags)
add_dependencies(test_categories openpla openplasrv openplahost openpdh openetw openetwhost)
add_test(NAME test_categories.in_process COMMAND test_categories in-process)
openpla_test_properties(test_categories.in_process)
add_test(NAME test_categories.local_server COMMAND test_categories local-server)
openpla_test_properties(test_categories.local_server ";server")
# System sets of all tests write below one folder (tests/unit/run/run.cmake). One of these sets also needs the kernel's
# event session, and a prefix has only one.
set_tests_properties(test_categories.in_process test_categories.local_server PROPERTIES
  RESOURCE_LOCK "system_sets;kernels_session")
