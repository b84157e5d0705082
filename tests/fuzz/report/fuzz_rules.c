/* SPDX-License-Identifier: MIT */
/* Any bytes as rules over a report: no crash, within limits, and the result is a report that rules can check again. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/report/rules.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char report[] =
    "<Report name='r'><Section name='s'><Table name='t' source='Memory'><Header><Data name='counter'/></Header><Item>"
    "<Data name='counter'>a</Data><Data name='mean'>1.5</Data></Item><Item><Data name='counter'>{b}'\"</Data>"
    "<Data name='mean'/></Item></Table></Section><StringTable><String ID='s'>S</String></StringTable></Report>";

static void must(bool right)
{
    if (!right)
        abort();
}

/* Bytes below 32 select pieces of rules; other bytes are copied. */
static char *build_rules(const uint8_t *data, size_t size, size_t *length)
{
    static const char *const pieces[] = {
        "<Group name='g'><Rule name='r'>",
        "</Rule></Group>",
        "<Step select='//Item'>",
        "<Step fatal='true' sortType='max' sortNode='Data[2]' sortDataType='number' select='",
        "</Step>",
        "<Exists>",
        "</Exists>",
        "<When expression='",
        "</When>",
        "<Otherwise>",
        "</Otherwise>",
        "<Variable name='v' expression='",
        "<Variable name='w'>",
        "</Variable>",
        "<Insert select='",
        "<Node axis='child'><X a='{v}'>$(s)</X></Node>",
        "<Node axis='following-sibling'><Y/></Node><Node axis='preceding-sibling'><Z/></Node>",
        "<Node axis='child' document='x.xml' select='",
        "<Attribute name='a' value='{w}'/>",
        "</Insert>",
        "<Delete select='",
        "<Warning select='.' table='//Table' tag='t'><Item><Data name='symptom'>{v}</Data></Item></Warning>",
        "<Notify severity='error'>{w}</Notify>",
        "'/>",
        "'>",
        "{v}",
        "//Data[. > {v}]",
        "ancestor::*",
        "<StringTable><String ID='s'>",
        "</String></StringTable>",
        "<Import file='Rules.System.CPU.xml'/>",
        "count(//*)",
        "//Item[Data = ../Item//Data/.. | translate(., {v}, 'a')]",
    };
    struct text_buffer b = {0};
    const bool within = size && data[0] & 0x80; /* the input is the actions of a step, not a document */
    text_buffer_add(&b, within ? "<Rules><Group name='g'><Rule name='r'><Step select='//Item'><Exists><Otherwise>"
                               : "<Rules>");
    for (size_t i = within; i < size; i++)
        if (data[i] < sizeof pieces / sizeof *pieces)
            text_buffer_add(&b, pieces[data[i]]);
        else
            text_buffer_add_n(&b, (const char *)&data[i], 1);
    text_buffer_add(&b, within ? "</Otherwise></Exists></Step></Rule></Group></Rules>" : "</Rules>");
    *length = b.length;
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

static void run_rules(const char *rules, size_t length, const char *from, const char *to)
{
    struct rules *r = rules_create();
    struct rules_outcome outcome = {0};
    must(r);
    if (SUCCEEDED(rules_add(r, "Rules", rules, length))) {
        const struct rules_job job = {
            .rules = r, .report = from, .output = to, .log_level = 15, .expression_limit = 20000};
        const HRESULT hr = rules_apply(&job, &outcome);
        must(hr == S_OK || hr == PLA_E_RULES_MANAGER_FAILED);
    }
    rules_outcome_free(&outcome);
    rules_free(r);
}

static char *first, *second;

static void clean(void)
{
    (void)file_delete(first);
    memory_free(first);
    memory_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned runs;
    size_t length;
    char *rules = build_rules(data, size, &length);
    if (!first) {
        first = text_format("fuzz_rules.%u.tmp", (unsigned)process_own_id());
        second = text_format("fuzz_rules.%u.2.tmp", (unsigned)process_own_id());
        must(first && second && !atexit(clean) && SUCCEEDED(file_store(first, report, strlen(report))));
    }
    /* The rules check their own output only sometimes, because writing it takes longer than everything else. */
    const bool twice = runs++ % 16 == 0;
    run_rules(rules, length, first, twice ? second : NULL);
    if (twice && file_exists(second)) {
        run_rules(rules, length, second, NULL);
        (void)file_delete(second);
    }
    memory_free(rules);
    return 0;
}
