/* SPDX-License-Identifier: MIT */
#include "engine/report/make/report_draft.h"

HRESULT report_draft_open(const char *base, const char *path, struct file **out)
{
    return base ? file_open_below(base, path, FILE_REPLACE, out) : file_open(path, FILE_REPLACE, out);
}

void report_draft_drop(const char *base, const char *path)
{
    (void)(base ? file_delete_below(base, path) : file_delete(path));
}
