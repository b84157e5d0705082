/* SPDX-License-Identifier: MIT */
/* Tests row by row how StartTrace responds to EVENT_TRACE_PROPERTIES, and which settings the sessions then have. */
#include "engine/base/memory.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/etl_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define M(name) TRACE_MODE_##name

enum { NAMES = 2048, TRACED_GUID = 0x20000 };
static const struct trace_machine machine = {.processors = 4, .memory = UINT64_C(8) << 30};

struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR session[NAMES], file[NAMES];
};

static struct block block_of(const WCHAR *file)
{
    struct block b = {.p = {.Wnode = {.BufferSize = sizeof b, .Flags = TRACED_GUID}}};
    b.p.LoggerNameOffset = offsetof(struct block, session);
    b.p.LogFileNameOffset = offsetof(struct block, file);
    for (size_t i = 0; file && file[i]; i++)
        b.file[i] = file[i];
    return b;
}

static ULONG start(const struct block *b, const WCHAR *name, bool autologger, struct trace_settings *s)
{
    const struct trace_call call = {.properties = &b->p, .name = name, .wide = true, .autologger = autologger};
    ULONG status = trace_properties_check(&call, s);
    if (!status)
        status = trace_settings_complete(s, autologger, &machine);
    if (status)
        trace_settings_free(s);
    return status;
}

static ULONG status_of(const struct block *b, const WCHAR *name)
{
    struct trace_settings s;
    const ULONG status = start(b, name, false, &s);
    trace_settings_free(&s);
    return status;
}

/* ---- the properties block, in the order of the checks ---- */

static void each_mistake_has_its_code(void **state)
{
    (void)state;
    struct trace_settings s;
    struct block b = block_of(u"C:\\x.etl");
    assert_int_equal(status_of(&b, u"name"), ERROR_SUCCESS);
    assert_int_equal(trace_properties_check(&(struct trace_call){NULL, u"name", true, false}, &s),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(status_of(&b, NULL), ERROR_INVALID_NAME);
    b.p.Wnode.BufferSize = 119;
    assert_int_equal(status_of(&b, u"name"), ERROR_BAD_LENGTH);
    static const struct {
        ULONG offset, status;
    } offsets[] = {{0, 0},
                   {1, ERROR_INVALID_PARAMETER},
                   {119, ERROR_INVALID_PARAMETER},
                   {120, 0},
                   {sizeof b - 2, 0},
                   {sizeof b, ERROR_INVALID_PARAMETER},
                   {UINT32_MAX, ERROR_INVALID_PARAMETER}};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        b = block_of(u"C:\\x.etl");
        b.p.LogFileMode = M(REAL_TIME);
        b.p.LogFileNameOffset = offsets[i].offset;
        assert_int_equal(status_of(&b, u"n"), offsets[i].status);
        b.p.LogFileNameOffset = 0;
        b.p.LoggerNameOffset = offsets[i].offset;
        const ULONG room = offsets[i].offset == sizeof b - 2 ? ERROR_BAD_LENGTH : offsets[i].status;
        assert_int_equal(status_of(&b, u"n"), room);
    }
}

static void names_are_read_within_the_block(void **state)
{
    (void)state;
    static WCHAR name[1026];
    struct block b = block_of(u"C:\\x.etl");
    struct trace_settings s;
    for (size_t i = 0; i < NAMES; i++)
        b.file[i] = u'x';
    assert_int_equal(status_of(&b, u"name"), ERROR_BAD_LENGTH);
    b = block_of(u"");
    assert_int_equal(status_of(&b, u"name"), ERROR_BAD_PATHNAME);
    b.p.LogFileMode = M(BUFFERING);
    assert_int_equal(status_of(&b, u"name"), ERROR_SUCCESS);
    assert_int_equal(status_of(&b, u""), ERROR_INVALID_NAME);
    for (size_t i = 0; i < 1024; i++)
        name[i] = u'n';
    assert_int_equal(status_of(&b, name), ERROR_SUCCESS);
    name[1024] = u'n';
    assert_int_equal(status_of(&b, name), ERROR_INVALID_NAME);
    b = block_of(u"C:\\\x00DC.etl");
    b.p.Wnode.Guid.Data1 = 5;
    assert_int_equal(start(&b, u"n\x00E4me", false, &s), ERROR_SUCCESS);
    assert_string_equal(s.name, "n\xC3\xA4me");
    assert_string_equal(s.file, "C:\\\xC3\x9C.etl");
    assert_int_equal(s.guid.Data1, 5);
    trace_settings_free(&s);
    /* The ANSI variant of the block. */
    memcpy(b.file, "C:\\a.etl", 9);
    const struct trace_call narrow = {.properties = &b.p, .name = "bytes"};
    assert_int_equal(trace_properties_check(&narrow, &s), ERROR_SUCCESS);
    assert_string_equal(s.name, "bytes");
    assert_string_equal(s.file, "C:\\a.etl");
    trace_settings_free(&s);
}

