/* SPDX-License-Identifier: MIT */
/* Kernel events are decoded without any schema file: each class has Windows' layout in each version. `test_tdh_classic
   FILE ...` reads traces instead, and reports how many classic events were decoded to their last byte. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/mof_classes.h"
#include "engine/logs/etl_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static struct mof_classes *classes;

static int start(void **state)
{
    (void)state;
    return FAILED(mof_classes_create(&classes));
}

static int end(void **state)
{
    (void)state;
    mof_classes_free(classes);
    return 0;
}

/* For finding the offset of a property. */
struct place {
    const char *name;
    const uint8_t *begin;
    size_t at;
};

static HRESULT find_place(void *context, enum event_step step, const struct event_value *v)
{
    struct place *p = context;
    if (step == STEP_VALUE && p->name && strcmp(v->property->name, p->name) == 0 && p->at == SIZE_MAX)
        p->at = (size_t)(v->bytes - p->begin);
    return S_OK;
}

static GUID class_of(uint16_t hook)
{
    const struct etl_record r = {.kind = ETL_RECORD_SYSTEM, .id = hook};
    return *etl_record_provider(&r);
}

/* Zeros are a valid event of each class: strings and SIDs are empty. */
static void each_class_has_windows_layout(void **state)
{
    (void)state;
    static const struct {
        uint16_t hook, version;
        uint32_t pointer_size;
        size_t size;
        const char *name; /* the property at offset `at` */
        size_t at;
    } rows[] = {
        {0x0000, 2, 8, 0x118 + 4, "BootTime", 0xF8},
        {0x0000, 2, 4, 0x110 + 4, "BootTime", 0xF0},
        {0x0000, 2, 8, 0x118 + 4, "BuffersLost", 0x114},
        {0x0005, 0, 8, 36, "KernelEventVersion", 32},
        {0x0008, 0, 8, 0, NULL, 0},
        {0x0020, 2, 8, 36, NULL, 0},
        {0x0050, 2, 8, 48, "QpcOffsetFromRoot", 32},
        {0x0301, 4, 8, 36 + 4 + 1 + 6, "UserSID", 36},
        {0x0303, 3, 8, 32 + 4 + 1 + 2, "UserSID", 32},
        {0x0302, 2, 8, 24 + 4 + 1 + 2, "UserSID", 24},
        {0x0304, 1, 4, 20 + 4 + 1, "UserSID", 20},
        {0x0301, 0, 8, 16 + 4 + 1, "UserSID", 16},
        {0x0327, 5, 8, 36 + 4 + 1 + 6 + 8, "ExitTime", 47},
        {0x0327, 4, 8, 36 + 4 + 1 + 6, "UserSID", 36},
        {0x0327, 3, 8, 32 + 4 + 1 + 2, "UserSID", 32},
        {0x0327, 2, 4, 20 + 4 + 1 + 2, "UserSID", 20},
        {0x030B, 2, 8, 4, NULL, 0},
        {0x0320, 2, 8, 104, "PeakVirtualSize", 16},
        {0x0321, 2, 4, 60, "PrivatePageCount", 56},
        {0x0501, 3, 8, 72 + 2, "BasePriority", 68},
        {0x0502, 2, 8, 68, "StartAddr", 40},
        {0x0503, 1, 8, 57, "WaitMode", 56},
        {0x0504, 1, 8, 8, NULL, 0},
        {0x0501, 0, 8, 8, "ProcessId", 4},
        {0x0524, 2, 8, 24, "NewThreadWaitTime", 16},
        {0x0524, 4, 8, 24, "OldThreadState", 14},
        {0x0532, 2, 8, 8, "AdjustReason", 4},
        {0x030A, 3, 8, 56 + 2, "DefaultBase", 32},
        {0x1402, 2, 8, 56 + 2, "DefaultBase", 32},
        {0x1403, 3, 4, 44 + 2, "FileName", 44},
        {0x1404, 1, 8, 20 + 2, "FileName", 20},
        {0x030A, 0, 8, 16 + 2, "FileName", SIZE_MAX},
        {0x1421, 0, 8, 8, NULL, 0},
        {0x010A, 3, 8, 52, "IssuingThreadId", 48},
        {0x010B, 2, 8, 48, "HighResResponseTime", 40},
        {0x010C, 3, 8, 12, NULL, 0},
        {0x010E, 3, 8, 28, "Irp", 16},
        {0x0220, 0, 8, 40, "VirtualAddress", 16},
        {0x0400, 2, 8, 8 + 2, NULL, 0},
        {0x060A, 2, 8, 40, "startime", 20},
        {0x060B, 2, 8, 32, "connid", 24},
        {0x060F, 2, 8, 48, "rcvwin", 28},
        {0x061A, 2, 8, 64, "dport", 40},
        {0x061C, 2, 8, 72, "mss", 44},
        {0x0611, 2, 8, 4, NULL, 0},
        {0x080A, 2, 8, 32, "seqnum", 20},
        {0x081B, 2, 8, 56, "seqnum", 44},
        {0x0910, 2, 8, 24 + 2, "KeyHandle", 16},
        {0x0F2E, 2, 8, 16, "Count", 12},
        {0x0F49, 3, 8, 12 + 2, NULL, 0},
        {0x1820, 0, 8, 16 + 8, "Stack1", 16},
        {0x1820, 0, 8, 16 + 192 * 8, "Stack192", 16 + 191 * 8},
        {0x1825, 0, 8, 24, "StackKey", 16},
        {0x0B0A, 3, 8, 828, "HighestUserAddress", 808},
        {0x0B0A, 2, 8, 808, "DomainName", 532},
        {0x0B0B, 2, 8, 568, "BootDriveLetter", 558},
        {0x0B0C, 2, 8, 112, "FileSystem", 72},
        {0x0B0D, 2, 8, 20 + 6, "NICDescription", 20},
        {0x0B0E, 2, 8, 20 + 5 * 512 + 4, "StateFlags", 20 + 5 * 512},
        {0x0B0F, 3, 8, 12 + 10, "ServiceName", 12},
        {0x0B10, 2, 8, 8, NULL, 0},
        {0x0B11, 2, 8, 16, NULL, 0},
        {0x0B15, 3, 8, 20 + 2, "IRQNum", 12},
        {0x0B16, 2, 8, 12 + 6, NULL, 0},
        {0x0B16, 4, 8, 24 + 10, "DeviceID", 24},
        {0x0B16, 5, 8, 32 + 10, "DevStatus", 24},
        {0x0B17, 2, 8, 16 + 2, NULL, 0},
        {0x0B19, 2, 8, 112, NULL, 0},
    };
    static const uint8_t zeros[4096];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const GUID class = class_of(rows[i].hook);
        struct event_schema *schema;
        HRESULT hr = mof_classes_schema(classes, &class, (uint8_t)rows[i].hook, rows[i].version, &schema);
        if (FAILED(hr))
            fail_msg("%04X, version %u: %s", rows[i].hook, rows[i].version, error_text(hr));
        const struct event_data data = {zeros, rows[i].size, rows[i].pointer_size};
        struct place p = {rows[i].name, zeros, SIZE_MAX};
        size_t used;
        hr = event_values_walk(schema, &data, find_place, &p, &used);
        if (FAILED(hr) || used != rows[i].size)
            fail_msg("%04X, version %u: %zu of %zu bytes: %s", rows[i].hook, rows[i].version, used, rows[i].size,
                     FAILED(hr) ? error_text(hr) : "");
        if (rows[i].name && p.at != rows[i].at)
            fail_msg("%04X, version %u: %s at %zu", rows[i].hook, rows[i].version, rows[i].name, p.at);
        assert_string_equal(schema->provider_name, "MSNT_SystemTrace");
        assert_non_null(schema->opcode_name);
        event_schema_free(schema);
    }
}

