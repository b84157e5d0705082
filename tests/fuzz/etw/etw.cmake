# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_injection_image ${CMAKE_CURRENT_LIST_DIR}/fuzz_injection_image.c LINK openpla_etw)
openpla_fuzz(fuzz_api_trace ${CMAKE_CURRENT_LIST_DIR}/fuzz_api_trace.c LINK openpla_etw)
openpla_fuzz(fuzz_event_view ${CMAKE_CURRENT_LIST_DIR}/fuzz_event_view.c LINK openpla_etw)
openpla_fuzz(fuzz_trace_stacks ${CMAKE_CURRENT_LIST_DIR}/fuzz_trace_stacks.c LINK openpla_etw)
openpla_fuzz(fuzz_symbols ${CMAKE_CURRENT_LIST_DIR}/fuzz_symbols.c LINK openpla_etw)
# Links the command-line program, which has the code for these formats.
openpla_fuzz(fuzz_trace_export ${CMAKE_CURRENT_LIST_DIR}/fuzz_trace_export.c ALONE LINK openpla_cli)