static void kernel_loggers_have_their_names_and_guids(void **state)
{
    (void)state;
    static const GUID kernel = {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}};
    struct block b = block_of(u"C:\\x.etl");
    struct trace_settings s;
    assert_int_equal(start(&b, u"nt kernel LOGGER", false, &s), ERROR_SUCCESS);
    assert_true(s.kernel && guid_equal(&s.guid, &kernel));
    trace_settings_free(&s);
    b.p.Wnode.Guid = kernel;
    assert_int_equal(status_of(&b, u"mine"), ERROR_INVALID_PARAMETER);
    assert_int_equal(start(&b, u"NT Kernel Logger", false, &s), ERROR_SUCCESS);
    trace_settings_free(&s);
    assert_int_equal(start(&b, u"Circular Kernel Context Logger", false, &s), ERROR_INVALID_PARAMETER);
}

static void a_new_file_needs_a_pattern(void **state)
{
    (void)state;
    static const struct {
        const WCHAR *file;
        ULONG status;
    } files[] = {{u"C:\\x%d.etl", 0},
                 {u"C:\\x.etl", ERROR_INVALID_NAME},
                 {u"C:\\x%D.etl", ERROR_INVALID_NAME},
                 {u"C:\\x%d%d.etl", ERROR_INVALID_NAME},
                 {u"C:\\x%", ERROR_INVALID_NAME},
                 {u"C:\\100%%d.etl", ERROR_INVALID_NAME}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct block b = block_of(files[i].file);
        b.p.LogFileMode = M(NEWFILE);
        b.p.MaximumFileSize = 1;
        assert_int_equal(status_of(&b, u"name"), files[i].status);
    }
}

static void extension_must_be_inside_the_block(void **state)
{
    (void)state;
    const ULONG at = offsetof(struct block, session), words = (sizeof(struct block) - at) / 4;
    const struct {
        ULONG flags, status;
        uint16_t length;
    } rows[] = {
        {0x80000000u | at | 8u << 16, 0, 0},
        {0x80000000u | at, ERROR_INVALID_PARAMETER, 0},
        {0x80000000u | 8u << 16, ERROR_INVALID_PARAMETER, 0},
        {0x80000000u | 116u | 8u << 16, ERROR_INVALID_PARAMETER, 0},
        {0x80000000u | (ULONG)(sizeof(struct block) - 28) | 8u << 16, ERROR_INVALID_PARAMETER, 0},
        {0x80000000u | 0xFFFFu | 8u << 16, ERROR_INVALID_PARAMETER, 0},
        {0x80000000u | at | 255u << 16, 0, 16},
        {0x80000000u | at | 255u << 16, ERROR_INVALID_PARAMETER, 0},
        {0x80000000u | at | 255u << 16, ERROR_INVALID_PARAMETER, (uint16_t)(words + 1)},
        {0x7FFFFFFFu, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct block b = block_of(u"C:\\x.etl");
        b.p.EnableFlags = rows[i].flags;
        b.session[0] = rows[i].length;
        assert_int_equal(status_of(&b, u"name"), rows[i].status);
    }
}

/* Many programs leave Wnode.Flags 0 or set WNODE_FLAG_ALL_DATA, and must be able to start a session. */
static void sessions_start_with_any_wnode_flags(void **state)
{
    (void)state;
    static const ULONG flags[] = {0, 1 /* WNODE_FLAG_ALL_DATA */, TRACED_GUID, TRACED_GUID | 1, 0xFF7FFFFF};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct block b = block_of(u"C:\\x.etl");
        b.p.Wnode.Flags = flags[i];
        assert_int_equal(status_of(&b, u"name"), ERROR_SUCCESS);
        b.p.Wnode.Flags |= 0x800000; /* EVENT_TRACE_PROPERTIES_V2, a larger structure */
        assert_int_equal(status_of(&b, u"name"), ERROR_INVALID_PARAMETER);
        b.p.LoggerNameOffset += 24;
        assert_int_equal(status_of(&b, u"name"), ERROR_SUCCESS);
    }
}

