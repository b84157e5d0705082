# SPDX-License-Identifier: MIT
# The tables of events.
target_sources(openpla_report PRIVATE event_cell.c event_field.c event_groups.c event_rows.c)
target_link_libraries(openpla_report PUBLIC openpla_tdh)
