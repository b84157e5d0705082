# SPDX-License-Identifier: MIT
# Tests the COM wrapper: the objects that clients get in their own process, which call the server's objects.
foreach(name test_facade test_facade_list test_secret_memory)
  add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${CMAKE_CURRENT_LIST_DIR}/client.c
    ${CMAKE_CURRENT_LIST_DIR}/objects/objects.rc)
  target_link_libraries(${name} PRIVATE openpla_idl cmocka::cmocka ole32 oleaut32 uuid openpla_flags)
  add_dependencies(${name} openpla openplasrv openplahost openpdh)
  add_test(NAME ${name} COMMAND ${name})
  openpla_test_properties(${name} ";server")
endforeach()
# System sets of all tests write below one folder (tests/unit/run/run.cmake).
set_tests_properties(test_facade PROPERTIES RESOURCE_LOCK system_sets)

# idl.rc adds the type library to the program (idl.cmake).
openpla_test(test_facade_fault ${CMAKE_CURRENT_LIST_DIR}/test_facade_fault.c ${CMAKE_CURRENT_LIST_DIR}/idl.rc
  NEEDS_SERVER LINK openpla_com)
add_dependencies(test_facade_fault openpla openplasrv)
