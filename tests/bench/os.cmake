# SPDX-License-Identifier: MIT
add_executable(bench_debug_trace EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_debug_trace.c)
target_link_libraries(bench_debug_trace PRIVATE openpla_base openpla_flags)
