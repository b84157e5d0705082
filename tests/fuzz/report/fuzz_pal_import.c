/* SPDX-License-Identifier: MIT */
/* Any bytes as a threshold file of PAL, or as the code of a threshold and of a computed counter: no crash, each
   threshold is imported or listed, and the rules are valid and run. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/report/pal_import.h"
#include "engine/report/rules.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char report[] =
    "<Report name='r'><Section name='s'><Table name='t' source='O'><Header/><Item><Data name='counter'>a</Data>"
    "<Data name='instance'>x</Data><Data name='mean'>1.5</Data></Item><Item><Data name='counter'>b</Data>"
    "<Data name='mean'>2</Data><Table name='slices' note='60'><Item><Data name='mean'>2</Data></Item></Table></Item>"
    "</Table></Section></Report>";

static void must(bool right)
{
    if (!right)
        abort();
}

/* Bytes below 48 select pieces of PowerShell; other bytes are copied. */
static void add_code(struct text_buffer *b, const uint8_t *data, size_t size)
{
    static const char *const pieces[] = {
        "StaticThreshold -CollectionOfCounterInstances $a -Operator 'gt' -Threshold ",
        " -IsTrendOnly $True\n",
        "ForEach ($i in $a) {",
        "For ($t = 0; $t -lt 3; $t++) {",
        "If (",
        ") {",
        "}",
        "ElseIf (",
        "Else {",
        "CreateAlert -TimeSliceIndex $t\n",
        "$i.QuantizedAvg[$t]",
        "$i.QuantizedMax[$t]",
        "$i.QuantizedTrend[$t]",
        "$i.CounterInstance",
        " -gt ",
        " -and ",
        " -or ",
        " -eq ",
        " -match ",
        " -like ",
        "$x = ",
        "$x",
        "$q",
        "$b",
        "$g",
        "$a[$i].Value[$t]",
        "$b[$i].Value[$t]",
        ".Count",
        ".Split(',')",
        " -contains ",
        "[int]",
        "[math]::Max(",
        "@(",
        "$True",
        "$null",
        "'C:'",
        "'^(a|b).*$'",
        "10MB",
        "0.5",
        " # c\n",
        "<# c #>",
        "\n",
        "-not ",
        "Function f {",
        "(",
        ")",
        "{",
        "`\n",
    };
    for (size_t i = 0; i < size; i++)
        if (data[i] < sizeof pieces / sizeof *pieces)
            text_buffer_add(b, pieces[data[i]]);
        else
            text_buffer_add_utf8(b, (const char *)&data[i], 1);
}

static char *build_file(const uint8_t *data, size_t size)
{
    struct text_buffer b = {0}, code = {0};
    add_code(&code, data, size);
    text_buffer_add(&code, "");
    must(code.text);
    for (char *c = code.text; *c; c++)
        *c = ((unsigned char)*c < 0x20 && *c != '\n') || !strncmp(c, "]]>", 3) ? ' ' : *c;
    text_buffer_format(
        &b,
        "<PAL NAME='n'><QUESTION QUESTIONVARNAME='q' DEFAULTVALUE='4'>RAM (GB)</QUESTION><ANALYSIS NAME='A'>"
        "<DATASOURCE COLLECTIONVARNAME='a' EXPRESSIONPATH='\\O(*)\\a' DATATYPE='integer'/>"
        "<DATASOURCE COLLECTIONVARNAME='b' EXPRESSIONPATH='\\O\\b' DATATYPE='round2'/>"
        "<DATASOURCE TYPE='Generated' COLLECTIONVARNAME='g' EXPRESSIONPATH='\\O\\g'><CODE><![CDATA[%s]]></CODE>"
        "</DATASOURCE><THRESHOLD NAME='t' CONDITION='Warning'><CODE><![CDATA[%s]]></CODE><DESCRIPTION>"
        "<![CDATA[%s]]></DESCRIPTION></THRESHOLD><THRESHOLD NAME='u' CONDITION='Critical'><CODE>"
        "StaticThreshold -Coll $g -Op lt -Thr 1</CODE></THRESHOLD></ANALYSIS></PAL>",
        code.text, code.text, code.text);
    text_buffer_free(&code);
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

static char *path;

static void clean(void)
{
    (void)file_delete(path);
    memory_free(path);
}

static void check_rules(const struct pal_imported *i)
{
    struct rules *r = rules_create();
    struct rules_outcome outcome = {0};
    const HRESULT hr = r ? rules_add(r, "Rules", i->rules, i->size) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        fprintf(stderr, "%s\n%s\n", error_keep(hr).text, i->rules);
        abort();
    }
    for (size_t k = 0; k < rules_errors(r)->count; k++) {
        fprintf(stderr, "%s\n%s\n", rules_errors(r)->items[k], i->rules);
        abort();
    }
    must(rules_apply(&(struct rules_job){.rules = r, .report = path}, &outcome) == S_OK);
    rules_outcome_free(&outcome);
    rules_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pal_imported i;
    if (!path) {
        path = text_format("fuzz_pal_import.%u.tmp", (unsigned)process_own_id());
        must(path && !atexit(clean) && SUCCEEDED(file_store(path, report, strlen(report))));
    }
    const bool whole = size && data[0] == '<';
    char *made = whole ? text_copy_n((const char *)data, size) : build_file(data, size);
    must(made);
    const HRESULT hr = pal_import(&(struct pal_job){.path = "t.xml", .text = made, .size = strlen(made)}, &i);
    must(whole ? hr == S_OK || hr == OPENPLA_E_MALFORMED_XML : SUCCEEDED(hr) || !text_is_utf8(made, strlen(made)));
    if (SUCCEEDED(hr)) {
        must(i.rules && i.mapped + i.lost.count >= i.thresholds);
        check_rules(&i);
    }
    pal_imported_free(&i);
    memory_free(made);
    return 0;
}
