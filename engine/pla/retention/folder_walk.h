/* SPDX-License-Identifier: MIT */
/* What is in the folder of a run. */
#ifndef OPENPLA_FOLDER_WALK_H
#define OPENPLA_FOLDER_WALK_H

#include "engine/base/held_folder.h"

enum { FOLDER_DEPTH_MOST = 32 }; /* of folders in it */

enum content_kind {
    CONTENT_DATA,
    CONTENT_REPORT,  /* RuleTargetFileName, ReportFileName */
    CONTENT_CABINET, /* the folder's own: its name and .cab */
    CONTENT_MARK,
    CONTENT_SCRAP,  /* a cabinet that was not finished */
    CONTENT_OTHER,  /* no run has made it: a file, or a folder with all that is in it, which is not looked into, a link
                     */
    CONTENT_FOLDER, /* with a run's files in it; behind what is in it */
};
struct content {
    const char *name; /* below the folder, with '/' */
    enum content_kind kind;
    uint64_t size;
    int64_t written; /* FILETIME, UTC */
};
/* The names by which kinds are told apart; "" for a report that has none. */
struct content_names {
    const char *report, *html;
};
/* Calls `each` until one call fails, which is returned. What runs have made is what the folder's mark names; a folder
   in it that has a mark of its own is somebody else's. One that is too deep is HRESULT of ERROR_BAD_PATHNAME.
   `each` may delete nothing. */
HRESULT folder_walk(struct held_folder *f, const struct content_names *names,
                    HRESULT (*each)(void *user, const struct content *content), void *user);
/* Of a folder that is called so; from memory_alloc. */
char *folder_cabinet_name(const struct held_folder *f);
char *folder_cabinet_path(const char *folder);
char *folder_scrap_name(const struct held_folder *f);

#endif
