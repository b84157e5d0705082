# SPDX-License-Identifier: MIT
# They write to HKEY_LOCAL_MACHINE and the service manager: only in the prefix of the tests, never on a real Windows.
if(CMAKE_CROSSCOMPILING)
  openpla_test(test_registration ${CMAKE_CURRENT_LIST_DIR}/test_registration.c
    ${CMAKE_CURRENT_LIST_DIR}/registry_snapshot.c LINK openpla_reg ole32 oleaut32 uuid)
  set_tests_properties(test_registration PROPERTIES RESOURCE_LOCK registry TIMEOUT 300)

  # What tests with NEEDS_SERVER stand on. test_registration ends with nothing registered, so it goes first.
  foreach(step register unregister)
    add_test(NAME server.${step} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${CMAKE_BINARY_DIR}/bin/openplasrv.exe
      /$<IF:$<STREQUAL:${step},register>,regserver,unregserver>)
    openpla_test_properties(server.${step})
  endforeach()
  set_tests_properties(server.register PROPERTIES FIXTURES_SETUP server RESOURCE_LOCK registry
    DEPENDS test_registration)
  set_tests_properties(server.unregister PROPERTIES FIXTURES_CLEANUP server RESOURCE_LOCK registry)
endif()