static void each_built_in_class_has_schemas(void **state)
{
    (void)state;
    const struct mof_event_class *events;
    const size_t count = mof_classes_events(classes, &events);
    assert_in_range(count, 70, 1000);
    for (size_t i = 0; i < count; i++) {
        const struct mof_qualifier *types = mof_event_types(&events[i]);
        for (size_t at = 0; at < types->count; at++) {
            struct event_schema *schema;
            HRESULT hr = mof_event_schema(classes, &events[i], at, &schema);
            if (FAILED(hr))
                fail_msg("%s", error_text(hr));
            if (!schema->opcode_name)
                fail_msg("%s: type %u has no name", events[i].type_class->name, (unsigned)types->values[at].number);
            event_schema_free(schema);
        }
    }
    struct mof_field *fields;
    size_t flags;
    const struct mof_provider *providers;
    assert_int_equal(mof_classes_providers(classes, &providers), 1);
    assert_int_equal(mof_classes_fields(classes, &providers[0].guid, "Flags", &fields, &flags), S_OK);
    assert_int_equal(flags, 27);
    assert_string_equal(fields[8].name, "disk");
    assert_int_equal(fields[8].value, 0x100);
    memory_free(fields);
}

/* ---- real traces ---- */

static int read_trace(const char *path)
{
    struct etl_reader *reader;
    struct etl_record r;
    unsigned read = 0, wrong = 0;
    HRESULT hr = etl_reader_open(path, NULL, NULL, &reader);
    while (SUCCEEDED(hr) && (hr = etl_reader_next(reader, &r)) == S_OK) {
        if (r.kind != ETL_RECORD_SYSTEM && r.kind != ETL_RECORD_PERFORMANCE && r.kind != ETL_RECORD_CLASSIC)
            continue;
        const GUID class = *etl_record_provider(&r);
        struct event_schema *schema;
        struct place nothing = {.at = 0};
        size_t used = 0;
        const struct event_data data = {r.data, r.data_size, r.pointer_size ? r.pointer_size : 8};
        HRESULT one = mof_classes_schema(classes, &class, r.opcode, r.version, &schema);
        if (SUCCEEDED(one)) {
            one = event_values_walk(schema, &data, find_place, &nothing, &used);
            event_schema_free(schema);
        }
        read++;
        /* Up to seven bytes are padding, which some writers include in the size. */
        if (FAILED(one) || r.data_size - used > 7) {
            wrong++;
            printf("%s: hook %04X, version %u: %zu of %u bytes: %s\n", path, r.id, r.version, used,
                   (unsigned)r.data_size, FAILED(one) ? error_text(one) : "a rest");
        }
    }
    printf("%s: %u events of classes, %u not read\n", path, read, wrong);
    etl_reader_close(FAILED(hr) && !read ? NULL : reader);
    return wrong || FAILED(hr);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_class_has_windows_layout, start, end),
        cmocka_unit_test_setup_teardown(each_built_in_class_has_schemas, start, end),
    };
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    int result = start(NULL);
    for (int i = 1; !result && i < argc; i++)
        result = read_trace(argv[i]);
    end(NULL);
    return result;
}
