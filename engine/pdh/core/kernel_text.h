/* SPDX-License-Identifier: MIT */
/* Parsers for the text of Linux kernel files. The parsers are pure functions that convert text to numbers. */
#ifndef OPENPLA_PDH_KERNEL_TEXT_H
#define OPENPLA_PDH_KERNEL_TEXT_H

#include "engine/base/error.h"

/* A number that a kernel file lists with a name. */
struct kernel_key {
    char *name; /* owned */
    size_t length;
    uint64_t value;
    bool has; /* false: the text does not have the name */
};
struct kernel_keys {
    struct kernel_key *keys;
    size_t count, capacity;
};
/* Adds a name if it does not exist yet. *slot is its position. Fails with E_OUTOFMEMORY. */
HRESULT kernel_keys_add(struct kernel_keys *k, const char *name, size_t length, size_t *slot);
void kernel_keys_free(struct kernel_keys *k);
/* Sets the values of the keys, from lines "name value" or "name: value" (/proc/meminfo, vmstat, stat, net/snmp6). The
   function also reads pairs of lines such as "Tcp: a b" and "Tcp: 1 2" (/proc/net/snmp); such a pair yields the names
   "Tcp.a" and "Tcp.b". Negative values count as missing. If a name appears twice, the later value may be ignored. Fails
   with E_FAIL if the text has none of the keys. */
HRESULT kernel_keys_parse(const char *text, size_t size, struct kernel_keys *k);

/* The times of one processor, in ticks of 10 ms (USER_HZ is 100 on all supported architectures). */
enum kernel_cpu_time { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_IDLE, CPU_IOWAIT, CPU_IRQ, CPU_SOFTIRQ, CPU_TIMES };
struct kernel_cpu {
    uint32_t id;
    uint64_t times[CPU_TIMES]; /* user and nice include the times of guests */
};
struct kernel_cpus {
    struct kernel_cpu *cpus; /* the online processors in the file's order; owned */
    size_t count, capacity;
};
/* Fills *out from /proc/stat and reuses its array. Fails with E_FAIL if there is no "cpuN" line. */
HRESULT kernel_cpus_parse(const char *text, size_t size, struct kernel_cpus *out);
void kernel_cpus_free(struct kernel_cpus *cpus);

/* Counts per processor, from the tables /proc/interrupts and /proc/softirqs. */
struct kernel_counts {
    struct kernel_count {
        uint32_t cpu;
        uint64_t sum;   /* sum over all lines with one number per processor, except TLB */
        uint64_t clock; /* the number in the line "LOC" */
    } * counts;         /* one per column; owned */
    size_t count, capacity;
    bool has_clock;
};
/* Fills *out. Fails with E_FAIL if the first line names no processor. */
HRESULT kernel_counts_parse(const char *text, size_t size, struct kernel_counts *out);
void kernel_counts_free(struct kernel_counts *counts);

/* One numbered interrupt of /proc/interrupts. */
struct kernel_interrupt {
    uint64_t number;
    const char *counts; /* one number per processor of the table; points into the text */
    const char *end;    /* end of the interrupt's line */
    const char *user;   /* the name that the driver gave the interrupt; points into the text, not terminated */
    size_t user_length; /* 0: unused, or shared by several drivers */
};
/* Parses the next interrupt from *at on and moves *at past its line. Skips other lines. False at the end. */
bool kernel_interrupt_next(const char **at, const char *end, struct kernel_interrupt *out);
/* Sets the `cpu` members of *out from the first line of /proc/interrupts or softirqs, and all counts to 0. Fails with
   E_FAIL if the line names no processor. */
HRESULT kernel_columns_parse(const char *text, size_t size, struct kernel_counts *out);

/* One line of a table of named items. */
#define KERNEL_ROW_VALUES 24
struct kernel_row {
    const char *name; /* points into the text, not terminated */
    size_t length;
    uint64_t values[KERNEL_ROW_VALUES];
    size_t count; /* number of values in the line, at most KERNEL_ROW_VALUES */
};
/* Parses the next row from *at on and moves *at past it. Skips other lines. False at the end. The values of
   /proc/diskstats are major, minor, then the numbers after the name. */
bool kernel_disk_next(const char **at, const char *end, struct kernel_row *row);
/* Parses /proc/net/dev: "name: values". */
bool kernel_interface_next(const char **at, const char *end, struct kernel_row *row);
/* Parses /proc/swaps: the name is the path; the values are size and used, in units of 1,024 bytes. */
bool kernel_swap_next(const char **at, const char *end, struct kernel_row *row);
/* Parses /proc/cpuinfo: one row per processor, without a name. The values are the processor's id and its MHz times
   1,000 (count is 1 if the file does not show MHz). */
bool kernel_cpuinfo_next(const char **at, const char *end, struct kernel_row *row);
/* Parses /proc/<id>/mountinfo: the name is the mount point, with spaces still encoded as \040; the values are major and
   minor. */
bool kernel_mount_next(const char **at, const char *end, struct kernel_row *row);

/* Numbers of TCP connections from /proc/net/tcp or tcp6. Counts a connection if it is established, or if the other side
   has closed it and this computer has not. */
struct kernel_connections {
    uint64_t ipv4, ipv6; /* mapped addresses in tcp6 count as IPv4 */
    bool under_way;      /* some connections are being opened, or wait for this computer to close them */
};
/* Adds the connections of one table. False if the text is not such a table. */
bool kernel_connections_add(const char *text, size_t size, struct kernel_connections *c);

/* Reads the number of sockets in use from a protocol's line ("TCP6") of /proc/net/sockstat or sockstat6. False if the
   text has no such line. */
bool kernel_sockets_in_use(const char *text, size_t size, const char *protocol, uint64_t *count);

/* Returns true if the number is in a list such as "0-3,8" (a NUMA node's cpulist). */
bool kernel_list_has(const char *text, size_t size, uint64_t number);

#endif
