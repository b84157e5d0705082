/* SPDX-License-Identifier: MIT */
/* The objects PhysicalDisk and LogicalDisk, from /proc/diskstats, the mounted file systems and the drive letters. A
   physical disk is a block device with hardware (/sys/block/NAME/device). As on Windows, the instance name of a
   physical disk consists of the disk's number in the kernel's order and the letters of the disk's drives: "0 C: Z:". */
#include "engine/base/clock.h"
#include "engine/base/folder.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* The rows of PhysicalDisk; LogicalDisk also has the MORE rows. The first columns are in the order of /proc/diskstats,
   which has further columns. Times of requests are in ms. Sectors always have 512 bytes, regardless of the disk's
   sector size. */
#define DISK_ROWS                                                                                                      \
    COLUMN(MAJOR, "major")                                                                                             \
    COLUMN(MINOR, "minor")                                                                                             \
    COLUMN(READS, "reads")                                                                                             \
    COLUMN(READS_MERGED, "reads_merged")                                                                               \
    COLUMN(READ_SECTORS, "read_sectors")                                                                               \
    COLUMN(READ_MS, "read_ms")                                                                                         \
    COLUMN(WRITES, "writes")                                                                                           \
    COLUMN(WRITES_MERGED, "writes_merged")                                                                             \
    COLUMN(WRITTEN_SECTORS, "written_sectors")                                                                         \
    COLUMN(WRITE_MS, "write_ms")                                                                                       \
    COLUMN(IN_FLIGHT, "in_flight")                                                                                     \
    COLUMN(BUSY_MS, "busy_ms")                                                                                         \
    COLUMN(QUEUE_MS, "queue_ms")                                                                                       \
    COLUMN(SIZE_MB, "size_mb")                                                                                         \
    COLUMN(FREE_MB, "free_mb")                                                                                         \
    COUNTER("Current Disk Queue Length", PERF_COUNTER_RAWCOUNT, 198, 0, SUM, "in_flight",                              \
            "Requests that are currently queued or in progress.")                                                      \
    COUNTER("% Disk Time", PERF_PRECISION_100NS_TIMER, 200, 0, MEAN, "read_ms * 10000 + write_ms * 10000",             \
            "Summed time of all requests as a share of the elapsed time, limited to 100 if requests overlap.")         \
    COUNTER("Avg. Disk Queue Length", PERF_COUNTER_100NS_QUEUELEN_TYPE, 1400, 2, SUM, "queue_ms * 10000",              \
            "Average number of requests that were queued or in progress.")                                             \
    COUNTER("% Disk Read Time", PERF_PRECISION_100NS_TIMER, 202, 0, MEAN, "read_ms * 10000",                           \
            "Summed time of all reads as a share of the elapsed time.")                                                \
    COUNTER("Avg. Disk Read Queue Length", PERF_COUNTER_100NS_QUEUELEN_TYPE, 1402, 2, SUM, "read_ms * 10000",          \
            "Average number of reads that were queued or in progress.")                                                \
    COUNTER("% Disk Write Time", PERF_PRECISION_100NS_TIMER, 204, 0, MEAN, "write_ms * 10000",                         \
            "Summed time of all writes as a share of the elapsed time.")                                               \
    COUNTER("Avg. Disk Write Queue Length", PERF_COUNTER_100NS_QUEUELEN_TYPE, 1404, 2, SUM, "write_ms * 10000",        \
            "Average number of writes that were queued or in progress.")                                               \
    COUNTER("Avg. Disk sec/Transfer", PERF_AVERAGE_TIMER, 206, 3, SUM OVER(TRANSFERS_ENDED),                           \
            "read_ms * 10000 + write_ms * 10000", "Average duration of a read or write, in seconds.")                  \
    COUNTER("Avg. Disk sec/Read", PERF_AVERAGE_TIMER, 208, 3, SUM OVER(READS_ENDED), "read_ms * 10000",                \
            "Average duration of a read, in seconds.")                                                                 \
    COUNTER("Avg. Disk sec/Write", PERF_AVERAGE_TIMER, 210, 3, SUM OVER(WRITES_ENDED), "write_ms * 10000",             \
            "Average duration of a write, in seconds.")                                                                \
    COUNTER("Disk Transfers/sec", PERF_COUNTER_COUNTER, 212, 0, SUM, "reads + writes", "Completed reads and writes.")  \
    COUNTER("Disk Reads/sec", PERF_COUNTER_COUNTER, 214, 0, SUM, "reads", "Completed reads.")                          \
    COUNTER("Disk Writes/sec", PERF_COUNTER_COUNTER, 216, 0, SUM, "writes", "Completed writes.")                       \
    COUNTER("Disk Bytes/sec", PERF_COUNTER_BULK_COUNT, 218, -4, SUM, "read_sectors * 512 + written_sectors * 512",     \
            "Bytes read and written.")                                                                                 \
    COUNTER("Disk Read Bytes/sec", PERF_COUNTER_BULK_COUNT, 220, -4, SUM, "read_sectors * 512", "Bytes read.")         \
    COUNTER("Disk Write Bytes/sec", PERF_COUNTER_BULK_COUNT, 222, -4, SUM, "written_sectors * 512", "Bytes written.")  \
    COUNTER("Avg. Disk Bytes/Transfer", PERF_AVERAGE_BULK, 224, -2, SUM OVER(TRANSFERS_ENDED),                         \
            "read_sectors * 512 + written_sectors * 512", "Average number of bytes per read or write.")                \
    COUNTER("Avg. Disk Bytes/Read", PERF_AVERAGE_BULK, 226, -2, SUM OVER(READS_ENDED), "read_sectors * 512",           \
            "Average number of bytes per read.")                                                                       \
    COUNTER("Avg. Disk Bytes/Write", PERF_AVERAGE_BULK, 228, -2, SUM OVER(WRITES_ENDED), "written_sectors * 512",      \
            "Average number of bytes per write.")                                                                      \
    COUNTER("% Idle Time", PERF_PRECISION_100NS_TIMER, 1482, 0, MEAN, "time - busy_ms * 10000",                        \
            "Share of the time in which no request was in progress.")                                                  \
    MORE("% Free Space", PERF_RAW_FRACTION, 408, 0, SUM OVER(DRIVE_SIZE), "free_mb",                                   \
         "Share of the drive's space that this user can still use.")                                                   \
    MORE("Free Megabytes", PERF_COUNTER_RAWCOUNT, 410, 0, SUM, "free_mb",                                              \
         "Space that this user can still use, in units of 1,048,576 bytes.")                                           \
    BASE(TRANSFERS_ENDED, PERF_AVERAGE_BASE, SUM, "reads + writes")                                                    \
    BASE(READS_ENDED, PERF_AVERAGE_BASE, SUM, "reads")                                                                 \
    BASE(WRITES_ENDED, PERF_AVERAGE_BASE, SUM, "writes")                                                               \
    BASE(DRIVE_SIZE, PERF_RAW_BASE, SUM, "size_mb")

