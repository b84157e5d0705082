/* SPDX-License-Identifier: MIT */
/* The preset windows_exporter: the metrics of Prometheus' exporter for Windows, under its names. */
#ifndef OPENPLA_PRESET_H
#define OPENPLA_PRESET_H

#include "engine/logs/metric_form.h"

/* How an instance becomes labels. */
enum label_scheme {
    LABELS_OWN, /* labels name, parent, pid and tid, for counters outside the preset */
    LABELS_NONE,
    LABELS_NTDS, /* no labels; only the instance NTDS is exported */
    LABELS_CORE,
    LABELS_VOLUME,
    LABELS_NIC,
    LABELS_FILE,
    LABELS_SITE,
    LABELS_APP,
    LABELS_DATABASE,
    LABELS_RESOURCE,
    LABELS_VM,
    LABELS_VSWITCH,
    LABELS_DEVICE,
    LABELS_DISK,    /* "0 C:" is disk 0 */
    LABELS_PROCESS, /* labels process and process_id */
    LABELS_APP_PID, /* for instances such as "4711_DefaultAppPool" */
    LABELS_ROOT_VP, /* "Root VP 0" is core 0 */
    LABELS_LP,      /* "Hv LP 0" is core 0 */
    LABELS_VM_VP,   /* for instances such as "VM:Hv VP 0" */
};

enum preset_form { FORM_AUTO, FORM_TICKS, FORM_TIMES, FORM_PER, FORM_SECOND, FORM_START, FORM_PAGES, FORM_PAGES_FREE };

struct preset_row {
    const char *collector, *metric; /* "cpu", "windows_cpu_time_total" */
    enum metric_kind kind;
    const char *object, *counter;
    enum label_scheme labels;
    const char *fixed; /* additional labels, as on the Prometheus page */
    enum preset_form form;
    int64_t number;
};
const struct preset_row *preset_rows(size_t *count);
/* Returns the path of a row's counter for all instances, from memory_alloc. If `named` is set, the path is for the
   named instances of SQL Server, and the result is NULL if the row's object does not belong to SQL Server. *failed is
   set to true if memory runs out. */
char *preset_path(const struct preset_row *row, bool named, bool *failed);
struct metric_form preset_form_of(const struct preset_row *row, const struct log_counter *counter);
bool preset_has_collector(const char *name, size_t length);

/* Returns the i-th older name of a metric; existing dashboards can use these names. NULL: there are no more. */
const char *preset_old_name(const char *metric, size_t i);

/* Passes the metrics that are not counters to `fact`: the number of processors, the memory size, the boot time and the
   current time, the time zone and the host name. */
typedef HRESULT preset_fact(void *user, const char *collector, const char *metric, const char *help, const char *labels,
                            double value);
HRESULT preset_facts(preset_fact *fact, void *user);

#endif
