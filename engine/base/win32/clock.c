/* SPDX-License-Identifier: MIT */
/* Windows' clocks and time zone. */
#include "engine/base/clock.h"

#include "engine/base/os.h"
#include "engine/base/text.h"

#include <windows.h>

int64_t clock_utc(void)
{
    FILETIME now;
    GetSystemTimePreciseAsFileTime(&now);
    return (int64_t)((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime);
}

int64_t clock_ticks(void)
{
    LARGE_INTEGER now;
    QueryPerformanceCounter(&now);
    return now.QuadPart;
}

int64_t clock_frequency(void)
{
    LARGE_INTEGER frequency;
    QueryPerformanceFrequency(&frequency);
    return frequency.QuadPart;
}

uint32_t clock_cpu_mhz(void)
{
    DWORD mhz = 0, size = sizeof mhz;
    RegGetValueW(HKEY_LOCAL_MACHINE, L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", L"~MHz", RRF_RT_REG_DWORD,
                 NULL, &mhz, &size);
    return mhz ? mhz : (uint32_t)(clock_frequency() / 1000000);
}

uint64_t clock_monotonic_ms(void)
{
    int64_t ticks = clock_ticks(), frequency = clock_frequency();
    return (uint64_t)(ticks / frequency * 1000 + ticks % frequency * 1000 / frequency);
}

/* Computes the time from GetTickCount64. The system's BootTime is not used, because under Wine it is the start of
   wineserver. */
int64_t clock_boot_utc(void)
{
    return clock_utc() - (int64_t)GetTickCount64() * 10000;
}

static int64_t from_system_time(const SYSTEMTIME *s)
{
    struct calendar_time t = {.year = s->wYear,
                              .month = s->wMonth,
                              .day = s->wDay,
                              .hour = s->wHour,
                              .minute = s->wMinute,
                              .second = s->wSecond,
                              .millisecond = s->wMilliseconds};
    return clock_from_calendar(&t);
}

/* Finds the zone's rules for `year`; they can differ from the current rules. The rules are in the registry, and reading
   it is slow under Wine, so the rules for the latest year are cached for a second. */
static bool zone_of_year(int year, TIME_ZONE_INFORMATION *zone)
{
    static struct lock lock = LOCK_INIT;
    static struct {
        int year;
        uint64_t read; /* ms */
        TIME_ZONE_INFORMATION zone;
    } kept;
    uint64_t now = clock_monotonic_ms();
    bool found = true;

    lock_enter(&lock);
    if (kept.year != year || now - kept.read > 1000) {
        found = GetTimeZoneInformationForYear((USHORT)year, NULL, &kept.zone);
        kept.year = found ? year : 0;
        kept.read = now;
    }
    *zone = kept.zone;
    lock_leave(&lock);
    return found;
}

int clock_bias_minutes(int64_t utc)
{
    struct calendar_time t = clock_calendar(utc);
    SYSTEMTIME universal = {.wYear = (WORD)t.year,
                            .wMonth = (WORD)t.month,
                            .wDay = (WORD)t.day,
                            .wHour = (WORD)t.hour,
                            .wMinute = (WORD)t.minute,
                            .wSecond = (WORD)t.second};
    SYSTEMTIME local;
    TIME_ZONE_INFORMATION zone;
    if (t.year < 1601 || t.year > 30827 || !zone_of_year(t.year, &zone) ||
        !SystemTimeToTzSpecificLocalTime(&zone, &universal, &local))
        return 0;
    return (int)((from_system_time(&universal) - from_system_time(&local)) / 600000000);
}

char *clock_zone_name(void)
{
    TIME_ZONE_INFORMATION zone;
    char *name;
    if (GetTimeZoneInformation(&zone) == TIME_ZONE_ID_INVALID)
        return text_copy("");
    zone.StandardName[31] = 0;
    return SUCCEEDED(text_from_utf16(zone.StandardName, wcslen(zone.StandardName), true, &name)) ? name : NULL;
}
