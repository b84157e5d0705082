/* SPDX-License-Identifier: MIT */
/* Trace collectors and ETW: the session plans, and sessions started from plans with real ETW session hosts and an event
   provider in this process. */
#include "engine/pla/collect/trace_session.h"
#include "tests/unit/numbered_provider.h"

#include <string.h>

#define OWN_PROVIDER "<Guid>{22222222-0001-0002-0300-000000000000}</Guid>"

static struct object *collector_of_xml(const char *elements)
{
    struct object *c = NULL;
    char *xml = text_format("<TraceDataCollector><Name>c</Name>%s</TraceDataCollector>", elements);
    assert_non_null(xml);
    assert_int_equal(collector_create_from_xml(NULL, xml, strlen(xml), NULL, &c), S_OK);
    memory_free(xml);
    return c;
}

static HRESULT make_plan(const char *elements, const char *file, uint32_t maximum_mb, bool segmented,
                         struct trace_plan *plan)
{
    struct object *c = collector_of_xml(elements);
    const struct trace_output output = {.file = file, .maximum_mb = maximum_mb, .segmented = segmented};
    HRESULT hr = trace_plan_make(c, &output, plan);
    object_release(c);
    return hr;
}

static struct trace_plan plan_of(const char *elements, const char *file)
{
    struct trace_plan plan;
    HRESULT hr = make_plan(elements, file, 0, false, &plan);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return plan;
}

#define KERNEL(keywords)                                                                                               \
    "<TraceDataProvider><DisplayName>Kernel</DisplayName><Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid>"          \
    "<KeywordsAny>" keywords "</KeywordsAny></TraceDataProvider>"
#define FLAG(value)        "<ValueMapItem><Enabled>-1</Enabled><Value>" value "</Value></ValueMapItem>"
#define LEFT_OUT(value)    "<ValueMapItem><Enabled>0</Enabled><Value>" value "</Value></ValueMapItem>"
#define FLAG_ARRAY(values) "<ValueMapType>3</ValueMapType>" values

/* ---- plans ---- */

/* If a mode were lost, the log would differ from the requested one: it would grow without limit, start over, or be
   unreadable for any consumer. */
