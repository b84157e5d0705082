/* SPDX-License-Identifier: MIT */
/* The checks of openpla doctor and their findings. No check changes anything. */
#ifndef OPENPLA_CLI_DOCTOR_H
#define OPENPLA_CLI_DOCTOR_H

#include "engine/base/text.h"

enum doctor_severity { DOCTOR_NOTE, DOCTOR_WARNING, DOCTOR_ERROR };
/* The findings, in the order of doctor.def. */
enum doctor_id {
#define FINDING(name, severity, id, why, remedy) DOCTOR_FOUND_##name,
#include "cli/doctor/doctor.def"
#undef FINDING
    DOCTOR_IDS
};

struct doctor_finding {
    enum doctor_id id;
    char *what, *remedy; /* from memory_alloc */
};
/* Zero-initialise and set the options. */
struct doctor {
    /* In bytes. If a disk has less free space, it is nearly full; if it has less than a tenth of `room`, it is full. */
    uint64_t room;
    uint32_t wait_ms;
    struct doctor_finding *items;
    size_t count, capacity;
    char *folder; /* the registered folder, from memory_alloc; NULL if not registered; the checks then use the
                     program's folder */
};
/* Adds a finding. `about` replaces "{}" in the remedy and may be NULL. Fails with E_OUTOFMEMORY. */
HRESULT doctor_find(struct doctor *d, enum doctor_id id, const char *about, const char *format, ...) PRINTF_LIKE(4, 5);

/* The following functions are the checks. A check fails only if memory runs out. If something cannot be checked, the
   check reports this as a finding. */
HRESULT doctor_check_store(struct doctor *d);    /* checks the files of the store, the sets and their runs, free disk
                                                    space, and the clock */
HRESULT doctor_check_sessions(struct doctor *d); /* checks trace sessions */
HRESULT doctor_check_host(struct doctor *d);     /* checks the kernel's files, databases, the time zone and counters */
#ifdef _WIN32
HRESULT doctor_check_registration(struct doctor *d); /* must be called first, because it sets d->folder */
HRESULT doctor_check_service(struct doctor *d);
HRESULT doctor_check_server(struct doctor *d); /* waits at most d->wait_ms */
HRESULT doctor_check_ports(struct doctor *d);  /* call it after doctor_check_service */
HRESULT doctor_check_dcom(struct doctor *d);   /* call it after doctor_check_service */
/* Returns true if the previous checks found a running service. If it returns false, a finding has already reported that
   no process listens. */
bool doctor_service_runs(const struct doctor *d);
HRESULT doctor_check_wine(struct doctor *d);
#endif
/* Returns the file's last write time as a time of clock_utc(); 0 if the file does not exist or the time is unknown. */
int64_t doctor_file_written(const char *path);

#endif
