/* SPDX-License-Identifier: MIT */
/* What is to be done with the folders of a set's runs: a list of steps, each with its reason. Looks at nothing but what
   it is given. MS-PLA 3.2.4.2, 3.2.4.3, 2.2.2.8, 2.2.2.9; DECISIONS 103. */
#ifndef OPENPLA_RETENTION_PLAN_H
#define OPENPLA_RETENTION_PLAN_H

#include "engine/base/text.h"

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

#endif