static void plan_has_the_modes_of_the_properties(void **state)
{
    static const struct {
        const char *elements;
        uint32_t maximum_mb;
        bool segmented;
        uint32_t mode, maximum_file;
        bool file;
    } rows[] = {
        {"", 0, false, TRACE_MODE_SEQUENTIAL, 0, true},
        {"", 7, false, TRACE_MODE_SEQUENTIAL, 7, true},
        {"", 7, true, TRACE_MODE_SEQUENTIAL, 0, true},
        {"<LogAppend>-1</LogAppend>", 7, false, TRACE_MODE_SEQUENTIAL | TRACE_MODE_APPEND, 7, true},
        {"<LogCircular>-1</LogCircular>", 7, false, TRACE_MODE_CIRCULAR, 7, true},
        {"<LogCircular>-1</LogCircular>", 7, true, TRACE_MODE_SEQUENTIAL, 0, true},
        {"<LogCircular>-1</LogCircular>", 0, false, TRACE_MODE_SEQUENTIAL, 0, true},
        {"<PreallocateFile>-1</PreallocateFile>", 7, false, TRACE_MODE_SEQUENTIAL | TRACE_MODE_PREALLOCATE, 7, true},
        {"<PreallocateFile>-1</PreallocateFile>", 0, false, TRACE_MODE_SEQUENTIAL, 0, true},
        {"<StreamMode>2</StreamMode>", 7, false, TRACE_MODE_REAL_TIME, 0, false},
        {"<StreamMode>3</StreamMode>", 7, false, TRACE_MODE_SEQUENTIAL | TRACE_MODE_REAL_TIME, 7, true},
        {"<StreamMode>3</StreamMode><LogAppend>-1</LogAppend>", 0, false, TRACE_MODE_SEQUENTIAL | TRACE_MODE_REAL_TIME,
         0, true},
        {"<StreamMode>4</StreamMode>", 0, false, TRACE_MODE_BUFFERING, 0, false},
        {"<ExtendedModes>4489216</ExtendedModes>", 0, false,
         TRACE_MODE_SEQUENTIAL | TRACE_MODE_LOCAL_SEQUENCE | TRACE_MODE_STOP_ON_HYBRID_SHUTDOWN | 0x40000, 0, true},
        {"<ExtendedModes>8192</ExtendedModes>", 7, false, TRACE_MODE_SEQUENTIAL | TRACE_MODE_USE_KBYTES, 7168, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trace_plan plan;
        assert_int_equal(make_plan(rows[i].elements, "C:\\f.etl", rows[i].maximum_mb, rows[i].segmented, &plan), S_OK);
        if (plan.mode != rows[i].mode || plan.maximum_file != rows[i].maximum_file || !plan.file == rows[i].file)
            fail_msg("row %zu: mode 0x%X, maximum %u, file %s", i, (unsigned)plan.mode, (unsigned)plan.maximum_file,
                     plan.file ? plan.file : "none");
        trace_plan_free(&plan);
    }
}

static void plan_has_the_numbers_of_the_properties(void **state)
{
    (void)state;
    struct trace_plan plan = plan_of("<BufferSize>64</BufferSize><MinimumBuffers>3</MinimumBuffers>"
                                     "<MaximumBuffers>9</MaximumBuffers><FlushTimer>2</FlushTimer>"
                                     "<ClockType>3</ClockType><SessionName>s \xC3\xA4</SessionName>" OWN_PROVIDER
                                     "<TraceDataProvider><DisplayName>p</DisplayName>" OWN_PROVIDER
                                     "<Level><Value>4</Value></Level><KeywordsAny><Value>0x8000000000000005</Value>"
                                     "</KeywordsAny><KeywordsAll><Value>4</Value></KeywordsAll>"
                                     "<Properties><Value>3</Value></Properties></TraceDataProvider>",
                                     "/f.etl");
    assert_int_equal(plan.buffer_kb, 64);
    assert_int_equal(plan.minimum_buffers, 3);
    assert_int_equal(plan.maximum_buffers, 9);
    assert_int_equal(plan.flush_timer, 2);
    assert_int_equal(plan.clock, 3);
    assert_string_equal(plan.session, "s \xC3\xA4");
    assert_string_equal(plan.file, "/f.etl");
    assert_true(guid_equal(&plan.guid, &guid));
    assert_int_equal(plan.count, 1);
    const struct trace_enable *e = &plan.enables[0];
    assert_true(guid_equal(&e->guid, &guid));
    assert_string_equal(e->name, "p");
    assert_int_equal(e->level, 4);
    assert_true(e->any == 0x8000000000000005 && e->all == 4);
    assert_int_equal(e->properties, 3);
    assert_false(e->filtered);
    trace_plan_free(&plan);
}

/* MS-PLA has only filter data; ETW has filters with a header. Without the header, an event provider would reject the
   data of MS-PLA's example. */
static void filter_data_are_a_filter_of_etw(void **state)
{
    static const char provider[] = "<TraceDataProvider>" OWN_PROVIDER "<FilterEnabled>%d</FilterEnabled><FilterType>%u"
                                   "</FilterType><FilterData>%s</FilterData></TraceDataProvider>";
    static const char headed[] = "000000000000000000000000000000001A000000000000004142";
    EVENT_FILTER_HEADER head;
    (void)state;
    char *text = text_format(provider, -1, 1u, "4142");
    struct trace_plan plan = plan_of(text, "");
    memory_free(text);
    const struct trace_enable *e = &plan.enables[0];
    assert_true(e->filtered);
    assert_int_equal(e->filter_type, EVENT_FILTER_TYPE_SCHEMATIZED);
    assert_int_equal(e->filter.count, sizeof head + 2);
    memcpy(&head, e->filter.items, sizeof head);
    assert_int_equal(head.Size, sizeof head + 2);
    assert_int_equal(head.Id, 1);
    assert_memory_equal(e->filter.items + sizeof head, "AB", 2);
    trace_plan_free(&plan);
    text = text_format(provider, -1, 0u, headed);
    plan = plan_of(text, "");
    memory_free(text);
    assert_int_equal(plan.enables[0].filter.count, sizeof head + 2);
    trace_plan_free(&plan);
    text = text_format(provider, -1, 0x80000004u, "01000000");
    plan = plan_of(text, "");
    memory_free(text);
    assert_int_equal(plan.enables[0].filter_type, 0x80000004u);
    assert_int_equal(plan.enables[0].filter.count, 4);
    trace_plan_free(&plan);
    text = text_format(provider, 0, 0u, "4142");
    plan = plan_of(text, "");
    memory_free(text);
    assert_false(plan.enables[0].filtered);
    trace_plan_free(&plan);
}

/* An item's value is checked only when a session is created from it. */
#define ITEM_OF(map, value)                                                                                            \
    "<" map "><ValueMapItem><Enabled>-1</Enabled><Value>" value "</Value></ValueMapItem></" map ">"

static void invalid_session_settings_are_named(void **state)
{
    static const char long_filter[] = "<FilterEnabled>-1</FilterEnabled><FilterData>%0*d</FilterData>";
    static const struct {
        const char *elements;
        HRESULT hr;
        const char *text;
    } rows[] = {
        {"<ProcessMode>-1</ProcessMode>", E_INVALIDARG, "ProcessMode: session 'c' has no provider"},
        {"<ExtendedModes>2048</ExtendedModes>", E_INVALIDARG, "ProcessMode: session 'c' has no provider"},
        {"<ProcessMode>-1</ProcessMode><TraceDataProvider><Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid>"
         "</TraceDataProvider>",
         E_INVALIDARG, "has a kernel provider"},
        {"<TraceDataProvider><DisplayName>nobody</DisplayName></TraceDataProvider>", E_INVALIDARG, "(nobody) is zero"},
        {KERNEL("<Value>0x100000000</Value>"), E_INVALIDARG, "KeywordsAny of provider Kernel: 0x100000000"},
        {KERNEL("") "<TraceDataProvider><Guid>{54DEA73A-ED1F-42A4-AF71-3E63D056F174}</Guid></TraceDataProvider>",
         E_INVALIDARG, "Windows Kernel Trace and Circular Kernel Context Logger cannot be in one session"},
        {"<TraceDataProvider><DisplayName>p</DisplayName>" OWN_PROVIDER
         "" ITEM_OF("Level", "256") ""
                                    "</TraceDataProvider>",
         E_INVALIDARG, "Level of provider p: 0x100 is above 0xFF"},
        {"<TraceDataProvider>" OWN_PROVIDER "" ITEM_OF("Properties", "0x100000000") "</TraceDataProvider>",
         E_INVALIDARG, "Properties of provider {22222222-0001-0002-0300-000000000000}"},
    };
    struct trace_plan plan;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        HRESULT hr = make_plan(rows[i].elements, "", 0, false, &plan);
        assert_int_equal(hr, rows[i].hr);
        if (!strstr(error_text(hr), rows[i].text))
            fail_msg("row %zu: %s", i, error_text(hr));
        assert_null(plan.session);
    }
    char *filter = text_format(long_filter, 2002, 0);
    char *elements = text_format("<TraceDataProvider>" OWN_PROVIDER "%s</TraceDataProvider>", filter);
    assert_int_equal(make_plan(elements, "", 0, false, &plan), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "has 1001 bytes (at most 1000"));
    memory_free(filter);
    memory_free(elements);
    /* A client cannot put a name that is too long. The name of a foreign session is used unchanged. */
    struct object *c = collector_of_xml("");
    const struct property *p = class_property(c->class, "SessionName");
    const struct trace_output output = {.file = ""};
    struct value name = {.kind = PROPERTY_TEXT, .text = text_format("%01025d", 0)};
    assert_int_equal(object_put(c, p, &name), PLA_E_INVALID_SESSION_NAME);
    assert_non_null(strstr(error_text(PLA_E_INVALID_SESSION_NAME), "has 1025 characters"));
    assert_int_equal(object_put_text(c, p, name.text), S_OK);
    assert_int_equal(trace_plan_make(c, &output, &plan), PLA_E_INVALID_SESSION_NAME);
    value_free(&name);
    object_release(c);
}

