/* SPDX-License-Identifier: MIT */
/* Clocks and the time zone on POSIX systems. */
#include "engine/base/clock.h"

#include "engine/base/kernel_file.h"
#include "engine/base/posix/posix_call.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t clock_100ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 10000000 + t.tv_nsec / 100;
}

int64_t clock_utc(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return posix_filetime(t.tv_sec, t.tv_nsec);
}

/* The clock runs at 10 MHz as on Windows, so that numbers from both host OSs are comparable. */
int64_t clock_ticks(void)
{
    return clock_100ns(CLOCK_MONOTONIC);
}

int64_t clock_frequency(void)
{
    return 10000000;
}

/* Parses the line "cpu MHz\t\t: 2299.998". */
static uint32_t mhz_of(const char *cpuinfo)
{
    const char *line = strstr(cpuinfo, "cpu MHz"), *colon = line ? strchr(line, ':') : NULL;
    unsigned long mhz = colon ? strtoul(colon + 1, NULL, 10) : 0;
    return mhz <= UINT32_MAX ? (uint32_t)mhz : 0;
}

uint32_t clock_cpu_mhz(void)
{
    struct kernel_file *f;
    const char *text;
    size_t size;
    uint32_t mhz = 0;
    if (SUCCEEDED(kernel_file_open("/proc/cpuinfo", &f))) {
        if (SUCCEEDED(kernel_file_read(f, &text, &size)))
            mhz = mhz_of(text);
        kernel_file_close(f);
    }
    return mhz ? mhz : (uint32_t)(clock_frequency() / 1000000);
}

uint64_t clock_monotonic_ms(void)
{
    return (uint64_t)clock_ticks() / 10000;
}

int64_t clock_boot_utc(void)
{
    return clock_utc() - clock_100ns(CLOCK_BOOTTIME);
}

int clock_bias_minutes(int64_t utc)
{
    struct tm local;
    /* A file's time can be any number, so the subtraction could overflow. */
    const int64_t since = utc < INT64_MIN + EPOCH_1970 ? INT64_MIN : utc - EPOCH_1970;
    time_t t = (time_t)(since / 10000000 - (since % 10000000 < 0));
    tzset(); /* localtime_r is not required to read the zone */
    return localtime_r(&t, &local) ? (int)(-local.tm_gmtoff / 60) : 0;
}

char *clock_zone_name(void)
{
    tzset();
    return text_copy(tzname[0]);
}
