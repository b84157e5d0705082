/* SPDX-License-Identifier: MIT */
#ifndef OPENPLA_RELOGGER_LOG_H
#define OPENPLA_RELOGGER_LOG_H

/* Writes a log of 20 events; 0: it is there. */
int make_relogger_log(const char *path);

#endif
