/* SPDX-License-Identifier: MIT */
/* Thresholds with any attributes over reports of any rows and slices: no crash, within limits, and the result is a
   report that rules can check again. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/report/rules.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

static const char *const attributes[] = {
    " over='1'",
    " under='5'",
    " critical='9'",
    " critical='-2.5'",
    " for='0'",
    " for='600'",
    " of='max'",
    " of='min'",
    " of='trend'",
    " of='increase'",
    " per='\\O(*)\\D'",
    " per='\\SQLServer:X\\C'",
    " minus='\\O(*)\\D'",
    " unless='\\Processor(*)\\D'",
    " factor='-100'",
    " factor='0'",
    " least='1'",
    " times='processors'",
    " times='bytes'",
    " scale='0.000000001'",
    " unit='%'",
    " severity='error'",
    " tag='{instance}'",
    " counter='\\O(*)\\C'",
    " counter='\\SQLServer:X\\C|\\O(a*)\\?'",
    " counter='\\O\\C'",
};
/* Each element has a level: 0 section, 1 table, 2 row, 3 slices, 4 slice; missing levels are opened. */
static const struct {
    unsigned level, opens;
    const char *text;
} pieces[] = {
    {0, 1, "<Table source='O'>"},
    {0, 1, "<Table source='MSSQL$A:X'>"},
    {0, 1, "<Table source='SQLServer:X'>"},
    {0, 1, "<Table source='Processor'>"},
    {1, 1, "<Item>"},
    {2, 0, "<Data name='counter'>C</Data>"},
    {2, 0, "<Data name='counter'>D</Data>"},
    {2, 0, "<Data name='counter'>% Processor Time</Data>"},
    {2, 0, "<Data name='instance'>a</Data>"},
    {2, 0, "<Data name='instance'>_Total</Data>"},
    {2, 0, "<Data name='machine'>M</Data>"},
    {2, 0, "<Data name='mean'>7</Data>"},
    {2, 0, "<Data name='mean'>1e308</Data>"},
    {2, 0, "<Data name='max'>9</Data><Data name='min'/>"},
    {2, 0, "<Data name='trend'>4</Data>"},
    {2, 1, "<Table name='slices' note='300'>"},
    {2, 1, "<Table name='slices' note='1e300'>"},
    {2, 1, "<Table name='slices' note='-1'>"},
    {3, 1, "<Item>"},
    {4, 0, "<Data name='mean'>7</Data>"},
    {4, 0, "<Data name='mean'>-1e308</Data><Data name='max'>nan</Data>"},
    {4, 0, "<Data name='max'>9</Data><Data name='min'>1</Data>"},
    {4, 0, "<Data name='start'>2026-03-02T08:00:00.000Z</Data><Data name='end'>2026-03-02T08:05:00.000Z</Data>"},
    {4, 0, "<Data name='start'>2026-03-02T09:00:00.000Z</Data><Data name='end'/>"},
    {4, 0, "<Data name='start'><b>y</b></Data>"},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Whether the attribute has not been used yet: XML allows no repeated attributes. */
static bool is_new(const char *attribute, char *seen)
{
    const char letters[] = {attribute[1], attribute[2], attribute[3], 0};
    if (strstr(seen, letters))
        return false;
    strcat(seen, letters);
    strcat(seen, " ");
    return true;
}

/* Half of the bytes are attributes of Thresholds, the other half rows. */
static char *build_rules(const uint8_t *data, size_t size)
{
    struct text_buffer b = {0};
    char seen[4 * COUNT(attributes) + 1] = "";
    text_buffer_add(&b, "<Rules><Group name='g'><Rule name='r'><Threshold");
    for (size_t i = 0; i < size; i++) {
        const char *attribute = attributes[data[i] % COUNT(attributes)];
        if (data[i] >= 0xF0) {
            text_buffer_add(&b, "><Data name='symptom'>{value} {others} {server} {when}</Data></Threshold><Threshold");
            *seen = 0;
        } else if (is_new(attribute, seen)) {
            text_buffer_add(&b, attribute);
        }
    }
    text_buffer_add(&b, "/></Rule></Group></Rules>");
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

static void change_level(struct text_buffer *b, unsigned *level, unsigned wanted)
{
    static const char *const opened[] = {"<Table source='O'>", "<Item>", "<Table name='slices' note='300'>", "<Item>"};
    static const char *const closed[] = {"</Table>", "</Item>"};
    for (; *level > wanted; --*level)
        text_buffer_add(b, closed[(*level - 1) % 2]);
    for (; *level < wanted; ++*level)
        text_buffer_add(b, opened[*level]);
}

static char *build_report(const uint8_t *data, size_t size)
{
    struct text_buffer b = {0};
    unsigned level = 0;
    text_buffer_add(&b, "<Report name='r'><Header><Data name='memory'>100</Data></Header><Section name='s'>");
    for (size_t i = 0; i < size; i++) {
        const size_t piece = data[i] % COUNT(pieces);
        change_level(&b, &level, pieces[piece].level);
        text_buffer_add(&b, pieces[piece].text);
        level += pieces[piece].opens;
    }
    change_level(&b, &level, 0);
    text_buffer_add(&b, "</Section></Report>");
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

static HRESULT count_rule(void *context, const struct rules_listed *one)
{
    *(size_t *)context += strlen(one->limits) + strlen(one->rule);
    return S_OK;
}

static HRESULT run_rules(const char *rules, const char *path)
{
    struct rules *r = rules_create();
    struct rules_outcome outcome = {0};
    struct text_buffer patterns = {0};
    size_t listed = 0;
    HRESULT hr;
    must(r);
    hr = rules_add(r, "Rules", rules, strlen(rules));
    if (SUCCEEDED(hr)) {
        must(SUCCEEDED(rules_list(r, NULL, count_rule, &listed)) && SUCCEEDED(rules_slice_patterns(r, &patterns)));
        hr = rules_apply(&(struct rules_job){.rules = r, .report = path, .output = path, .log_level = 15}, &outcome);
        must(hr == S_OK || hr == PLA_E_RULES_MANAGER_FAILED);
    }
    text_buffer_free(&patterns);
    rules_outcome_free(&outcome);
    rules_free(r);
    return hr;
}

static char *place;

static void clean(void)
{
    (void)file_delete(place);
    memory_free(place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *rules = build_rules(data, size / 2), *report = build_report(data + size / 2, size - size / 2);
    if (!place) {
        place = text_format("fuzz_thresholds.%u.tmp", (unsigned)process_own_id());
        must(place && !atexit(clean));
    }
    must(SUCCEEDED(file_store(place, report, strlen(report))));
    if (SUCCEEDED(run_rules(rules, place)))
        must(SUCCEEDED(run_rules(rules, place)));
    memory_free(rules);
    memory_free(report);
    return 0;
}
