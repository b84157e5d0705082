# SPDX-License-Identifier: MIT
add_executable(bench_folders EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_folders.c)
target_link_libraries(bench_folders PRIVATE openpla_retention openpla_flags)