#define OBJECT disk
#define ROWS   DISK_ROWS
#include "engine/pdh/core/counter_rows.inc"

/* A block device. */
struct disk {
    char *name;
    uint64_t major, minor;
    bool physical;
    unsigned number; /* index among the physical disks */
};
/* Listing the drives costs some hundred calls to Wine's server. Therefore drives and mounted file systems are read only
   if the disks have changed, or if the last listing is this many milliseconds old. */
#define LIST_AGAIN_MS 10000

struct letter {
    struct drive drive;
    uint64_t major, minor; /* the drive's device; major 0: unknown */
};
struct disk_state {
    struct table_state table;
    struct disk *disks;
    size_t count, capacity;
    uint64_t listed_disks, listed_at; /* the disks' hash and clock_monotonic_ms() at the last listing of the drives */
    struct letter letters[DRIVES_MOST];
    size_t letter_count;
    uint64_t disks_known, mounts_known; /* hashes of the data from which the lists were created; 0: none */
};

static void forget_disks(struct disk_state *s)
{
    for (size_t i = 0; i < s->count; i++)
        memory_free(s->disks[i].name);
    s->count = 0;
}

static void close_state(void *state)
{
    struct disk_state *s = state;
    forget_disks(s);
    memory_free(s->disks);
}

/* Hashes the list of disks. The result is never 0. */
static uint64_t hash_of_disks(const char *text, size_t size)
{
    uint64_t h = HASH_START;
    struct kernel_row row;
    for (const char *at = text; kernel_disk_next(&at, text + size, &row);)
        h = hash_bytes(h, row.name, row.length + 1);
    return h | 1;
}

static bool is_physical(const char *root, const char *name)
{
    char path[512];
    struct kernel_file *f;
    size_t length = (size_t)snprintf(path, sizeof path, "%s/sys/block/", root);
    if (length + strlen(name) + 16 > sizeof path)
        return false;
    /* /sys replaces a slash in a name with '!' */
    for (; *name; name++)
        path[length++] = *name == '/' ? '!' : *name;
    snprintf(path + length, sizeof path - length, "/device/uevent");
    if (FAILED(kernel_file_open(path, &f)))
        return false;
    kernel_file_close(f);
    return true;
}

static HRESULT find_disks(struct disk_state *s, const char *root, const char *text, size_t size)
{
    struct kernel_row row;
    unsigned number = 0;
    forget_disks(s);
    for (const char *at = text; kernel_disk_next(&at, text + size, &row);) {
        char *name = text_copy_n(row.name, row.length);
        if (!name || !memory_grow((void **)&s->disks, &s->capacity, s->count + 1, sizeof *s->disks)) {
            memory_free(name);
            return E_OUTOFMEMORY;
        }
        bool physical_disk = is_physical(root, name);
        s->disks[s->count++] = (struct disk){name, row.values[0], row.values[1], physical_disk, number};
        number += physical_disk;
    }
    return S_OK;
}

