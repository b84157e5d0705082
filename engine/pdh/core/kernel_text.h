/* SPDX-License-Identifier: MIT */
/* What the texts of the Linux kernel's files say, as numbers. Pure parsers: text and size in, numbers out. */
#ifndef OPENPLA_PDH_KERNEL_TEXT_H
#define OPENPLA_PDH_KERNEL_TEXT_H

#include "engine/base/error.h"

/* Figures by name, of files that give each one its name. */
struct kernel_key {
    char *name; /* owned */
    size_t length;
    uint64_t value;
    bool has; /* false: not in the text */
};
struct kernel_keys {
    struct kernel_key *keys;
    size_t count, capacity;
};
/* Adds a name if it is not there; *slot is its position. E_OUTOFMEMORY. */
HRESULT kernel_keys_add(struct kernel_keys *k, const char *name, size_t length, size_t *slot);
void kernel_keys_free(struct kernel_keys *k);
/* Sets the values of the keys: from lines "name value" or "name: value" (/proc/meminfo, vmstat, stat, net/snmp6), and
   from pairs of lines "Tcp: a b" and "Tcp: 1 2", where the names are "Tcp.a" and "Tcp.b" (/proc/net/snmp). A negative
   value counts as not there; of a name that is there twice, the later value may be passed over. E_FAIL when none of the
   keys is in the text. */
HRESULT kernel_keys_parse(const char *text, size_t size, struct kernel_keys *k);

/* Times of one processor, in ticks of 10 ms (USER_HZ is 100 on every architecture we run on). */
enum kernel_cpu_time { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_IDLE, CPU_IOWAIT, CPU_IRQ, CPU_SOFTIRQ, CPU_TIMES };
struct kernel_cpu {
    uint32_t id;
    uint64_t times[CPU_TIMES]; /* guests are inside user and nice */
};
struct kernel_cpus {
    struct kernel_cpu *cpus; /* those online, in the file's order; owned */
    size_t count, capacity;
};
/* Fills *out anew from /proc/stat, keeping its array. E_FAIL when no "cpuN" line is there. */
HRESULT kernel_cpus_parse(const char *text, size_t size, struct kernel_cpus *out);
void kernel_cpus_free(struct kernel_cpus *cpus);

/* Counts per processor, from the tables of /proc/interrupts and /proc/softirqs. */
struct kernel_counts {
    struct kernel_count {
        uint32_t cpu;
        uint64_t sum;   /* of all lines that have a number for each processor, TLB's apart */
        uint64_t clock; /* of "LOC" */
    } * counts;         /* one for each column; owned */
    size_t count, capacity;
    bool has_clock;
};
/* Fills *out anew. E_FAIL when the first line names no processor. */
HRESULT kernel_counts_parse(const char *text, size_t size, struct kernel_counts *out);
void kernel_counts_free(struct kernel_counts *counts);

/* One interrupt that has a number, of /proc/interrupts. */
struct kernel_interrupt {
    uint64_t number;
    const char *counts; /* in the text: a number for each processor of the table */
    const char *end;    /* of its line */
    const char *user;   /* what the driver that asked for it called it, in the text, not terminated */
    size_t user_length; /* 0: nobody has it, or several share it */
};
/* The next one from *at on, which moves behind it; false at the end. Lines of another form are passed over. */
bool kernel_interrupt_next(const char **at, const char *end, struct kernel_interrupt *out);
/* Fills the `cpu` of *out anew from the first line of /proc/interrupts or softirqs, all counts 0. E_FAIL when it names
   no processor. */
HRESULT kernel_columns_parse(const char *text, size_t size, struct kernel_counts *out);

/* One line of a table with a named thing in each. */
#define KERNEL_ROW_VALUES 24
struct kernel_row {
    const char *name; /* in the text, not terminated */
    size_t length;
    uint64_t values[KERNEL_ROW_VALUES];
    size_t count; /* numbers that the line has, at most KERNEL_ROW_VALUES */
};
/* The next row from *at on, which moves behind it; false at the end. Lines of another form are passed over.
   /proc/diskstats: values are major, minor, then those behind the name. */
bool kernel_disk_next(const char **at, const char *end, struct kernel_row *row);
/* /proc/net/dev: "name: values". */
bool kernel_interface_next(const char **at, const char *end, struct kernel_row *row);
/* /proc/swaps: the name is the path; values are size and used, in 1,024 bytes. */
bool kernel_swap_next(const char **at, const char *end, struct kernel_row *row);
/* /proc/cpuinfo: one row per processor; values are its id and its MHz times 1,000 (count 1 when not told). No name. */
bool kernel_cpuinfo_next(const char **at, const char *end, struct kernel_row *row);
/* /proc/<id>/mountinfo: the name is the mount point, still with \040 for a blank; values are major and minor. */
bool kernel_mount_next(const char **at, const char *end, struct kernel_row *row);

/* Connections that are established or wait for us to close them, from /proc/net/tcp or tcp6. */
struct kernel_connections {
    uint64_t ipv4, ipv6; /* the mapped ones of tcp6 are IPv4's */
    bool under_way;      /* some are being opened, or wait for us to close them */
};
/* Adds those of one table. False: the text is no such table. */
bool kernel_connections_add(const char *text, size_t size, struct kernel_connections *c);

/* "0-3,8" (cpulist of a NUMA node): is the number in it? */
bool kernel_list_has(const char *text, size_t size, uint64_t number);

#endif
