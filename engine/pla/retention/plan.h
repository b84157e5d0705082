/* SPDX-License-Identifier: MIT */
/* What a pass does with the folders of a set's runs: it walks and scans them, plans steps, each with its reason, and
   does them. MS-PLA 3.2.4.2, 3.2.4.3, 2.2.2.8, 2.2.2.9; DECISIONS 103. */
#ifndef OPENPLA_PLAN_H
#define OPENPLA_PLAN_H

#include "engine/base/folder.h"
#include "engine/base/text.h"
#include "engine/pla/retention/folder_record.h"

/* FolderActionSteps, MS-PLA 2.2.2.8, done in this order. */
enum {
    ACTION_CREATE_CABINET = 0x01,
    ACTION_DELETE_DATA = 0x02,
    ACTION_SEND_CABINET = 0x04,
    ACTION_DELETE_CABINET = 0x08,
    ACTION_DELETE_REPORT = 0x10,
};
struct retention_action {
    uint32_t size; /* MB (2^20 bytes) that a folder must have; 0: any */
    uint32_t age;  /* days since its run has begun; 0: any */
    uint32_t actions;
    char *send_to;        /* as the host has it */
    uint64_t destination; /* folder_sent_to of it; 0: none, or none that is a share */
};
struct retention_policy {
    struct retention_action *actions;
    size_t action_count;
    uint32_t most_folders, most_size, least_free; /* the last two in MB; 0: no limit */
    bool oldest_first;                            /* else the largest */
};

/* A folder that one of the set's runs has made, in the order of the runs. */
struct retained_folder {
    const char *name; /* below RootPath; borrowed */
    uint32_t serial;  /* of its run */
    int64_t started;  /* FILETIME, UTC */
    bool running;     /* it is being written: nothing is done with it */
    bool latest;      /* of the newest run: nothing of it is lost, but for data that are in its cabinet */
    bool going;       /* its deletion was begun before */
    bool packed;      /* its cabinet is there */
    uint64_t sent;    /* folder_sent_to of where that has been sent; 0: nowhere */
    size_t data_files, report_files;
    size_t others; /* files and folders in it that no run has made: they stay, and the folder with them */
    uint64_t data_bytes, report_bytes, cabinet_bytes, rest_bytes; /* the last: the mark, what is left of a cabinet */
};
uint64_t retained_bytes(const struct retained_folder *f); /* of what runs have made */
/* Whole days; 0 where the clock was set back. */
uint32_t retained_age(const struct retained_folder *f, int64_t now);

enum retention_what {
    RETENTION_CREATE_CABINET,
    RETENTION_DELETE_DATA,
    RETENTION_SEND_CABINET,
    RETENTION_DELETE_CABINET,
    RETENTION_DELETE_REPORT,
    RETENTION_DELETE_FOLDER,
};
enum retention_why {
    RETENTION_BY_ACTION,
    RETENTION_BEGUN,   /* an earlier pass did not come to its end */
    RETENTION_EMPTY,   /* nothing is left in it */
    RETENTION_FOLDERS, /* the limits: MaxFolderCount, MaxSize, MinFreeDisk */
    RETENTION_SIZE,
    RETENTION_FREE,
};
struct retention_step {
    size_t folder; /* index */
    enum retention_what what;
    enum retention_why why;
    size_t action; /* of RETENTION_BY_ACTION: index */
    bool packed;   /* DELETE_DATA: those alone that are in the cabinet */
    uint64_t bytes;
    size_t after; /* the step that must have been done, counted from 1; 0: none */
};
struct retention_plan {
    struct retention_step *steps;
    size_t count, capacity;
    size_t folders; /* that are left then */
    uint64_t bytes; /* in them; a new cabinet counts as what goes into it */
    bool over[3];   /* limits that do not hold all the same, from RETENTION_FOLDERS on */
};
enum { RETENTION_ACTIONS = 1, RETENTION_LIMITS = 2 };
/* `parts` of both; `free` bytes on the disk; `only`: the index of the one folder that something may be done with, or
   RETENTION_ALL. E_OUTOFMEMORY. */