/* ---- LogFileMode ---- */

enum { FILE_NAMED = 1, MAXIMUM = 2, GUIDED = 4, AUTOLOGGER = 8, KERNEL = 16, REFUSED = 32, ALL = FILE_NAMED | MAXIMUM };

static void modes_are_combined_as_documented(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode, with;
    } rows[] = {
        {0, FILE_NAMED},
        {M(SEQUENTIAL), FILE_NAMED},
        {M(SEQUENTIAL) | M(CIRCULAR), ALL | REFUSED},
        {M(SEQUENTIAL) | M(BUFFERING), REFUSED},
        {M(CIRCULAR), ALL},
        {M(CIRCULAR), FILE_NAMED | REFUSED},
        {M(CIRCULAR) | M(APPEND), ALL | REFUSED},
        {M(CIRCULAR) | M(NEWFILE), ALL | REFUSED},
        {M(CIRCULAR) | M(BUFFERING), MAXIMUM | REFUSED},
        {M(CIRCULAR) | M(RELOG) | M(PRIVATE_LOGGER), ALL | GUIDED | REFUSED},
        {M(CIRCULAR) | M(REAL_TIME), ALL},
        {M(APPEND), FILE_NAMED},
        {M(APPEND) | M(SEQUENTIAL), ALL},
        {M(APPEND) | M(REAL_TIME), FILE_NAMED | REFUSED},
        {M(APPEND) | M(NEWFILE), ALL | REFUSED},
        {M(APPEND) | M(PREALLOCATE), ALL | REFUSED},
        {M(APPEND) | M(BUFFERING), REFUSED},
        {M(APPEND) | M(RELOG) | M(PRIVATE_LOGGER), FILE_NAMED | GUIDED | REFUSED},
        {M(APPEND) | M(PRIVATE_LOGGER), FILE_NAMED | GUIDED | REFUSED},
        {M(NEWFILE), ALL},
        {M(NEWFILE), FILE_NAMED | REFUSED},
        {M(NEWFILE) | M(REAL_TIME), MAXIMUM | REFUSED},
        {M(NEWFILE) | M(PREALLOCATE), ALL | REFUSED},
        {M(NEWFILE) | M(BUFFERING), MAXIMUM | REFUSED},
        {M(NEWFILE) | M(RELOG) | M(PRIVATE_LOGGER), ALL | GUIDED | REFUSED},
        {M(NEWFILE) | M(SYSTEM_LOGGER), ALL | REFUSED},
        {M(NEWFILE), ALL | KERNEL | REFUSED},
        {M(NEWFILE), ALL | AUTOLOGGER | REFUSED},
        {M(NEWFILE) | M(PRIVATE_LOGGER), ALL | GUIDED},
        {M(USE_MS_FLUSH_TIMER), FILE_NAMED},
        {M(PREALLOCATE), ALL},
        {M(PREALLOCATE), FILE_NAMED | REFUSED},
        {M(PREALLOCATE) | M(REAL_TIME), MAXIMUM | REFUSED},
        {M(PREALLOCATE) | M(PRIVATE_LOGGER), ALL | GUIDED | REFUSED},
        {M(NONSTOPPABLE) | M(CIRCULAR), ALL | REFUSED},
        {M(NONSTOPPABLE) | M(CIRCULAR), ALL | AUTOLOGGER},
        {M(NONSTOPPABLE) | M(BUFFERING), AUTOLOGGER},
        {M(NONSTOPPABLE) | M(REAL_TIME), AUTOLOGGER},
        {M(NONSTOPPABLE) | M(REAL_TIME), FILE_NAMED | AUTOLOGGER | REFUSED},
        {M(NONSTOPPABLE), FILE_NAMED | AUTOLOGGER | REFUSED},
        {M(SECURE), FILE_NAMED},
        {M(REAL_TIME), 0},
        {M(REAL_TIME), FILE_NAMED},
        {M(REAL_TIME) | M(PRIVATE_LOGGER), GUIDED | REFUSED},
        {M(REAL_TIME) | M(ADD_HEADER), REFUSED},
        {M(REAL_TIME) | M(BUFFERING), 0},
        {M(DELAY_OPEN), FILE_NAMED},
        {M(BUFFERING), 0},
        {M(BUFFERING), FILE_NAMED | REFUSED},
        {M(PRIVATE_LOGGER), FILE_NAMED | GUIDED},
        {M(PRIVATE_LOGGER), FILE_NAMED | REFUSED},
        {M(PRIVATE_LOGGER) | M(INDEPENDENT), FILE_NAMED | GUIDED},
        {M(PRIVATE_LOGGER) | M(BLOCKING), FILE_NAMED | GUIDED | REFUSED},
        {M(ADD_HEADER), FILE_NAMED},
        {M(USE_KBYTES), ALL},
        {M(USE_KBYTES), FILE_NAMED | REFUSED},
        {M(USE_KBYTES) | M(REAL_TIME), MAXIMUM | REFUSED},
        {M(GLOBAL_SEQUENCE), FILE_NAMED},
        {M(LOCAL_SEQUENCE), FILE_NAMED},
        {M(GLOBAL_SEQUENCE) | M(LOCAL_SEQUENCE), FILE_NAMED | REFUSED},
        {M(RELOG), FILE_NAMED | REFUSED},
        {M(RELOG) | M(PRIVATE_LOGGER), FILE_NAMED | GUIDED},
        {M(RELOG) | M(PRIVATE_LOGGER), FILE_NAMED | GUIDED | KERNEL | REFUSED},
        {M(PRIVATE_IN_PROC), FILE_NAMED | GUIDED | REFUSED},
        {M(PRIVATE_IN_PROC) | M(PRIVATE_LOGGER), FILE_NAMED | GUIDED},
        {M(STOP_ON_HYBRID_SHUTDOWN), FILE_NAMED},
        {M(PERSIST_ON_HYBRID_SHUTDOWN), FILE_NAMED},
        {M(STOP_ON_HYBRID_SHUTDOWN) | M(PERSIST_ON_HYBRID_SHUTDOWN), FILE_NAMED | REFUSED},
        {M(PAGED), FILE_NAMED},
        {M(PAGED) | M(SYSTEM_LOGGER), FILE_NAMED | REFUSED},
        {M(SYSTEM_LOGGER), FILE_NAMED},
        {M(COMPRESSED), FILE_NAMED},
        {M(COMPRESSED), FILE_NAMED | KERNEL | REFUSED},
        {M(COMPRESSED) | M(SYSTEM_LOGGER), FILE_NAMED | REFUSED},
        {M(COMPRESSED) | M(BUFFERING), KERNEL},
        {M(INDEPENDENT), FILE_NAMED},
        {M(NO_PER_PROCESSOR), FILE_NAMED},
        {M(BLOCKING), FILE_NAMED},
        {0x40100000, FILE_NAMED}, /* bits without a name are kept */
    };
    uint32_t tried = 0, all = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t with = rows[i].with;
        struct block b = block_of((with & FILE_NAMED) != 0 ? u"C:\\x%d.etl" : NULL);
        struct trace_settings s;
        b.p.LogFileMode = rows[i].mode;
        b.p.MaximumFileSize = (with & MAXIMUM) != 0 ? 100 : 0;
        b.p.Wnode.Guid.Data1 = (with & GUIDED) != 0;
        const WCHAR *name = (with & KERNEL) != 0 ? u"NT Kernel Logger" : u"name";
        const ULONG status = start(&b, name, (with & AUTOLOGGER) != 0, &s);
        if (status != ((with & REFUSED) != 0 ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS))
            fail_msg("mode 0x%X with %u: %u, %s", (unsigned)rows[i].mode, (unsigned)with, (unsigned)status,
                     error_text(HRESULT_FROM_WIN32((LONG)status)));
        if (status)
            assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER)), "EVENT_TRACE_"));
        tried |= rows[i].mode;
        trace_settings_free(&s);
    }
