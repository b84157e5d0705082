/* SPDX-License-Identifier: MIT */
/* The object Thermal Zone Information, from /sys/class/thermal. A zone has no other name than the type that its driver
   reports, such as acpitz or x86_pkg_temp. */
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

#define THERMAL_ZONE_ROWS                                                                                              \
    COLUMN(MILLIDEGREES, "millidegrees")                                                                               \
    COLUMN(ZERO_CELSIUS, "zero_celsius")                                                                               \
    COUNTER("Temperature", PERF_COUNTER_RAWCOUNT, 0, 0, NO_TOTAL, "millidegrees / 1000 + zero_celsius / 10",           \
            "Temperature of the zone, in kelvins.")                                                                    \
    COUNTER("High Precision Temperature", PERF_COUNTER_RAWCOUNT, 0, 0, NO_TOTAL, "millidegrees / 100 + zero_celsius",  \
            "Temperature of the zone, in tenths of a kelvin.")

#define OBJECT thermal_zone
#define ROWS   THERMAL_ZONE_ROWS
#include "engine/pdh/core/counter_rows.inc"

struct thermal_state {
    struct table_state table;
    struct kept_files files;
    struct kept_folder zones;
};

static void close_state(void *state)
{
    struct thermal_state *s = state;
    kept_files_close(&s->files);
    kept_folder_close(&s->zones);
}

static HRESULT add_zone(struct thermal_state *s, const char *folder, size_t number)
{
    char path[512];
    const char *text;
    size_t size;
    int64_t millidegrees;
    const char *zone = s->zones.names.items[number];
    if ((size_t)snprintf(path, sizeof path, "%s/%s/type", folder, zone) >= sizeof path)
        return S_OK;
    HRESULT hr = kept_files_text(&s->files, path, &text, &size);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, text, strcspn(text, "\n"), number);
    if (!cells)
        return E_OUTOFMEMORY;
    /* Reading a disabled sensor fails. The row of its zone remains, because otherwise the next zone of the same type
       would get the name of this zone. */
    bool fits = (size_t)snprintf(path, sizeof path, "%s/%s/temp", folder, zone) < sizeof path;
    hr = fits ? kept_files_number(&s->files, path, &millidegrees) : S_FALSE;
    if (hr == S_OK) {
        cells[MILLIDEGREES] = millidegrees;
        cells[ZERO_CELSIUS] = 2732;
    }
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT thermal_zone_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct thermal_state *s = o->state;
    char folder[512];
    snprintf(folder, sizeof folder, "%s/sys/class/thermal", source_root(source));
    table_know_columns(&s->table, 1ull << MILLIDEGREES | 1ull << ZERO_CELSIUS);
    HRESULT hr = kept_folder_follow(&s->zones, folder, "thermal_zone");
    for (size_t i = 0; SUCCEEDED(hr) && i < s->zones.names.count; i++)
        hr = add_zone(s, folder, i);
    kept_files_sweep(&s->files);
    if (SUCCEEDED(hr) && !s->table.row_count)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "'%s' has no thermal zone", folder);
    return hr;
}

const struct counter_object_type pdh_thermal_zone_information = {
    .name = "Thermal Zone Information",
    .help = "The temperatures of this computer, each under the name that its sensor's driver gives it.",
    .has_instances = true,
    TABLE_OBJECT(thermal_zone, ALL_OF, struct thermal_state, thermal_zone_gather, close_state,
                 "millidegrees is from /sys/class/thermal/thermal_zoneN/temp, in thousandths of a degree Celsius; "
                 "zero_celsius is 2732, which is 0 degrees Celsius in tenths of a kelvin")};