#define RETENTION_ALL SIZE_MAX
HRESULT retention_plan_make(const struct retained_folder *folders, size_t count, const struct retention_policy *policy,
                            unsigned parts, size_t only, int64_t now, uint64_t free, struct retention_plan *out);
void retention_plan_free(struct retention_plan *plan);

/* Words for events and lists. Static. */
const char *retention_what_text(enum retention_what what);
const char *retention_why_text(enum retention_why why);

/* ---- walking the folder of a run ---- */

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

/* ---- scanning the folders below RootPath: those of the set's runs, and others ---- */

/* A folder that could not be looked at: whether it is the set's is not known, and nothing is done with it. */
struct scan_failure {
    const char *name; /* of the record */
    HRESULT hr;
    char *reason;
};
struct scanned {
    struct retained_folder *folders; /* whose names are those of the records */
    const struct folder_record **of; /* the record of each */
    size_t count;
    struct folder_records records;
    const struct folder_record **lost; /* whose folder is there no more */
    size_t lost_count;
    struct scan_failure *failures;
    size_t failure_count;
};
struct scan {
    const char *space, *set, *root; /* RootPath as the host has it */
    struct content_names names;
    const char *running; /* the folder of the run that goes on; NULL: none does */
    bool latest_runs;    /* the newest folder is being written */
};
/* A root that is not there has no folders. A folder that cannot be looked at is left out, and told. */
HRESULT retention_scan(const struct scan *scan, struct scanned *out);
void scanned_free(struct scanned *s);

/* ---- steps, done in the folder that has the mark of its record when it is opened ---- */

/* What a step has met that no run has made. */
struct folder_kept {
    size_t count;
    char first[256]; /* the name of one, or as much of it */
};
struct folder_work {
    const char *root;
    const struct folder_record *record;
    const struct content_names *names;
    struct folder_kept *kept; /* filled by each step */
};
/* E_ACCESSDENIED for each of them: the folder has the mark no more. S_FALSE: there was nothing to do. */

/* Of all but cabinets, the reports first: beside its name, read back, compared with the files, then renamed. Nothing is
   left of one that fails. PLA_E_CABAPI_FAILURE, also where a file that no run has made has its name. */
HRESULT folder_pack(const struct folder_work *w);
/* The data that runs have made, with folders of theirs that become empty. `packed`: only if the folder's cabinet holds
   each of them as it is; else nothing, and PLA_E_CABAPI_FAILURE. A file that cannot be deleted (in use) does not keep
   the others; the first such failure is returned. */
HRESULT folder_delete_data(const struct folder_work *w, bool packed);
HRESULT folder_delete_cabinet(const struct folder_work *w);
HRESULT folder_delete_reports(const struct folder_work *w);
/* All in it that runs have made, the mark last, and the folder itself unless something else is kept: from then on it is
   no set's. `empty`: only if nothing of a run is in it but the mark. */
HRESULT folder_remove(const struct folder_work *w, bool empty);
/* The same by its path, of a run of whichever set, by the mark alone. E_ACCESSDENIED: it has none. */
HRESULT folder_remove_marked(const char *path, struct folder_kept *kept);

/* ---- SendCabTo: sending a cabinet to a share (MS-PLA 3.2.4.3) ---- */

/* Why this is no SendCabTo: it must be \\server\share, with folders behind or not. Static; NULL: nothing is wrong. */
const char *send_destination_fault(const char *destination);
/* Copies the folder's cabinet there, under a temporary name until it is whole; a copy that was cut off is begun again.
   Where another file has its name, as computers and sets share names of folders, it is COMPUTER_FOLDER.cab, and then
   COMPUTER_FOLDER_2.cab and so on; nothing that is there is replaced. The same one that is there already is success.
   S_FALSE: there is no cabinet. Failures of files name the destination. *own: the failure is of this cabinet or its
   name alone, and says nothing of others that go there. */
HRESULT folder_send(const struct folder_work *w, const char *destination, bool *own);

#endif
