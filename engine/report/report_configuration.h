/* SPDX-License-Identifier: MIT */
/* What configuration collectors have written, as sections of a report. */
#ifndef OPENPLA_REPORT_CONFIGURATION_H
#define OPENPLA_REPORT_CONFIGURATION_H

#include "engine/report/make/report_document.h"

/* S_OK: the file is a configuration document; `computer` gets the one that it names, from memory_alloc, or stays as it
   is. S_FALSE: it is another report, or none. E_OUTOFMEMORY. Nothing but its begin is read. */
HRESULT report_configuration_is(const char *path, char **computer);
/* Copies its sections with their tables. What is damaged is one of `remarks`; so is what a report has no room for. */
HRESULT report_configuration_write(const char *path, struct report_document *to, struct texts *remarks);

#endif
