# SPDX-License-Identifier: MIT
add_executable(bench_etw EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_etw.c)
target_link_libraries(bench_etw PRIVATE openpla_etw openpla_flags)
# The peer, where its headers are.
find_library(LTTNG_UST lttng-ust)
find_path(LTTNG_UST_INCLUDE lttng/tracepoint.h)
if(NOT WIN32 AND LTTNG_UST AND LTTNG_UST_INCLUDE)
  add_executable(bench_lttng EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_lttng.c)
  target_include_directories(bench_lttng PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(bench_lttng PRIVATE -O2)
  target_link_libraries(bench_lttng PRIVATE ${LTTNG_UST} pthread ${CMAKE_DL_LIBS})
endif()
add_executable(bench_consumer EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_consumer.c)
target_link_libraries(bench_consumer PRIVATE openpla_etw openpla_flags)
