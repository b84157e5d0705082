# SPDX-License-Identifier: MIT
add_executable(bench_alert EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_alert.c)
target_link_libraries(bench_alert PRIVATE openpla_collect openpla_pdh openpla_flags)
add_executable(bench_configuration EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_configuration.c)
target_link_libraries(bench_configuration PRIVATE openpla_collect openpla_flags)
# Only for Wine: in a native build, the registry of a million values would be the file tree that tests use instead.
if(WIN32)
  add_executable(bench_registry EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_registry.c)
  target_link_libraries(bench_registry PRIVATE openpla_collect openpla_flags)
endif()