#define MODE(name, bit, documented, user, manager, needs) all |= bit;
#include "engine/etw/controller/trace_modes.def"
    assert_int_equal(tried & all, all); /* all modes were tried */
}

static void settings_of(struct trace_settings *s, uint32_t mode)
{
    const bool file = (mode & (M(REAL_TIME) | M(BUFFERING))) == 0;
    struct block b = block_of(file ? u"C:\\x.etl" : NULL);
    b.p.LogFileMode = mode;
    assert_int_equal(start(&b, u"name", false, s), ERROR_SUCCESS);
}

static void overridden_modes_are_removed(void **state)
{
    (void)state;
    struct trace_settings s;
    settings_of(&s, M(REAL_TIME) | M(BUFFERING));
    assert_int_equal(s.mode, M(BUFFERING));
    trace_settings_free(&s);
    struct block b = block_of(u"C:\\x.etl");
    b.p.LogFileMode = M(PAGED) | M(PRIVATE_LOGGER) | 0x40000000;
    b.p.Wnode.Guid.Data1 = 1;
    assert_int_equal(start(&b, u"name", false, &s), ERROR_SUCCESS);
    assert_int_equal(s.mode, M(PRIVATE_LOGGER) | 0x40000000);
    trace_settings_free(&s);
}

/* ---- defaults and limits ---- */

