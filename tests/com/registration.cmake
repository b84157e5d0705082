# SPDX-License-Identifier: MIT
# These tests write to HKEY_LOCAL_MACHINE and the service manager. So they run only in the tests' prefix, never on
# Windows itself.
if(CMAKE_CROSSCOMPILING)
  openpla_test(test_registration ${CMAKE_CURRENT_LIST_DIR}/test_registration.c
    ${CMAKE_CURRENT_LIST_DIR}/registry_snapshot.c LINK openpla_reg ole32 oleaut32 uuid)
  openpla_test_apart(test_registration)

  # The fixtures of the tests with NEEDS_SERVER: one in each of the two prefixes.
  foreach(server server server_apart)
    foreach(step register unregister)
      add_test(NAME ${server}.${step} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${CMAKE_BINARY_DIR}/bin/openplasrv.exe
        /$<IF:$<STREQUAL:${step},register>,regserver,unregserver>)
      openpla_test_properties(${server}.${step})
      set_tests_properties(${server}.${step} PROPERTIES RESOURCE_LOCK registry)
    endforeach()
    set_tests_properties(${server}.register PROPERTIES FIXTURES_SETUP ${server})
    set_tests_properties(${server}.unregister PROPERTIES FIXTURES_CLEANUP ${server})
  endforeach()
  openpla_test_apart(server_apart.register server_apart.unregister)
  # test_registration leaves the server unregistered, so it must run before the server is registered for other tests.
  set_tests_properties(server_apart.register PROPERTIES DEPENDS test_registration)
endif()