/* A wrong flag would record events that were not requested, or none. */
static void plan_has_the_kernel_flags(void **state)
{
    static const struct {
        const char *elements;
        uint32_t flags, masks[GROUP_MASKS];
        const char *session;
    } rows[] = {
        {KERNEL("<Value>0x10303</Value>"), 0x10303, {0x10303}, "NT Kernel Logger"},
        {KERNEL(FLAG("0x1") FLAG("0x100") LEFT_OUT("0x2")), 0x101, {0x101}, "NT Kernel Logger"},
        {KERNEL(FLAG("0x3") FLAG("0x10")), 0x13, {3, 4}, "NT Kernel Logger"},
        {KERNEL(FLAG_ARRAY(FLAG("0x1") FLAG("0x20000004") FLAG("0x20004000") FLAG("0x40000040") LEFT_OUT("0x2"))),
         0xD1,
         {1, 0x4004, 0x40},
         "NT Kernel Logger"},
        {KERNEL(FLAG_ARRAY(FLAG("0x20002000") FLAG("-2147450880"))), 0, {0, 0x2000, 0, 0, 0x8000}, "NT Kernel Logger"},
        {"<SessionName>mine</SessionName>" KERNEL(FLAG("0x2")), 2, {2}, "NT Kernel Logger"},
        {"<SessionName>mine</SessionName><ExtendedModes>0x2000000</ExtendedModes>" KERNEL(FLAG("0x2")), 2, {2}, "mine"},
        {"<ExtendedModes>0x2000000</ExtendedModes>" KERNEL(FLAG("0x2")), 2, {2}, "c"},
        {"<TraceDataProvider><Guid>{54DEA73A-ED1F-42A4-AF71-3E63D056F174}</Guid></TraceDataProvider>",
         0,
         {0},
         "Circular Kernel Context Logger"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trace_plan plan = plan_of(rows[i].elements, "");
        assert_non_null(plan.kernel);
        assert_int_equal(group_masks_flags(plan.masks), rows[i].flags);
        assert_memory_equal(plan.masks, rows[i].masks, sizeof plan.masks);
        assert_int_equal(group_masks_beyond_flags(plan.masks), i == 4);
        assert_string_equal(plan.session, rows[i].session);
        assert_int_equal(guid_equal(&plan.guid, &plan.kernel->guid), trace_plan_is_reserved(&plan));
        trace_plan_free(&plan);
    }
}

/* Each allocation of a plan fails in turn. */
static void plan_without_memory_fails(void **state)
{
    (void)state;
    struct object *c = collector_of_xml("<TraceDataProvider><DisplayName>p</DisplayName>" OWN_PROVIDER
                                        "<FilterEnabled>-1</FilterEnabled><FilterData>4142</FilterData>"
                                        "</TraceDataProvider>" KERNEL(FLAG("0x1")));
    const struct trace_output output = {.file = "f"};
    struct trace_plan plan;
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        memory_fail_at(n);
        hr = trace_plan_make(c, &output, &plan);
        memory_fail_at(0);
        assert_true(n < 200);
    }
    assert_int_equal(hr, S_OK);
    trace_plan_free(&plan);
    object_release(c);
}

