# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_name_pattern ${CMAKE_CURRENT_LIST_DIR}/fuzz_name_pattern.c LINK openpla_model)
openpla_fuzz(fuzz_set_xml ${CMAKE_CURRENT_LIST_DIR}/fuzz_set_xml.c LINK openpla_model)
openpla_fuzz(fuzz_collector_xml ${CMAKE_CURRENT_LIST_DIR}/fuzz_collector_xml.c LINK openpla_model)
openpla_fuzz(fuzz_threshold ${CMAKE_CURRENT_LIST_DIR}/fuzz_threshold.c LINK openpla_model)
