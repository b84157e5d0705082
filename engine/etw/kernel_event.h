/* SPDX-License-Identifier: MIT */
/* Events of the NT Kernel Logger, created from Linux data. Each event has all members that its classic event class has
   in Windows 10 x64. */
#ifndef OPENPLA_KERNEL_EVENT_H
#define OPENPLA_KERNEL_EVENT_H

#include "engine/base/text.h"
#include "engine/logs/little_endian.h"

/* Group and type as stored in files: (group << 8) | type. */
enum kernel_hook {
    HOOK_DISK_READ = 0x010A,
    HOOK_DISK_WRITE = 0x010B,
    HOOK_DISK_READ_INIT = 0x010C,
    HOOK_DISK_WRITE_INIT = 0x010D,
    HOOK_DISK_FLUSH = 0x010E,
    HOOK_DISK_FLUSH_INIT = 0x010F,
    HOOK_FAULT_TRANSITION = 0x020A,
    HOOK_FAULT_ZERO = 0x020B,
    HOOK_FAULT_COPY = 0x020C,
    HOOK_HARD_FAULT = 0x0220,
    HOOK_PROCESS_START = 0x0301,
    HOOK_PROCESS_END = 0x0302,
    HOOK_PROCESS_RUNDOWN_START = 0x0303,
    HOOK_PROCESS_RUNDOWN_END = 0x0304,
    HOOK_IMAGE_LOAD = 0x030A, /* an event of the class Image, although its group is that of processes */
    HOOK_PROCESS_COUNTERS = 0x0320,
    HOOK_PROCESS_COUNTERS_RUNDOWN = 0x0321,
    HOOK_THREAD_START = 0x0501,
    HOOK_THREAD_END = 0x0502,
    HOOK_THREAD_RUNDOWN_START = 0x0503,
    HOOK_THREAD_RUNDOWN_END = 0x0504,
    HOOK_SWITCH = 0x0524,
    HOOK_READY = 0x0532,
    HOOK_TCP = 0x0600, /* an event's hook is this value plus one of the types NET_* */
    HOOK_UDP = 0x0800,
    HOOK_SAMPLE = 0x0F2E,
    HOOK_CONFIGURATION = 0x0B00, /* an event's hook is this value plus one of the types of SystemConfig */
    HOOK_INTERRUPT = 0x0F43,
    HOOK_DPC = 0x0F44,
    HOOK_TIMER_DPC = 0x0F45,
    HOOK_IMAGE_UNLOAD = 0x1402,
    HOOK_IMAGE_RUNDOWN_START = 0x1403,
    HOOK_IMAGE_RUNDOWN_END = 0x1404,
    HOOK_SAMPLE_INTERVAL = 0x0F48,
    HOOK_SAMPLE_INTERVAL_START = 0x0F49,
    HOOK_SAMPLE_INTERVAL_END = 0x0F4A,
    HOOK_STACK = 0x1820,
};
/* Types in both network groups; IPv6 types are higher by NET_V6. */
enum { NET_SEND = 10, NET_RECEIVE, NET_CONNECT, NET_DISCONNECT, NET_RETRANSMIT, NET_ACCEPT, NET_V6 = 16 };

/* The EVENT_TRACE_FLAG_ constants of evntrace.h. */
enum kernel_flag {
    FLAG_PROCESS = 0x1,
    FLAG_THREAD = 0x2,
    FLAG_IMAGE_LOAD = 0x4,
    FLAG_PROCESS_COUNTERS = 0x8,
    FLAG_SWITCH = 0x10,
    FLAG_DPC = 0x20,
    FLAG_INTERRUPT = 0x40,
    FLAG_SYSTEM_CALL = 0x80,
    FLAG_DISK = 0x100,
    FLAG_DISK_FILE = 0x200,
    FLAG_DISK_INIT = 0x400,
    FLAG_DISPATCHER = 0x800,
    FLAG_PAGE_FAULTS = 0x1000,
    FLAG_HARD_FAULTS = 0x2000,
    FLAG_VIRTUAL_ALLOC = 0x4000,
    FLAG_MAPPING = 0x8000,
    FLAG_NETWORK = 0x10000,
    FLAG_REGISTRY = 0x20000,
    FLAG_DEBUG_PRINT = 0x40000,
    FLAG_JOB = 0x80000,
    FLAG_ALPC = 0x100000,
    FLAG_SPLIT_IO = 0x200000,
    FLAG_DEBUG_EVENTS = 0x400000,
    FLAG_DRIVER = 0x800000,
    FLAG_PROFILE = 0x1000000,
    FLAG_FILE_IO = 0x2000000,
    FLAG_FILE_IO_INIT = 0x4000000,
};
/* Samples are taken in Linux's timer tick, 250 times a second; the minimum rate is one sample per second. */
enum { KERNEL_PROFILE_100NS = 40000, KERNEL_PROFILE_MOST_100NS = 10000000 };
/* Limits a requested interval (`asked` 0: no interval was requested). */
static inline uint32_t kernel_profile_interval(uint32_t asked)
{
    return asked < KERNEL_PROFILE_100NS        ? KERNEL_PROFILE_100NS
           : asked > KERNEL_PROFILE_MOST_100NS ? KERNEL_PROFILE_MOST_100NS
                                               : asked;
}

struct kernel_event {
    uint64_t time; /* ticks of clock_ticks */
    uint16_t hook, processor;
    uint8_t version;
    bool is_system; /* the header is a SYSTEM header with process and thread; otherwise a short PERFINFO header */
    uint32_t process, thread; /* ids in the event's header */
    bool has_start; /* the data begin with a second time stamp in ticks, such as InitialTime or EventTimeStamp */
    const uint8_t *data;
    uint32_t size;
};
struct kernel_sink {
    HRESULT (*event)(void *context, const struct kernel_event *e);
    void *context;
};

#endif
