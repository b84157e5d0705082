/* SPDX-License-Identifier: MIT */
/* Private header of retention, which processes a set's run folders: walking and scanning them, planning steps with
   reasons, and performing the steps. MS-PLA 3.2.4.2, 3.2.4.3, 2.2.2.8, 2.2.2.9; DECISIONS 103. */
#ifndef OPENPLA_PLAN_H
#define OPENPLA_PLAN_H

#include "engine/base/folder.h"
#include "engine/base/text.h"
#include "engine/pla/retention/folder_record.h"

/* FolderActionSteps, MS-PLA 2.2.2.8, performed in this order. */
enum {
    ACTION_CREATE_CABINET = 0x01,
    ACTION_DELETE_DATA = 0x02,
    ACTION_SEND_CABINET = 0x04,
    ACTION_DELETE_CABINET = 0x08,
    ACTION_DELETE_REPORT = 0x10,
};
struct retention_action {
    uint32_t size; /* MB (2^20 bytes) from which it applies; 0: any */
    uint32_t age;  /* days since the start of its run; 0: any */
    uint32_t actions;
    char *send_to;        /* expanded */
    uint64_t destination; /* folder_sent_to of it; 0: none, or not a valid share */
};
struct retention_policy {
    struct retention_action *actions;
    size_t action_count;
    uint32_t most_folders, most_size, least_free; /* the last two in MB; 0: no limit */
    bool oldest_first;                            /* otherwise the largest first */
};

/* A folder that a run of the set created, in the order of the runs. */
struct retained_folder {
    const char *name; /* below RootPath; borrowed */
    uint32_t serial;  /* of its run */
    int64_t started;  /* FILETIME, UTC */
    bool running;     /* it is being written: nothing is done with it */
    bool latest;      /* of the newest run: nothing of it is lost, except data that are in its cabinet */
    bool going;       /* its deletion was started before */
    bool packed;      /* its cabinet exists */
    uint64_t sent;    /* folder_sent_to of the destination of its cabinet; 0: not sent */
    size_t data_files, report_files;
    size_t others; /* files and folders in it that no run created: they and the folder are kept */
    uint64_t data_bytes, report_bytes, cabinet_bytes, rest_bytes; /* the last: the mark, and a partial cabinet */
};
uint64_t retained_bytes(const struct retained_folder *f); /* bytes that runs created */
/* Whole days; 0 if the clock was set back. */
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
    RETENTION_BEGUN,   /* an earlier pass was interrupted */
    RETENTION_EMPTY,   /* the folder is empty */
    RETENTION_FOLDERS, /* limits: MaxFolderCount, MaxSize, MinFreeDisk */
    RETENTION_SIZE,
    RETENTION_FREE,
};
struct retention_step {
    size_t folder; /* index */
    enum retention_what what;
    enum retention_why why;
    size_t action; /* index, for RETENTION_BY_ACTION */
    bool packed;   /* DELETE_DATA: only deletes files that are in the cabinet */
    uint64_t bytes;
    size_t after; /* step that must succeed first, counted from 1; 0: none */
};
struct retention_plan {
    struct retention_step *steps;
    size_t count, capacity;
    size_t folders; /* remaining folders */
    uint64_t bytes; /* in them; a new cabinet counts with the size of its files */
    bool over[3];   /* limits that will still be exceeded, from RETENTION_FOLDERS on */
};
enum { RETENTION_ACTIONS = 1, RETENTION_LIMITS = 2 };
/* `parts`: both bits; `free`: free bytes on the disk; `only`: index of the only folder to process, or RETENTION_ALL.
   E_OUTOFMEMORY. */
#define RETENTION_ALL SIZE_MAX
HRESULT retention_plan_make(const struct retained_folder *folders, size_t count, const struct retention_policy *policy,
                            unsigned parts, size_t only, int64_t now, uint64_t free, struct retention_plan *out);
void retention_plan_free(struct retention_plan *plan);

/* Words for events and lists; static. */
const char *retention_what_text(enum retention_what what);
const char *retention_why_text(enum retention_why why);

/* ---- walking the folder of a run ---- */

enum { FOLDER_DEPTH_MOST = 32 }; /* nested folders */

