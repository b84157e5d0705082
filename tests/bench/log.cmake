# SPDX-License-Identifier: MIT
add_executable(bench_log EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_log.c)
target_link_libraries(bench_log PRIVATE openpla_log openpla_flags)