static void buffers_have_defaults_and_limits(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode, kb, minimum, maximum, kb_then, minimum_then, maximum_then;
    } rows[] = {
        {0, 0, 0, 0, 64, 8, 28},
        {0, 1, 0, 0, 4, 8, 28},
        {0, 4, 2, 3, 4, 8, 8},
        {0, 16384, 20, 0, 16384, 20, 40},
        {0, 16385, 0, 0, 16384, 8, 28},
        {0, 16384, 8, 1000, 16384, 8, 51}, /* limited to a tenth of 8 GB */
        {0, 64, 9, 30, 64, 9, 30},
        {0, 64, 5000, 0, 64, 4095, 4095},
        {0, 4, 8, UINT32_MAX, 4, 8, 4095},
        {M(NO_PER_PROCESSOR), 64, 0, 0, 64, 2, 22},
        {M(BUFFERING), 64, 100, 200, 64, 100, 100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct block b = block_of(rows[i].mode == M(BUFFERING) ? NULL : u"C:\\x.etl");
        struct trace_settings s;
        b.p.LogFileMode = rows[i].mode;
        b.p.BufferSize = rows[i].kb;
        b.p.MinimumBuffers = rows[i].minimum;
        b.p.MaximumBuffers = rows[i].maximum;
        assert_int_equal(start(&b, u"name", false, &s), ERROR_SUCCESS);
        assert_int_equal(s.buffer_kb, rows[i].kb_then);
        assert_int_equal(s.minimum_buffers, rows[i].minimum_then);
        assert_int_equal(s.maximum_buffers, rows[i].maximum_then);
        trace_settings_free(&s);
    }
    struct block b = block_of(u"C:\\x.etl");
    const struct trace_call call = {.properties = &b.p, .name = u"name", .wide = true};
    struct trace_settings s;
    assert_int_equal(trace_properties_check(&call, &s), ERROR_SUCCESS);
    assert_int_equal(trace_settings_complete(&s, false, &(struct trace_machine){1, 256 << 20}), ERROR_SUCCESS);
    assert_int_equal(s.buffer_kb, 8);
    assert_int_equal(s.minimum_buffers, 2);
    trace_settings_free(&s);
}

static void times_and_sizes_have_units(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode, timer, maximum, ms, timer_then;
        uint64_t bytes;
    } rows[] = {
        {0, 0, 0, 0, 0, 0},
        {0, 3, 7, 3000, 3, 7 << 20},
        {M(USE_MS_FLUSH_TIMER), 250, 0, 250, 250, 0},
        {M(REAL_TIME), 0, 0, 1000, 1, 0},
        {M(REAL_TIME) | M(USE_MS_FLUSH_TIMER), 0, 0, 1000, 1000, 0},
        {M(BUFFERING), 5, 0, 0, 5, 0},
        {M(USE_KBYTES), 0, 300, 0, 0, 300 << 10},
        {0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, (uint64_t)UINT32_MAX << 20},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct block b = block_of(rows[i].mode == M(BUFFERING) ? NULL : u"C:\\x.etl");
        struct trace_settings s;
        b.p.LogFileMode = rows[i].mode;
        b.p.FlushTimer = rows[i].timer;
        b.p.MaximumFileSize = rows[i].maximum;
        assert_int_equal(start(&b, u"name", false, &s), ERROR_SUCCESS);
        assert_int_equal(s.flush_ms, rows[i].ms);
        assert_int_equal(s.flush_timer, rows[i].timer_then);
        assert_true(s.maximum_bytes == rows[i].bytes);
        trace_settings_free(&s);
    }
}

