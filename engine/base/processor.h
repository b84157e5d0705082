/* SPDX-License-Identifier: MIT */
/* The processor that a thread runs on, and its cycle counter, without a call of the system. */
#ifndef OPENPLA_PROCESSOR_H
#define OPENPLA_PROCESSOR_H

#include "engine/base/wintypes.h"

/* How this machine tells a program which processor it runs on. The number is a hint: the thread may be elsewhere by the
   time it is used. */
enum processor_method {
    PROCESSOR_UNKNOWN, /* it does not */
    PROCESSOR_RDTSCP,  /* with the cycles, 13 to 18 ns */
    PROCESSOR_RDPID,   /* 2 ns */
};
enum processor_method processor_method(void);
/* Whether the cycle counter runs at one rate on all processors, and the system itself keeps time by it. */
bool processor_cycles_are_time(void);
uint32_t processor_count(void); /* at least 1 */

enum { PROCESSOR_NUMBER_BITS = 12 }; /* of what both ways give, which is the system's own number of the processor */

static inline uint64_t processor_cycles(void)
{
    return __builtin_ia32_rdtsc();
}

/* By PROCESSOR_RDPID alone. */
static inline uint32_t processor_here(void)
{
    uintptr_t number; /* of the width of a register */
    __asm__ volatile("rdpid %0" : "=r"(number));
    return (uint32_t)number & ((1u << PROCESSOR_NUMBER_BITS) - 1);
}

/* By PROCESSOR_RDTSCP or PROCESSOR_RDPID. */
static inline uint64_t processor_cycles_here(uint32_t *processor)
{
    unsigned number;
    const uint64_t cycles = __builtin_ia32_rdtscp(&number);
    *processor = number & ((1u << PROCESSOR_NUMBER_BITS) - 1);
    return cycles;
}

/* The line of this address will be written soon: it is fetched for that, from another processor that had it. A hint:
   the address need not be any. */
static inline void processor_will_write(const void *address)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
}

#endif