/* ---- sessions ---- */

static char *file_named(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

static struct trace_session started(const struct trace_plan *plan)
{
    struct trace_session s;
    HRESULT hr = trace_session_start(plan, &s);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return s;
}

/* Returns the number of lost events. */
static uint64_t stopped(struct trace_session *s)
{
    struct trace_target t = trace_target_of(s);
    struct trace_session last;
    assert_int_equal(trace_session_stop(&t, &last), S_OK);
    const uint64_t lost = last.events_lost;
    trace_session_free(&last);
    trace_session_free(s);
    return lost;
}

static void stop_it(struct trace_session *s)
{
    assert_int_equal(stopped(s), 0);
}

static void write_event(REGHANDLE provider, uint8_t level, uint64_t keyword, uint64_t number)
{
    const EVENT_DESCRIPTOR event = {.Id = 7, .Level = level, .Keyword = keyword};
    EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)&number, .Size = sizeof number};
    assert_int_equal(EventWrite(provider, &event, 1, &data), ERROR_SUCCESS);
}

/* Returns the numbers of the log's events, as one bit each. */
static uint64_t numbers_in(const char *path)
{
    struct etl_reader *reader;
    struct etl_record record;
    uint64_t bits = 0;
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &record) == S_OK)
        if (record.kind == ETL_RECORD_MANIFEST) {
            const uint64_t bit = UINT64_C(1) << get_u64(record.data);
            assert_false(bits & bit);
            bits |= bit;
        }
    etl_reader_close(reader);
    return bits;
}

#define ENABLED(level, any)                                                                                            \
    "<TraceDataProvider>" OWN_PROVIDER "<Level><Value>" #level "</Value></Level><KeywordsAny><Value>" #any             \
    "</Value></KeywordsAny></TraceDataProvider>"

/* The log contains exactly the requested events, even if the session changes while it runs, and no event is lost
   between two files. */