static void each_clock_number_selects_its_clock(void **state)
{
    (void)state;
    static const uint32_t clocks[][2] = {
        {0, ETL_CLOCK_TICKS}, {1, ETL_CLOCK_TICKS}, {2, ETL_CLOCK_SYSTEM}, {3, ETL_CLOCK_CYCLES}};
    struct block b = block_of(u"C:\\x.etl");
    struct trace_settings s;
    for (size_t i = 0; i < 4; i++) {
        b.p.Wnode.ClientContext = clocks[i][0];
        assert_int_equal(start(&b, u"name", false, &s), ERROR_SUCCESS);
        assert_int_equal(s.clock, clocks[i][1]);
        trace_settings_free(&s);
    }
    b.p.Wnode.ClientContext = 4;
    assert_int_equal(status_of(&b, u"name"), ERROR_INVALID_PARAMETER);
}

static void valid_settings_have_a_shape(void **state)
{
    (void)state;
    static const uint32_t some_modes[] = {0, M(NO_PER_PROCESSOR), M(BUFFERING), M(BUFFERING) | M(NO_PER_PROCESSOR),
                                          M(REAL_TIME)};
    static const uint32_t minima[] = {0, 2, 64, 4095, UINT32_MAX}, sizes[] = {0, 4, 64, 16384};
    for (size_t i = 0; i < 5 * 5 * 4; i++) {
        const uint32_t mode = some_modes[i % 5];
        struct block b = block_of((mode & M(BUFFERING)) != 0 ? NULL : u"C:\\x.etl");
        struct trace_settings s;
        struct session_shape shape;
        uint32_t keep;
        size_t size;
        b.p.LogFileMode = mode;
        b.p.MinimumBuffers = minima[i / 5 % 5];
        b.p.BufferSize = sizes[i / 25];
        assert_int_equal(start(&b, u"name", false, &s), ERROR_SUCCESS);
        trace_settings_shape(&s, 4, &shape, &keep);
        assert_int_equal(session_buffers_size(&shape, &size), S_OK);
        assert_int_equal(shape.processors, (mode & M(NO_PER_PROCESSOR)) != 0 ? 1 : 4);
        assert_int_equal(keep != 0, (mode & M(BUFFERING)) != 0);
        assert_true(keep < shape.buffers);
        if (keep != 0 && s.minimum_buffers < 1000)
            assert_int_equal(keep, s.minimum_buffers);
        trace_settings_free(&s);
    }
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    struct block b = block_of(u"C:\\x.etl");
    struct trace_settings s = {0};
    ULONG status = 1;
    for (uint64_t n = 1; status; n++) {
        memory_fail_at(n);
        status = start(&b, u"name", false, &s);
        memory_fail_at(0);
        assert_true(!status || status == ERROR_NOT_ENOUGH_MEMORY);
    }
    trace_settings_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_code),
        cmocka_unit_test(names_are_read_within_the_block),
        cmocka_unit_test(kernel_loggers_have_their_names_and_guids),
        cmocka_unit_test(a_new_file_needs_a_pattern),
        cmocka_unit_test(extension_must_be_inside_the_block),
        cmocka_unit_test(sessions_start_with_any_wnode_flags),
        cmocka_unit_test(modes_are_combined_as_documented),
        cmocka_unit_test(overridden_modes_are_removed),
        cmocka_unit_test(buffers_have_defaults_and_limits),
        cmocka_unit_test(times_and_sizes_have_units),
        cmocka_unit_test(each_clock_number_selects_its_clock),
        cmocka_unit_test(valid_settings_have_a_shape),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