/* Decodes the octal escapes of mountinfo ("\040"). */
static bool copy_mount_point(const char *root, const struct kernel_row *row, char *path, size_t room)
{
    size_t length = (size_t)snprintf(path, room, "%s", root);
    for (size_t i = 0; i < row->length; i++) {
        char c = row->name[i];
        if (c == '\\' && i + 3 < row->length) {
            c = (char)((row->name[i + 1] - '0') * 64 + (row->name[i + 2] - '0') * 8 + row->name[i + 3] - '0');
            i += 3;
        }
        if (length + 2 > room)
            return false;
        path[length++] = c;
    }
    path[length] = 0;
    return true;
}

/* Finds the device of a drive letter. Wine does not report this device, so the function searches for the only file
   system with the drive's size and free space. If several match, the device is unknown. Remote file systems, which
   might not respond, have no device and are skipped. */
static void find_device(struct letter *letter, const char *root, const char *mounts, size_t size)
{
    uint64_t total, free, best = UINT64_MAX;
    struct kernel_row row;
    letter->major = letter->minor = 0;
    if (FAILED(drive_space(&letter->drive, &total, &free)))
        return;
    for (const char *at = mounts; kernel_mount_next(&at, mounts + size, &row);) {
        uint64_t other_total, other_free;
        char path[512];
        if (!row.values[0] || (row.values[0] == letter->major && row.values[1] == letter->minor) ||
            !copy_mount_point(root, &row, path, sizeof path) ||
            FAILED(kernel_folder_space(path, &other_total, &other_free)) || other_total != total)
            continue;
        /* other programs may write between the two calls */
        uint64_t difference = other_free > free ? other_free - free : free - other_free;
        if (difference < best && difference < total / 64) {
            letter->major = row.values[0];
            letter->minor = row.values[1];
            best = difference;
        } else if (difference == best) {
            letter->major = 0;
        }
    }
}

/* Updates the disks and, if necessary, the letters from the kernel's files. */
static HRESULT disks_follow_kernel(struct counter_object *o, struct source *source, const char *text, size_t size)
{
    struct disk_state *s = o->state;
    const char *mounts;
    size_t mounts_size;
    HRESULT hr = S_OK;
    uint64_t disks = hash_of_disks(text, size), now = clock_monotonic_ms();
    bool lists = disks != s->listed_disks || clock_passed_ms(s->listed_at, now) >= LIST_AGAIN_MS;
    if ((disks != s->disks_known || lists) && !source_may_wait(&o->hold))
        return E_PENDING;
    if (disks != s->disks_known) {
        hr = find_disks(s, source_root(source), text, size);
        s->disks_known = SUCCEEDED(hr) ? disks : 0;
    }
    if (FAILED(hr))
        return hr;
    if (!lists)
        return S_OK;
    hr = source_text(source, &o->hold, SOURCE_MOUNTS, &mounts, &mounts_size, NULL);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr)) {
        mounts = "";
        mounts_size = 0;
    }
    struct drive drives[DRIVES_MOST];
    size_t count = drives_list(drives);
    s->listed_disks = disks;
    s->listed_at = now;
    uint64_t known = hash_bytes(hash_bytes(disks, mounts, mounts_size), drives, count * sizeof *drives) | 1;
    if (known != s->mounts_known) {
        for (size_t i = 0; i < count; i++) {
            s->letters[i] = (struct letter){.drive = drives[i]};
            find_device(&s->letters[i], source_root(source), mounts, mounts_size);
        }
        s->letter_count = count;
        s->mounts_known = known;
    }
    return S_OK;
}

static void set_cells(int64_t *cells, const struct kernel_row *row)
{
    for (size_t i = 0; i < row->count && i < SIZE_MB; i++)
        cells[i] = (int64_t)row->values[i];
}

/* Returns true if `part` is a partition of the disk or the disk itself. For example, "vda1" is a partition of "vda",
   and "nvme0n1p2" of "nvme0n1". */
static bool is_part_of(const char *part, const char *disk)
{
    size_t length = strlen(disk);
    if (strncmp(part, disk, length) != 0)
        return false;
    const char *rest = part + length;
    rest += *rest == 'p' && rest[-1] >= '0' && rest[-1] <= '9';
    return rest[strspn(rest, "0123456789")] == 0;
}