static void session_changes_lose_no_events(void **state)
{
    (void)state;
    REGHANDLE provider;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &provider), ERROR_SUCCESS);
    char *one = file_named("one.etl"), *two = file_named("two.etl");
    struct trace_plan from = plan_of("<SessionName>changes</SessionName>" ENABLED(4, 1), one),
                      to = plan_of("<SessionName>changes</SessionName><FlushTimer>3</FlushTimer>" ENABLED(2, 3), two),
                      none = plan_of("<SessionName>changes</SessionName><FlushTimer>3</FlushTimer>", two),
                      other = plan_of("<SessionName>changes</SessionName><BufferSize>9</BufferSize>", two);
    struct trace_session s = started(&from), now, gone;
    const struct trace_target t = trace_target_of(&s), by_name = {.name = "CHANGES"};
    assert_int_equal(s.is.buffer_kb, 8);
    assert_string_equal(s.is.file, one);
    write_event(provider, 4, 1, 0);
    write_event(provider, 5, 1, 1);
    write_event(provider, 4, 2, 2);
    assert_int_equal(trace_session_update(&t, &from, &to, &now), S_OK);
    assert_int_equal(now.is.flush_timer, 3);
    assert_string_equal(now.is.file, two);
    trace_session_free(&now);
    write_event(provider, 4, 1, 3);
    write_event(provider, 2, 2, 4);
    assert_int_equal(trace_session_update(&by_name, &to, &none, &now), S_OK);
    trace_session_free(&now);
    write_event(provider, 1, 1, 5);
    assert_int_equal(trace_session_update(&t, &none, &other, &now), S_FALSE);
    assert_int_equal(trace_session_flush(&t, NULL), S_OK);
    assert_int_equal(trace_session_query(&by_name, &now), S_OK);
    assert_true(now.handle == s.handle);
    trace_session_free(&now);
    assert_int_equal(trace_session_stop(&t, &gone), S_OK);
    trace_session_free(&gone);
    assert_int_equal(trace_session_query(&t, &now), HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND)), "trace session 'changes'"));
    assert_true(numbers_in(one) == 1);
    assert_true(numbers_in(two) == 0x10);
    trace_plan_free(&from);
    trace_plan_free(&to);
    trace_plan_free(&none);
    trace_plan_free(&other);
    trace_session_free(&s);
    memory_free(one);
    memory_free(two);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* An event provider can be enabled by eight sessions. The ninth session must get an error; if it started, it would have
   no events, and nobody would know why. */
static void event_provider_that_cannot_be_enabled_is_named(void **state)
{
    enum { SESSIONS_OF_ONE = 8 };
    struct trace_session s[SESSIONS_OF_ONE], ninth;
    (void)state;
    for (int i = 0; i < SESSIONS_OF_ONE; i++) {
        char *elements = text_format("<SessionName>of %d</SessionName><StreamMode>2</StreamMode>" ENABLED(4, 1), i);
        struct trace_plan plan = plan_of(elements, NULL);
        s[i] = started(&plan);
        trace_plan_free(&plan);
        memory_free(elements);
    }
    char *file = file_named("ninth.etl");
    struct trace_plan plan =
        plan_of("<SessionName>ninth</SessionName><TraceDataProvider><Guid>"
                "{33333333-0001-0002-0300-000000000000}</Guid></TraceDataProvider>"
                "<TraceDataProvider><DisplayName>the ninth's</DisplayName>" OWN_PROVIDER "</TraceDataProvider>",
                file);
    const HRESULT full = HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(trace_session_start(&plan, &ninth), full);
    assert_non_null(strstr(error_text(full), "provider the ninth's {22222222-0001-0002-0300-000000000000}"));
    assert_non_null(strstr(error_text(full), "trace session 'ninth'"));
    assert_false(file_exists(file));
    const struct trace_target t = {.name = "ninth"};
    assert_int_equal(trace_session_query(&t, &ninth), HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND));
    struct trace_plan without = plan_of("<SessionName>ninth</SessionName>", file);
    struct trace_session now;
    ninth = started(&without);
    assert_int_equal(trace_session_update(&t, &without, &plan, &now), full);
    assert_int_equal(trace_session_providers(&ninth), S_OK);
    assert_int_equal(ninth.is.count, 0);
    stop_it(&ninth);
    for (int i = 0; i < SESSIONS_OF_ONE; i++)
        stop_it(&s[i]);
    trace_plan_free(&plan);
    trace_plan_free(&without);
    memory_free(file);
}

