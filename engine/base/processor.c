/* SPDX-License-Identifier: MIT */
/* What the processor says of itself (CPUID; AMD and Intel document the same leaves), and whether Linux trusts its
   cycle counter. */
#include "engine/base/processor.h"

#include "engine/base/kernel_file.h"

#include <string.h>

struct cpuid {
    uint32_t a, b, c, d;
};

/* All 0 for a leaf that this processor does not have. */
static struct cpuid cpuid(uint32_t leaf)
{
    struct cpuid most, r = {0};
    __asm__ volatile("cpuid"
                     : "=a"(most.a), "=b"(most.b), "=c"(most.c), "=d"(most.d)
                     : "a"(leaf & 0x80000000u), "c"(0));
    if (leaf <= most.a)
        __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(0));
    return r;
}

enum processor_method processor_method(void)
{
    enum { RDPID = 1 << 22, RDTSCP = 1 << 27 };
    if ((cpuid(7).c & RDPID) != 0)
        return PROCESSOR_RDPID;
    return (cpuid(0x80000001u).d & RDTSCP) != 0 ? PROCESSOR_RDTSCP : PROCESSOR_UNKNOWN;
}

/* The kernel compares its clocks and gives up the counter when it drifts. Where there is no such file the host is
   Windows, whose performance counter is the cycle counter when that is invariant. */
static bool is_trusted(void)
{
    struct kernel_file *f;
    const char *text;
    size_t size;
    if (FAILED(kernel_file_open("/sys/devices/system/clocksource/clocksource0/current_clocksource", &f)))
        return true;
    const bool tsc = SUCCEEDED(kernel_file_read(f, &text, &size)) && !strcmp(text, "tsc\n");
    kernel_file_close(f);
    return tsc;
}

bool processor_cycles_are_time(void)
{
    enum { INVARIANT = 1 << 8 };
    return (cpuid(0x80000007u).d & INVARIANT) != 0 && is_trusted();
}
