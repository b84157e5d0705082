/* SPDX-License-Identifier: MIT */
/* How bad a warning is, or the state that a cell shows, by the word of its `img`. */
#ifndef OPENPLA_REPORT_SEVERITY_H
#define OPENPLA_REPORT_SEVERITY_H

/* The worst comes last. */
enum report_severity { REPORT_OTHER, REPORT_GOOD, REPORT_INFORMATION, REPORT_WARNING, REPORT_ERROR };

/* In any case, as the names of Windows' pictures, as words and as levels of events; NULL and words that are none of
   those are REPORT_OTHER. */
enum report_severity report_severity_of(const char *img);

#endif
