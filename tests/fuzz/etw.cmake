# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_reach_image ${CMAKE_CURRENT_LIST_DIR}/fuzz_reach_image.c LINK openpla_etw)
openpla_fuzz(fuzz_event_view ${CMAKE_CURRENT_LIST_DIR}/fuzz_event_view.c LINK openpla_etw)
