# SPDX-License-Identifier: MIT
add_executable(bench_log EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_log.c)
target_link_libraries(bench_log PRIVATE openpla_logs openpla_flags)
add_executable(bench_log_read EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_log_read.c ${CMAKE_CURRENT_LIST_DIR}/generated_files.c)
target_link_libraries(bench_log_read PRIVATE openpla_etw openpla_logs openpla_flags)
add_executable(bench_sql EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_sql.c)
target_link_libraries(bench_sql PRIVATE openpla_logs openpla_flags)
