# SPDX-License-Identifier: MIT
set(tests test_os_memory test_os_text test_os_file test_os_process test_os_registry test_os_access test_os_security
  test_os_error test_os_resource test_os_credentials test_os_quotas test_os_assert test_os_network)
if(WIN32)
  list(APPEND tests test_os_management)
endif()
openpla_tests(tests_base TESTS ${tests} LINK openpla_base $<$<PLATFORM_ID:Windows>:shell32>)
openpla_test(test_os_rename ${CMAKE_CURRENT_LIST_DIR}/test_os_rename.c LINK openpla_base)
openpla_test(test_os_host ${CMAKE_CURRENT_LIST_DIR}/test_os_host.c LINK openpla_pdh_client openpla_base) # host_pdh
if(NOT WIN32)
  target_link_options(test_os_rename PRIVATE -Wl,--wrap=renameat2,--wrap=linkat)
endif()
if(WIN32)
  # Tests of code that runs only on Windows. They replace the Windows functions that Wine lacks.
  openpla_test(test_windows_secrets ${CMAKE_CURRENT_LIST_DIR}/test_windows_secrets.c LINK openpla_base)
  target_link_options(test_windows_secrets PRIVATE -Wl,--wrap=os_is_wine,--wrap=LsaOpenPolicy,--wrap=LsaClose
    -Wl,--wrap=LsaStorePrivateData,--wrap=LsaRetrievePrivateData,--wrap=LsaFreeMemory,--wrap=__imp_LogonUserW)
  openpla_test(test_event_log ${CMAKE_CURRENT_LIST_DIR}/test_event_log.c LINK openpla_base)
  target_link_options(test_event_log PRIVATE
    -Wl,--wrap=__imp_EventRegister,--wrap=__imp_EventUnregister,--wrap=__imp_EventWrite)
  openpla_test(test_windows_tasks ${CMAKE_CURRENT_LIST_DIR}/test_windows_tasks.c LINK openpla_base)
  target_link_options(test_windows_tasks PRIVATE -Wl,--wrap=os_is_wine)
  openpla_test(test_windows_tables ${CMAKE_CURRENT_LIST_DIR}/test_windows_tables.c LINK openpla_pdh_client)
  target_link_options(test_windows_tables PRIVATE -Wl,--wrap=os_is_wine)
  openpla_test(test_windows_rights ${CMAKE_CURRENT_LIST_DIR}/test_windows_rights.c LINK openpla_base)
  target_link_options(test_windows_rights PRIVATE -Wl,--wrap=os_is_wine,--wrap=__imp_GetNamedSecurityInfoW
    -Wl,--wrap=__imp_SetNamedSecurityInfoW,--wrap=__imp_SetKernelObjectSecurity)
endif()
# The test knows the rules of this time zone. Windows ignores TZ.
set_property(TEST test_os_host APPEND PROPERTY ENVIRONMENT "TZ=PST8PDT,M3.2.0,M11.1.0")
# A separate program, because the environment is read only at the first traced step.
openpla_test(test_os_trace ${CMAKE_CURRENT_LIST_DIR}/test_os_trace.c LINK openpla_base)
