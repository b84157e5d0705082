# SPDX-License-Identifier: MIT
# library_frame.py runs this program.
if(TARGET openpla_logs_shared)
  add_executable(bench_library EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_library.c)
  target_link_libraries(bench_library PRIVATE openpla_logs_shared openpla_flags)
endif()
