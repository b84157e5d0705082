/* SPDX-License-Identifier: MIT */
/* One segment of a run: its serial number, folder, files and open collectors. A run without limits has one. */
#ifndef OPENPLA_SEGMENT_H
#define OPENPLA_SEGMENT_H

#include "engine/collect/collect.h"
#include "engine/model/model.h"
#include "engine/run/diagnostics.h"
#include "engine/run/run_journal.h"
#include "engine/run/start_report.h"
#include "engine/store/store.h"

/* What a host runs. */
struct run_set {
    const char *space, *name;       /* borrowed */
    struct data_collector_set *set; /* a reference */
    struct object **models;         /* its collectors, references */
    size_t count;
    struct diagnostics diagnostics;
    struct start_report *report; /* borrowed; NULL when nobody waits for the start (any more) */
};
/* Loads the committed set. PLA_E_DCS_NOT_FOUND, OPENPLA_E_MALFORMED_XML. */
HRESULT run_set_load(const char *space, const char *name, struct run_set *out);
void run_set_free(struct run_set *r);
/* Puts the result and message of the run, and whether it goes on, into its record; the rest of the record stays. */
HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message, bool running);
/* The same about a start whose host is gone, unless another host of the set runs by now: then S_FALSE. */
HRESULT run_set_record_no_run(const struct run_set *r, HRESULT result, const char *message);

struct segment {
    uint32_t serial_number;
    char *location;
    struct texts files;
    struct collector **collectors;
    size_t count; /* as many as the set had when it was opened */
};
/* Takes the next serial number, makes the folder, opens the collectors and records all that before anything is sampled.
   On failure no file, folder or serial number is used up. `follows`: it continues a run, so a file in its way that the
   set's names cannot avoid gets the serial number added (behaviour 5).
   HRESULT of ERROR_PATH_NOT_FOUND (RootPath), ERROR_ALREADY_EXISTS (file), E_ACCESSDENIED, what collector_open says;
   for the first segment PLA_E_NO_MIN_DISK and PLA_E_TOO_MANY_FOLDERS of a data manager that checks before running.
   previous: the segment before with the same definition, completed, so that rates go on; may be NULL. It is to be
   closed, whatever the result. */
HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out);
/* Completes the files; what the collectors know stays for the next segment. */
void segment_complete(struct run_set *r, struct segment *s);
/* Puts what a collector of the set has to remark into the diagnostics. False: nothing. */
bool segment_note_remark(struct run_set *r, struct collector *c);
/* Completes the files; a failure is also noted in the run's diagnostics. `r` may hold another definition by now. */
HRESULT segment_close(struct run_set *r, struct segment *s);

#endif
