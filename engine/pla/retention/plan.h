/* SPDX-License-Identifier: MIT */
/* Private header of retention, which packs, sends and deletes a set's run folders. A retention pass scans and walks the
   folders, plans steps with a reason for each step, and performs the steps. MS-PLA 3.2.4.2, 3.2.4.3, 2.2.2.8, 2.2.2.9;
   DECISIONS 103. */
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
    uint32_t size; /* minimum folder size in MB (2^20 bytes); 0: any */
    uint32_t age;  /* minimum days since the start of the run; 0: any */
    uint32_t actions;
    char *send_to;        /* expanded */
    uint64_t destination; /* folder_sent_to of send_to; 0: none, or not a valid share */
};
struct retention_policy {
    struct retention_action *actions;
    size_t action_count;
    uint32_t most_folders, most_size, least_free; /* the last two in MB; 0: no limit */
    bool oldest_first;                            /* otherwise the largest first */
};

/* A folder that a run of the set created. Lists of folders are in the order of the runs. */
struct retained_folder {
    const char *name; /* below RootPath; borrowed */
    uint32_t serial;  /* serial number of the run */
    int64_t started;  /* FILETIME, UTC */
    bool running;     /* a run is writing to the folder, so no step is planned for it */
    bool latest;      /* the newest run's folder: it is never deleted, and its data only if they are in a cabinet */
    bool going;       /* an earlier pass has started to delete it */
    bool packed;      /* the cabinet exists */
    uint64_t sent;    /* folder_sent_to of the cabinet's destination; 0: not sent */
    size_t data_files, report_files;
    size_t others; /* files and folders that no run created; they are kept, and so is the folder */
    uint64_t data_bytes, report_bytes, cabinet_bytes, rest_bytes; /* rest_bytes: the mark, and a partial cabinet */
};
uint64_t retained_bytes(const struct retained_folder *f); /* bytes that runs created */
/* Returns the age in whole days; 0 if the clock was set back. */
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
    size_t after; /* number of the step that must succeed first, counted from 1; 0: none */
};
struct retention_plan {
    struct retention_step *steps;
    size_t count, capacity;
    size_t folders; /* remaining folders */
    uint64_t bytes; /* bytes in the remaining folders; a new cabinet counts as the size of its files */
    bool over[3];   /* whether each limit will be exceeded after the plan; index 0 is RETENTION_FOLDERS */
};
enum { RETENTION_ACTIONS = 1, RETENTION_LIMITS = 2 };
/* Plans a pass. `parts`: RETENTION_ACTIONS and RETENTION_LIMITS bits; `free`: free bytes on the disk; `only`: index of
   the only folder to process, or RETENTION_ALL. E_OUTOFMEMORY. */
#define RETENTION_ALL SIZE_MAX
HRESULT retention_plan_make(const struct retained_folder *folders, size_t count, const struct retention_policy *policy,
                            unsigned parts, size_t only, int64_t now, uint64_t free, struct retention_plan *out);
void retention_plan_free(struct retention_plan *plan);

/* Return words for events and lists; static. */
const char *retention_what_text(enum retention_what what);
const char *retention_why_text(enum retention_why why);

/* ---- walking the folder of a run ---- */

enum { FOLDER_DEPTH_MOST = 32 }; /* nested folders */

enum content_kind {
    CONTENT_DATA,
    CONTENT_REPORT,  /* RuleTargetFileName, ReportFileName */
    CONTENT_CABINET, /* the folder's cabinet, named after the folder */
    CONTENT_MARK,
    CONTENT_SCRAP,  /* an unfinished cabinet */
    CONTENT_OTHER,  /* a file, link or folder that no run created; the contents of the folder are not visited */
    CONTENT_FOLDER, /* a folder with files of a run; visited after its contents */
};
struct content {
    const char *name; /* path below the run's folder, with '/' */
    enum content_kind kind;
    uint64_t size;
    int64_t written; /* FILETIME, UTC */
};
/* File names of the reports; "": none. */
struct content_names {
    const char *report, *html;
};
/* Visits the contents of a run's folder: calls `each` until a call fails, and returns that failure. The files of runs
   are the files in the list of the folder's mark. A subfolder with a mark belongs to another set or run.
   HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME): folders are nested too deeply. `each` must not delete anything. */
HRESULT folder_walk(struct held_folder *f, const struct content_names *names,
                    HRESULT (*each)(void *user, const struct content *content), void *user);
/* Return names that are derived from the folder's name, from memory_alloc. */
char *folder_cabinet_name(const struct held_folder *f);
char *folder_cabinet_path(const char *folder);
char *folder_scrap_name(const struct held_folder *f);

/* ---- scanning the folders below RootPath ---- */

/* A folder that could not be read. No step is planned for such a folder, because the folder may belong to the set. */
struct scan_failure {
    const char *name; /* name in the record */
    HRESULT hr;
    char *reason;
};
struct scanned {
    struct retained_folder *folders; /* their names point into the records */
    const struct folder_record **of; /* the record of each folder */
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
/* Scans the set's run folders. A missing root has no folders. Unreadable folders are listed as failures. */
HRESULT retention_scan(const struct scan *scan, struct scanned *out);
void scanned_free(struct scanned *s);

/* ---- steps; each one first checks that the folder has the mark of its record ---- */

/* The files that a step found but that no run created. */
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
/* All steps fail with E_ACCESSDENIED if the folder no longer has the mark, and return S_FALSE if there is nothing to
   do. */

/* Packs reports and data into the folder's cabinet, reports first. Writes the cabinet under a temporary name, reads it
   back, compares it with the files, and then renames it. Leaves nothing behind on failure. Fails with
   PLA_E_CABAPI_FAILURE, also if a file that no run created has the cabinet's name. */
HRESULT folder_pack(const struct folder_work *w);
/* Deletes the data files of runs, and subfolders that become empty. `packed`: first checks that the cabinet contains
   the current state of each file; if it does not, deletes nothing and returns PLA_E_CABAPI_FAILURE. If a file cannot be
   deleted, for example because it is in use, deletes the other files and returns the first failure. */
HRESULT folder_delete_data(const struct folder_work *w, bool packed);
HRESULT folder_delete_cabinet(const struct folder_work *w);
HRESULT folder_delete_reports(const struct folder_work *w);
/* Deletes all files that runs created, then the mark, then the folder unless it has other contents. Afterwards the
   folder belongs to no set. `empty`: does nothing unless the mark is the only file of runs. */
HRESULT folder_remove(const struct folder_work *w, bool empty);
/* Works like folder_remove, for the folder `path`, which can belong to any set. Uses only the mark, not a record.
   E_ACCESSDENIED: the folder has no mark. */
HRESULT folder_remove_marked(const char *path, struct folder_kept *kept);

/* ---- SendCabTo: sending a cabinet to a share (MS-PLA 3.2.4.3) ---- */

/* Returns why `destination` is not a valid SendCabTo, as a static string; NULL: valid. A valid SendCabTo is
   \\server\share, optionally followed by folders. */
const char *send_destination_fault(const char *destination);
/* Copies the folder's cabinet to the destination. The copy has a temporary name until it is complete; an interrupted
   copy is repeated. Replaces no file: folders of other computers or sets can have the same name. If the name is taken,
   uses COMPUTER_FOLDER.cab, then COMPUTER_FOLDER_2.cab and so on. Succeeds if an identical file exists. S_FALSE: no
   cabinet. File errors name the destination. *own: the failure concerns only this cabinet or its name, not the
   destination. */
HRESULT folder_send(const struct folder_work *w, const char *destination, bool *own);

#endif