enum content_kind {
    CONTENT_DATA,
    CONTENT_REPORT,  /* RuleTargetFileName, ReportFileName */
    CONTENT_CABINET, /* the folder's own: its name with .cab */
    CONTENT_MARK,
    CONTENT_SCRAP,  /* an unfinished cabinet */
    CONTENT_OTHER,  /* not created by a run: a file, a link or a folder; the folder's contents are not read */
    CONTENT_FOLDER, /* with files of a run; reported after its contents */
};
struct content {
    const char *name; /* below the folder, with '/' */
    enum content_kind kind;
    uint64_t size;
    int64_t written; /* FILETIME, UTC */
};
/* File names that determine the kind; "" for no report. */
struct content_names {
    const char *report, *html;
};
/* Calls `each` until a call fails, and returns that failure. The folder's mark names the files of runs; a subfolder
   with a mark belongs to another set or run. HRESULT of ERROR_BAD_PATHNAME: nested too deeply. `each` may not delete
   anything. */
HRESULT folder_walk(struct held_folder *f, const struct content_names *names,
                    HRESULT (*each)(void *user, const struct content *content), void *user);
/* Names derived from the folder's name; from memory_alloc. */
char *folder_cabinet_name(const struct held_folder *f);
char *folder_cabinet_path(const char *folder);
char *folder_scrap_name(const struct held_folder *f);

/* ---- scanning the folders below RootPath ---- */

/* A folder that could not be read: it may belong to the set, and nothing is done with it. */
struct scan_failure {
    const char *name; /* of the record */
    HRESULT hr;
    char *reason;
};
struct scanned {
    struct retained_folder *folders; /* their names point into the records */
    const struct folder_record **of; /* the record of each */
    size_t count;
    struct folder_records records;
    const struct folder_record **lost; /* records whose folder no longer exists */
    size_t lost_count;
    struct scan_failure *failures;
    size_t failure_count;
};
struct scan {
    const char *space, *set, *root; /* RootPath, expanded */
    struct content_names names;
    const char *running; /* folder of the active run; NULL: none */
    bool latest_runs;    /* the newest folder is being written */
};
/* A missing root has no folders. Unreadable folders are listed as failures. */
HRESULT retention_scan(const struct scan *scan, struct scanned *out);
void scanned_free(struct scanned *s);

/* ---- steps, performed in the folder that has the mark of its record when it is opened ---- */

/* Files that a step found and that no run created. */
struct folder_kept {
    size_t count;
    char first[256]; /* name of one of them, possibly truncated */
};
struct folder_work {
    const char *root;
    const struct folder_record *record;
    const struct content_names *names;
    struct folder_kept *kept; /* set by each step */
};
/* All steps: E_ACCESSDENIED: the folder no longer has the mark. S_FALSE: nothing to do. */

/* Packs everything but cabinets, reports first: writes the cabinet under a temporary name, reads it back, compares
   it with the files, renames it. A failed attempt leaves nothing behind. PLA_E_CABAPI_FAILURE, also if a file that no
   run created has the cabinet's name. */
HRESULT folder_pack(const struct folder_work *w);
/* Deletes the data of runs, and their folders that become empty. `packed`: only if the cabinet contains the current
   state of each file; otherwise it deletes nothing and returns PLA_E_CABAPI_FAILURE. A file that cannot be deleted (in
   use) does not prevent the others; the first such failure is returned. */
HRESULT folder_delete_data(const struct folder_work *w, bool packed);
HRESULT folder_delete_cabinet(const struct folder_work *w);
HRESULT folder_delete_reports(const struct folder_work *w);
/* Deletes everything that runs created, the mark last, and the folder unless something else is in it; afterwards it
   belongs to no set. `empty`: only if nothing but the mark is left. */
HRESULT folder_remove(const struct folder_work *w, bool empty);
/* folder_remove by path, for a run of any set, using the mark only. E_ACCESSDENIED: no mark. */
HRESULT folder_remove_marked(const char *path, struct folder_kept *kept);

/* ---- SendCabTo: sending a cabinet to a share (MS-PLA 3.2.4.3) ---- */

/* The reason why `destination` is not a valid SendCabTo: it must be \\server\share, optionally with folders. Static;
   NULL: valid. */
const char *send_destination_fault(const char *destination);
/* Copies the folder's cabinet to the destination, under a temporary name until it is complete; an interrupted copy
   is started again. If another file has its name, since computers and sets can have folders of equal names, it
   becomes COMPUTER_FOLDER.cab, then COMPUTER_FOLDER_2.cab and so on; nothing is replaced. An identical file is
   success. S_FALSE: no cabinet. File errors name the destination. *own: the failure concerns this cabinet or its
   name only, not the destination. */
HRESULT folder_send(const struct folder_work *w, const char *destination, bool *own);

#endif
