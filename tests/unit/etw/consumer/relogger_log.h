/* SPDX-License-Identifier: MIT */
#ifndef OPENPLA_RELOGGER_LOG_H
#define OPENPLA_RELOGGER_LOG_H

/* Writes a log with 20 events; returns 0 on success. */
int make_relogger_log(const char *path);

#endif
