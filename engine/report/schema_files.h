/* SPDX-License-Identifier: MIT */
/* Where the text of a report schema comes from: a file, or one that the program brings. What templates import is named
   as Windows' own files are, %systemroot%\pla\reports\Report.System.CPU.xml and its kin: a file that a user has put
   there goes before ours. MS-PLA 2.2.3.3 (Import). */
#ifndef OPENPLA_SCHEMA_FILES_H
#define OPENPLA_SCHEMA_FILES_H

#include "engine/base/text.h"

/* engine/report/make/schemas, made into a table by the build; NULL at the end. */
struct shipped_schema {
    const char *name, *xml;
};
extern const struct shipped_schema shipped_schemas[];
/* Of any set: one table for each counter object that it may have collected. Also what a set without a schema gets. */
#define SCHEMA_GENERAL "Report.General.xml"

struct schema_file {
    char *path; /* the file, or the name of a shipped one: for messages, and as the importer of what it imports */
    char *text;
    size_t size;
    bool shipped;
};
/* What files of one sort are called, and which of them the program brings. */
struct shipped_files {
    const char *sort;   /* for messages: "schema" */
    const char *folder; /* Windows' own, below %systemroot%: "pla/reports" */
    const struct shipped_schema *rows;
};
/* `name` as an Import or a user says it: variables are expanded, '\' and '/' both separate. What a user names
   (`importer` NULL) is any file; an import is one in or below the folder of `importer`, a path, or of Windows' folder:
   names and links that lead elsewhere are HRESULT of ERROR_BAD_PATHNAME. `importer` "" is a text that is no file. If
   there is no such file, a shipped one of that name in any case, where nothing or that folder stands before it. HRESULT
   of ERROR_FILE_NOT_FOUND, with both in the text; of ERROR_FILE_TOO_LARGE above 16 MB; file_load's errors. *out is
   empty on failure. */
HRESULT shipped_file_load(const struct shipped_files *of, const char *name, const char *importer,
                          struct schema_file *out);
/* The same of report schemas. */
HRESULT schema_file_load(const char *name, const char *importer, struct schema_file *out);
/* The same where the first schema is a set's own text: beside it, and beside what the program brings, lies no file. */
HRESULT schema_file_load_of_set(const char *name, const char *importer, struct schema_file *out);
void schema_file_free(struct schema_file *f);

#endif
