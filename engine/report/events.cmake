# SPDX-License-Identifier: MIT
# The tables of events.
target_sources(openpla_report PRIVATE event_cell.c event_columns.c event_field.c event_groups.c event_join.c event_rows.c
  event_sink.c event_table.c event_transactions.c plain_number.c)
