# SPDX-License-Identifier: MIT
add_executable(bench_etw EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_etw.c)
target_link_libraries(bench_etw PRIVATE openpla_etw openpla_flags)
