# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_journal ${CMAKE_CURRENT_LIST_DIR}/fuzz_journal.c LINK openpla_logs)
openpla_fuzz(fuzz_blg_append ${CMAKE_CURRENT_LIST_DIR}/fuzz_blg_append.c LINK openpla_logs)
openpla_fuzz(fuzz_counter_path ${CMAKE_CURRENT_LIST_DIR}/fuzz_counter_path.c LINK openpla_logs)
openpla_fuzz(fuzz_text_reader ${CMAKE_CURRENT_LIST_DIR}/fuzz_text_reader.c LINK openpla_logs)
foreach(target etl_reader blg_reader)
  openpla_fuzz(fuzz_${target} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${target}.c ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c
    LINK openpla_logs)
endforeach()
openpla_fuzz(fuzz_sql_time ${CMAKE_CURRENT_LIST_DIR}/fuzz_sql_time.c LINK openpla_logs)
openpla_fuzz(fuzz_counter_names ${CMAKE_CURRENT_LIST_DIR}/fuzz_counter_names.c LINK openpla_logs)