/* Creates the name "0 C: Z:": the number and the letters of the drives on the disk. */
static void name_disk(const struct disk_state *s, const struct disk *disk, char *name, size_t room)
{
    size_t length = (size_t)snprintf(name, room, "%u", disk->number);
    for (size_t i = 0; i < s->letter_count; i++) {
        for (size_t k = 0; s->letters[i].major && k < s->count; k++)
            if (s->disks[k].major == s->letters[i].major && s->disks[k].minor == s->letters[i].minor &&
                is_part_of(s->disks[k].name, disk->name))
                length += (size_t)snprintf(name + length, room - length, " %s", s->letters[i].drive.name);
    }
}

static HRESULT read_disks(struct counter_object *o, struct source *source, const char **text, size_t *size)
{
    HRESULT hr = source_text(source, &o->hold, SOURCE_DISKSTATS, text, size, &o->time);
    struct disk_state *s = o->state;
    table_know_columns(&s->table, (1ull << (FREE_MB + 1)) - 1);
    return SUCCEEDED(hr) ? disks_follow_kernel(o, source, *text, *size) : hr;
}

static HRESULT gather_physical(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct disk_state *s = o->state;
    const char *text;
    size_t size, at_disk = 0;
    struct kernel_row row;
    HRESULT hr = read_disks(o, source, &text, &size);
    if (FAILED(hr))
        return hr;
    for (const char *at = text; kernel_disk_next(&at, text + size, &row); at_disk++) {
        char name[16 + DRIVES_MOST * 3];
        if (!s->disks[at_disk].physical)
            continue;
        name_disk(s, &s->disks[at_disk], name, sizeof name);
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, strlen(name), 0);
        if (!cells)
            return E_OUTOFMEMORY;
        set_cells(cells, &row);
    }
    return table_add_total(&s->table, false, s->disks_known);
}

/* Returns the first drive letter that has the same device as `letter`. If the result is not `letter` itself but an
   earlier letter, the total already contains the values of the device. */
static size_t first_letter(const struct disk_state *s, size_t letter)
{
    size_t i = 0;
    while (i < letter && (!s->letters[letter].major || s->letters[i].major != s->letters[letter].major ||
                          s->letters[i].minor != s->letters[letter].minor))
        i++;
    return i;
}

static void set_space(struct disk_state *s, size_t letter, int64_t *cells)
{
    uint64_t total, free;
    size_t first = first_letter(s, letter);
    if (first != letter) { /* rows are in the same order as letters */
        const int64_t *from = s->table.cells + first * s->table.column_count;
        cells[SIZE_MB] = from[SIZE_MB];
        cells[FREE_MB] = from[FREE_MB];
    } else if (SUCCEEDED(drive_space(&s->letters[letter].drive, &total, &free))) {
        cells[SIZE_MB] = (int64_t)(total >> 20);
        cells[FREE_MB] = (int64_t)(free >> 20);
    }
}

static HRESULT gather_logical(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct disk_state *s = o->state;
    const char *text;
    size_t size;
    struct kernel_row row;
    if ((wanted & (1ull << SIZE_MB | 1ull << FREE_MB)) && !source_may_wait(&o->hold)) /* drives may be slow */
        return E_PENDING;
    HRESULT hr = read_disks(o, source, &text, &size);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->letter_count; i++) {
        const struct letter *letter = &s->letters[i];
        enum table_row_kind kind = first_letter(s, i) < i ? ROW_ALIAS : ROW_PLAIN;
        int64_t *cells = table_add(&s->table, kind, NULL, letter->drive.name, 2, 0);
        if (!cells)
            return E_OUTOFMEMORY;
        for (const char *at = text; letter->major && kernel_disk_next(&at, text + size, &row);) {
            if (row.values[0] == letter->major && row.values[1] == letter->minor) {
                set_cells(cells, &row);
                break;
            }
        }
        if (wanted & (1ull << SIZE_MB | 1ull << FREE_MB))
            set_space(s, i, cells);
    }
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, s->mounts_known) : hr;
}

#define ORIGIN "the device's line in /proc/diskstats, where a sector has 512 bytes"
const struct counter_object_type pdh_physical_disk = {
    .name = "PhysicalDisk",
    .index = 234,
    .help = "The disks of this computer, named by their number and the drives on them.",
    .has_instances = true,
    .tries_at_once = true,
    TABLE_OBJECT(disk, SHARED_OF, struct disk_state, gather_physical, close_state, ORIGIN)};
const struct counter_object_type pdh_logical_disk = {
    .name = "LogicalDisk",
    .index = 236,
    .help = "The space of this computer's drives, and the transfers of the devices that contain the drives.",
    .has_instances = true,
    .tries_at_once = true,
    TABLE_OBJECT(disk, ALL_OF, struct disk_state, gather_logical, close_state,
                 ORIGIN "; the device's mounted file system has the same size and free space as the drive; size_mb and "
                        "free_mb are from GetDiskFreeSpaceEx, in units of 1,048,576 bytes")};
