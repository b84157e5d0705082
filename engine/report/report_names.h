/* SPDX-License-Identifier: MIT */
/* What the reports of a run are called where its data manager names none. */
#ifndef OPENPLA_REPORT_NAMES_H
#define OPENPLA_REPORT_NAMES_H

#define REPORT_FILE_NAME "report.xml"  /* RuleTargetFileName */
#define PAGE_FILE_NAME   "report.html" /* ReportFileName */

#endif