static void name_in_use_is_reported(void **state)
{
    (void)state;
    struct trace_plan plan = plan_of("<SessionName>taken</SessionName><StreamMode>2</StreamMode>", NULL);
    struct trace_session s = started(&plan), again;
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
    assert_int_equal(trace_session_start(&plan, &again), taken);
    assert_non_null(strstr(error_text(taken), "trace session 'taken'"));
    stop_it(&s);
    trace_plan_free(&plan);
}

static struct trace_session kernel_as_it_is(void)
{
    struct trace_session now;
    assert_int_equal(trace_session_query(&(struct trace_target){.name = "NT Kernel Logger"}, &now), S_OK);
    assert_int_equal(trace_session_providers(&now), S_OK);
    assert_int_equal(now.is.count, 1);
    assert_true(guid_equal(&now.is.enables[0].guid, &kernel_providers[0].guid));
    return now;
}

/* Enables flags of all masks, changes them while the session runs, and enables an event provider in a program as well.
   Processes that exit too early for the polling source count as lost. */
static void kernel_session_has_its_flags(void **state)
{
    (void)state;
    struct trace_plan plan = plan_of("<StreamMode>2</StreamMode>" KERNEL(FLAG("0x1") FLAG("0x10")), NULL),
                      all = plan_of("<StreamMode>2</StreamMode>" KERNEL(FLAG_ARRAY(FLAG("0x2") FLAG("0x20002004"))),
                                    NULL);
    struct trace_session s = started(&plan), again, now = kernel_as_it_is();
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
    assert_memory_equal(now.is.masks, plan.masks, sizeof plan.masks);
    trace_session_free(&now);
    assert_int_equal(trace_session_start(&plan, &again), taken);
    assert_non_null(strstr(error_text(taken), "trace session 'NT Kernel Logger'"));
    const struct trace_target t = trace_target_of(&s);
    assert_int_equal(trace_session_update(&t, &plan, &all, &now), S_OK);
    trace_session_free(&now);
    now = kernel_as_it_is();
    assert_memory_equal(now.is.masks, all.masks, sizeof all.masks);
    trace_session_free(&now);
    (void)stopped(&s);
    s = started(&all);
    now = kernel_as_it_is();
    assert_memory_equal(now.is.masks, all.masks, sizeof all.masks);
    trace_session_free(&now);
    (void)stopped(&s);
    trace_plan_free(&all);
    trace_plan_free(&plan);
}

static void sessions_are_listed_with_their_providers(void **state)
{
    (void)state;
    struct trace_plan plan = plan_of("<SessionName>listed</SessionName><StreamMode>2</StreamMode>" ENABLED(3, 0), NULL);
    struct trace_session s = started(&plan), *list;
    size_t count, found = 0;
    assert_int_equal(trace_sessions_list(&list, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        found += !strcmp(list[i].is.session, "listed") && list[i].handle == s.handle && !list[i].is.file;
    assert_int_equal(found, 1);
    trace_sessions_free(list, count);
    assert_int_equal(trace_session_providers(&s), S_OK);
    assert_int_equal(s.is.count, 1);
    assert_true(s.is.enables[0].any == UINT64_MAX); /* ETW stores the keyword mask 0 as all ones, so 0 cannot be read
                                                       back */
    assert_true(trace_enable_same(&s.is.enables[0], &plan.enables[0]));
    stop_it(&s);
    trace_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_has_the_modes_of_the_properties),
        cmocka_unit_test(plan_has_the_numbers_of_the_properties),
        cmocka_unit_test(filter_data_are_a_filter_of_etw),
        cmocka_unit_test(invalid_session_settings_are_named),
        cmocka_unit_test(plan_has_the_kernel_flags),
        cmocka_unit_test(plan_without_memory_fails),
        cmocka_unit_test(session_changes_lose_no_events),
        cmocka_unit_test(event_provider_that_cannot_be_enabled_is_named),
        cmocka_unit_test(name_in_use_is_reported),
        cmocka_unit_test(kernel_session_has_its_flags),
        cmocka_unit_test(sessions_are_listed_with_their_providers),
    };
    return run_numbered("trace_session", tests, sizeof tests / sizeof *tests);
}
