/* SPDX-License-Identifier: MIT */
/* Threshold files of PAL are converted to rules with the same meaning. If a threshold cannot be converted, it is
   listed. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/pal_import.h"
#include "tests/unit/rules/rules_report.h"

#define LONG_LOOP                                                                                                      \
    "ForEach ($i in $disk)\n{\n  For ($t = 0; $t -lt $i.QuantizedAvg.Count; $t++)\n  {\n"                              \
    "    $IsMinThresholdBroken = $False; $IsAvgThresholdBroken = $False; $IsMaxThresholdBroken = $False\n"             \
    "    If ($i.QuantizedAvg[$t] -ge 0.02) { $IsAvgThresholdBroken = $True }\n"                                        \
    "    If ($i.QuantizedMax[$t] -ge 0.05) { $IsMaxThresholdBroken = $True }\n"                                        \
    "    If (($IsMinThresholdBroken -eq $True) -or ($IsAvgThresholdBroken -eq $True) -or\n"                            \
    "        ($IsMaxThresholdBroken -eq $True))\n    {\n"                                                              \
    "      CreateAlert -TimeSliceIndex $t -CounterInstanceObject $i -IsAvgThresholdBroken $IsAvgThresholdBroken\n"     \
    "    }\n  }\n}"
#define RATIO                                                                                                          \
    "For($i=0;$i -lt $free.Count;$i++)\n{\n  $al = New-Object System.Collections.ArrayList\n"                          \
    "  For($t=0;$t -lt $free[$i].Value.Count;$t++)\n  {\n    $a = $free[$i].Value[$t]\n"                               \
    "    $b = $size[$i].Value[$t]\n    If ($b -gt 0) { $r = [int](($a / $b) * 100) } Else { $r = 0 }\n"                \
    "    [void] $al.Add([int] $r)\n  }\n}"

static const char questions[] =
    "<QUESTION QUESTIONVARNAME='Health' DATATYPE='string' DEFAULTVALUE='300'>Seconds?</QUESTION>"
    "<QUESTION QUESTIONVARNAME='Oltp' DATATYPE='boolean' DEFAULTVALUE='False'>Many small transactions?</QUESTION>"
    "<QUESTION QUESTIONVARNAME='PhysicalMemory' DATATYPE='string' DEFAULTVALUE='2'>How many GB?</QUESTION>"
    "<QUESTION QUESTIONVARNAME='Raid' DATATYPE='string' DEFAULTVALUE='C:, D:'>Disks?</QUESTION>";
static const char sources[] =
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='disk' EXPRESSIONPATH='\\LogicalDisk(*)\\Avg. Disk sec/Read' "
    "DATATYPE='round3'><EXCLUDE INSTANCE='_TOTAL'/></DATASOURCE>"
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='free' EXPRESSIONPATH='\\LogicalDisk(*)\\Free Megabytes' "
    "DATATYPE='integer'/>"
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='size' EXPRESSIONPATH='\\LogicalDisk(*)\\Size' "
    "DATATYPE='integer'/>"
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='cpu' EXPRESSIONPATH='\\processor(*)\\% PROCESSOR time' "
    "DATATYPE='integer'/>"
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='cpu#1+==>x' EXPRESSIONPATH='\\Processor(_total)\\% Processor "
    "Time' "
    "DATATYPE='integer'/>"
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='page' EXPRESSIONPATH='\\SQLServer:Buffer Manager\\Page life' "
    "DATATYPE='integer' ISCOUNTEROBJECTREGULAREXPRESSION='True' "
    "REGULAREXPRESSIONCOUNTERPATH='\\(MSSQL|SQLServer).*:Buffer Manager\\Page life'/>"
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='odd' EXPRESSIONPATH='\\X:Y\\Z' "
    "ISCOUNTEROBJECTREGULAREXPRESSION='True' "
    "REGULAREXPRESSIONCOUNTERPATH='\\X(?=:)Y\\Z'/>"
    "<DATASOURCE TYPE='CounterLog' COLLECTIONVARNAME='mem' EXPRESSIONPATH='\\Memory\\Available MBytes' "
    "DATATYPE='integer'/>"
    "<DATASOURCE TYPE='Generated' COLLECTIONVARNAME='part' EXPRESSIONPATH='\\LogicalDisk(*)\\% Free' "
    "DATATYPE='integer'>"
    "<CODE><![CDATA[" RATIO "]]></CODE></DATASOURCE>"
    "<DATASOURCE TYPE='Generated' COLLECTIONVARNAME='magic' EXPRESSIONPATH='\\Magic\\Magic' DATATYPE='integer'>"
    "<CODE>$x = Get-Magic</CODE></DATASOURCE>";

/* Disk C: is slow on average, D: is slow only at its peak, and E: is not slow. */
static const char report[] =
    "<Report name='r'><Header>%s</Header><Section name='s'>"
    "<Table name='t' source='LogicalDisk'><Header><Data name='counter'/></Header>"
    "<Item><Data name='counter'>Avg. Disk sec/Read</Data><Data name='instance'>C:</Data><Data name='mean'>0.021</Data>"
    "<Data name='min'>0</Data><Data name='max'>0.04</Data><Data name='trend'>5</Data></Item>"
    "<Item><Data name='counter'>Avg. Disk sec/Read</Data><Data name='instance'>D:</Data><Data name='mean'>0.001</Data>"
    "<Data name='min'>0</Data><Data name='max'>0.06</Data><Data name='trend'>-5</Data>"
    "<Table name='slices' note='300'><Item><Data name='start'>2026-01-01T00:00:00</Data><Data name='end'>"
    "2026-01-01T00:05:00</Data><Data name='mean'>0.001</Data><Data name='min'>0</Data><Data "
    "name='max'>0.06</Data></Item>"
    "<Item><Data name='start'>2026-01-01T00:05:00</Data><Data name='end'>2026-01-01T00:10:00</Data><Data name='mean'/>"
    "<Data name='min'/><Data name='max'/></Item></Table></Item>"
    "<Item><Data name='counter'>Avg. Disk sec/Read</Data><Data name='instance'>E:</Data><Data name='mean'>0.001</Data>"
    "<Data name='min'>0</Data><Data name='max'>0.002</Data><Data name='trend'>0</Data></Item>"
    "<Item><Data name='counter'>Avg. Disk sec/Read</Data><Data name='instance'>_Total</Data><Data name='mean'>9</Data>"
    "<Data name='min'>9</Data><Data name='max'>9</Data><Data name='trend'>99</Data></Item>"
    "<Item><Data name='counter'>Free Megabytes</Data><Data name='instance'>C:</Data><Data name='mean'>10</Data></Item>"
    "<Item><Data name='counter'>Free Megabytes</Data><Data name='instance'>D:</Data><Data name='mean'>10</Data></Item>"
    "<Item><Data name='counter'>Free Megabytes</Data><Data name='instance'>E:</Data><Data name='mean'>10</Data></Item>"
    "<Item><Data name='counter'>Size</Data><Data name='instance'>C:</Data><Data name='mean'>20</Data></Item>"
    "<Item><Data name='counter'>Size</Data><Data name='instance'>D:</Data><Data name='mean'>100</Data></Item>"
    "<Item><Data name='counter'>Size</Data><Data name='instance'>E:</Data><Data name='mean'>0</Data></Item></Table>"
    "<Table name='p' source='Processor'><Header/>"
    "<Item><Data name='counter'>%% Processor Time</Data><Data name='instance'>0</Data><Data name='mean'>50</Data>"
    "<Data name='min'>1</Data><Data name='max'>60.4</Data></Item>"
    "<Item><Data name='counter'>%% Processor Time</Data><Data name='instance'>1</Data><Data name='mean'>50</Data>"
    "<Data name='min'>1</Data><Data name='max'>60.4</Data></Item>"
    "<Item><Data name='counter'>%% Processor Time</Data><Data name='instance'>_Total</Data><Data name='mean'>50</Data>"
    "<Data name='min'>1</Data><Data name='max'>60.4</Data></Item></Table>"
    "<Table name='m' source='MSSQL$A:Buffer Manager'><Header/><Item><Data name='counter'>Page life</Data>"
    "<Data name='mean'>250</Data><Data name='min'>250</Data><Data name='max'>250</Data></Item></Table>"
    "<Table name='n' source='MSOLAP:Buffer Manager'><Header/><Item><Data name='counter'>Page life</Data>"
    "<Data name='mean'>250</Data><Data name='min'>1</Data><Data name='max'>999</Data></Item></Table>"
    "<Table name='q' source='Memory'><Header/><Item><Data name='counter'>Available MBytes</Data>"
    "<Data name='mean'>90</Data><Data name='min'>90</Data><Data name='max'>90</Data></Item></Table>"
    "</Section></Report>";

struct imported {
    struct pal_imported pal;
    struct ruled ruled;
};

static char *pal_file(const char *thresholds)
{
    char *text = text_format("<?xml version='1.0'?><PAL PALVERSION='2.0' NAME='T'>%s<ANALYSIS NAME='A' ENABLED='True' "
                             "CATEGORY='C' ID='{1}'>%s%s</ANALYSIS></PAL>",
                             questions, sources, thresholds);
    assert_non_null(text);
    return text;
}

/* Imports a file with these thresholds, and runs the rules over the report. */
static void import_with(struct imported *i, const char *folder, const char *thresholds, const char *answer, bool means,
                        const char *header)
{
    struct texts answers = {0};
    char *text = pal_file(thresholds), *over = text_format(report, header);
    if (answer)
        assert_int_equal(texts_add(&answers, answer), S_OK);
    const HRESULT hr = pal_import(
        &(struct pal_job){.path = "t.xml", .text = text, .size = strlen(text), .answers = &answers, .means = means},
        &i->pal);
    if (FAILED(hr))
        fail_msg("%s", error_keep(hr).text);
    rules_write_file(folder, "report.xml", over);
    rules_run_over(&i->ruled, folder, i->pal.rules);
    assert_int_equal(i->ruled.hr, S_OK);
    assert_no_fault(&i->ruled);
    texts_free(&answers);
    memory_free(text);
    memory_free(over);
}

static void imported_free(struct imported *i)
{
    pal_imported_free(&i->pal);
    ruled_free(&i->ruled);
}

/* Asserts that there is one warning for each word in `words`, in the same order, whose symptom contains the word. */
static void assert_warns(struct imported *i, const char *words)
{
    const struct rules_outcome *o = &i->ruled.outcome;
    size_t at = 0;
    for (const char *c = words; *c; at++) {
        const size_t n = strcspn(c, " ");
        char *word = text_copy_n(c, n);
        if (at >= o->warning_count || !strstr(o->warnings[at].symptom, word))
            fail_msg("warning %u: \"%s\" has no '%s'", (unsigned)at,
                     at < o->warning_count ? o->warnings[at].symptom : "(none)", word);
        memory_free(word);
        c += n + (c[n] != 0);
    }
    if (at != o->warning_count)
        fail_msg("one more: \"%s\"", o->warnings[at].symptom);
}

#define THRESHOLD(name, condition, priority, code)                                                                     \
    "<THRESHOLD NAME='" name "' CONDITION='" condition "' PRIORITY='" priority "'><CODE><![CDATA[" code                \
    "]]></CODE></THRESHOLD>"
#define STATIC(c, o, t) "StaticThreshold -CollectionOfCounterInstances " c " -Operator " o " -Threshold " t

struct expectation {
    const char *code, *warns; /* instances with a warning, in the order of the report */
};

static void expect_all(void **state, const struct expectation *all, size_t count, const char *answer,
                       const char *header)
{
    for (size_t n = 0; n < count; n++) {
        struct imported i;
        char *threshold = text_format("<THRESHOLD NAME='t' CONDITION='Waning' PRIORITY='50'><CODE><![CDATA[%s]]></CODE>"
                                      "</THRESHOLD>",
                                      all[n].code);
        import_with(&i, *state, threshold, answer, false, header);
        if (i.pal.lost.count)
            fail_msg("'%s': %s", all[n].code, i.pal.lost.items[0]);
        assert_int_equal(i.pal.mapped, 1);
        assert_false(rules_know_nothing(&i.ruled.outcome)); /* the rules could check the report */
        assert_warns(&i, all[n].warns);
        for (size_t k = 0; k < i.ruled.outcome.warning_count; k++)
            assert_int_equal(i.ruled.outcome.warnings[k].severity, RULES_WARNING);
        memory_free(threshold);
        imported_free(&i);
    }
}
#define EXPECT_ALL(all, answer, header) expect_all(state, all, sizeof(all) / sizeof *(all), answer, header)

/* As in PAL, gt and ge compare the highest value, and lt and le compare the lowest. */
static void literal_limits_are_compared(void **state)
{
    static const struct expectation all[] = {
        {STATIC("$disk", "'gt'", "0.05"), "D:"},
        {STATIC("$disk", "'gt'", "0.06"), ""},
        {STATIC("$disk", "ge", "0.06"), "D:"},
        {STATIC("$disk", "\"lt\"", "0.001"), "C: D: E:"},
        {STATIC("$disk", "'le'", "-1"), ""},
        {STATIC("$disk", "'eq'", "0.06"), "D:"},
        {STATIC("$disk", "'ne'", "0"), "C: D: E:"},
        {STATIC("$cpu", "'gt'", "60"), ""}, /* PAL rounds values to the decimals of the limit */
        {STATIC("$cpu", "'gt'", "60.2"), "(0) (1) (_Total)"},
        {STATIC("$cpu#1+==>x", "'gt'", "59"), "(_Total)"},
        {STATIC("$cpu#1+==>x.", "'gt'", "59"), "(_Total)"},
        {"# gt 1\n<# $x #>\n" STATIC("$mem", "'lt'", "0.1KB") " # a comment", "Memory"},
        {"\r\n" STATIC("$mem", "'lt'", "(10 * 9 - 1)"), ""},
        {"staticthreshold -operator gt -threshold 0x10 `\n -collection $mem", "Memory"},
        {STATIC("$disk", "'gt'", "4") " -IsTrendOnly $True", "C:"},
        {STATIC("$disk", "'lt'", "-4") " -IsTrendOnly:$true", "D:"},
        {STATIC("$page", "'lt'", "300"), "MSSQL$A"},
        {STATIC("$disk", "'gt'", "0.05") "\n" STATIC("$mem", "lt", "100"), "D: Memory"},
    };
    EXPECT_ALL(all, NULL, "");
}

static void means_are_compared_if_requested(void **state)
{
    struct imported i;
    import_with(&i, *state, THRESHOLD("t", "Critical", "100", STATIC("$disk", "gt", "0.02")), NULL, true, "");
    assert_warns(&i, "C:");
    assert_int_equal(i.ruled.outcome.warnings[0].severity, RULES_ERROR);
    imported_free(&i);
}

static void answers_select_conditions(void **state)
{
    static const struct expectation usual[] = {
        {STATIC("$page", "lt", "$Health"), "MSSQL"},
        {STATIC("$page", "lt", "($health * 0.7)"), ""},
        {"$x = [double] $Health * 0.9\n" STATIC("$page", "lt", "$x"), "MSSQL"},
        {"If ($Oltp -eq $True) { " STATIC("$mem", "lt", "1") " } Else { " STATIC("$mem", "lt", "100") " }", "Memory"},
        {"If ($Oltp) { $l = 1 } ElseIf ($Health -gt 299) { $l = 95 } Else { $l = 2 }\n" STATIC("$mem", "lt", "$l"),
         "Memory"},
    };
    static const struct expectation answered[] = {
        {STATIC("$page", "lt", "($health * 0.7)"), "MSSQL"},
        {"If ('400' -eq $HEALTH -and -not ($Oltp)) { " STATIC("$mem", "lt", "100") " }", "Memory"},
    };
    EXPECT_ALL(usual, NULL, "");
    EXPECT_ALL(answered, "health=400", "");
}

/* The report contains the memory size in MB. PAL asks for it in GB; if the user answers, the answer is used. */
static void memory_is_that_of_the_report(void **state)
{
    static const struct expectation share[] = {
        {"$l = [int] $PhysicalMemory * 1024 * 0.05\nif ($l -lt 64) { $l = 64 }\n" STATIC("$mem", "lt", "$l"),
         "Memory"}};
    static const struct expectation little[] = {
        {"$l = $PhysicalMemory * 1024 * 0.05\nif ($l -lt 64) { $l = 64 }\n" STATIC("$mem", "lt", "$l"), ""}};
    EXPECT_ALL(share, NULL, "");
    EXPECT_ALL(share, NULL, "<Data name='memory'>2048</Data>");
    EXPECT_ALL(little, NULL, "<Data name='memory'>1024</Data>");
    EXPECT_ALL(little, "PhysicalMemory=1", "<Data name='memory'>2048</Data>");
}

static void processors_are_counted(void **state)
{
    static const struct expectation all[] = {
        {"$n = $cpu.Count - 1\n" STATIC("$cpu", "gt", "($n * 30)"), "(0) (1) (_Total)"},
        {"$n = $cpu.Length - 1\n" STATIC("$cpu", "gt", "($n * 31)"), ""},
    };
    EXPECT_ALL(all, NULL, "");
}

static void loops_over_a_counter_are_conditions(void **state)
{
    static const struct expectation all[] = {
        {LONG_LOOP, "C: D:"},
        {"ForEach ($i in $disk) { If ($i.QuantizedAvg[$t] -gt 0.02 -or $i.QuantizedMax[$t] -gt 1) { CreateAlert } }",
         "C:"},
        {"ForEach ($i in $disk) { If (($i.QuantizedMax[$t] -gt 0.01) -and ($i.CounterInstance -ne 'c:')) { CreateAlert "
         "} }",
         "D:"},
        {"ForEach ($i in $disk) { If ($i.QuantizedTrend[$t] -gt 1) { CreateAlert -IsTrendThresholdBroken $True } }",
         "C:"},
        {"$all = $Raid.Split(',')\nForEach ($i in $disk) { ForEach ($d in $all) { If ($i.CounterInstance -eq $d) { "
         "If ($i.QuantizedMax[$t] -gt 0.001) { CreateAlert } } } }",
         "C: D:"},
        {"ForEach ($i in $disk) { If ($i.CounterInstance -match '^[ce]:$') { If ($i.QuantizedMax[$t] -gt 0.001) { "
         "CreateAlert } } }",
         "C: E:"},
    };
    EXPECT_ALL(all, NULL, "");
}

/* Counters may be computed by PAL's code or from other counters. Nothing may be divided by zero. */
static void computed_counters_are_computed(void **state)
{
    struct imported i;
    import_with(&i, *state, THRESHOLD("t", "Warning", "50", STATIC("$part", "lt", "20")), NULL, false, "");
    assert_int_equal(i.pal.mapped, 1);
    assert_warns(&i, "D:");
    assert_non_null(strstr(i.ruled.outcome.warnings[0].symptom, ": 10"));
    imported_free(&i);
    import_with(&i, *state, THRESHOLD("t", "Warning", "50", STATIC("$part", "gt", "20")), NULL, false, "");
    assert_warns(&i, "C:");
    imported_free(&i);
}

/* PAL shows only the highest priority of an analysis. */
static void a_higher_priority_hides_lower_ones(void **state)
{
    struct imported i;
    import_with(&i, *state,
                THRESHOLD("low", "Warning", "50", STATIC("$disk", "gt", "0.03"))
                    THRESHOLD("high", "Critical", "100", STATIC("$disk", "gt", "0.05")),
                NULL, false, "");
    assert_int_equal(i.ruled.outcome.warning_count, 2);
    assert_non_null(strstr(i.ruled.outcome.warnings[0].symptom, "high: \\LogicalDisk(D:)"));
    assert_non_null(strstr(i.ruled.outcome.warnings[1].symptom, "low: \\LogicalDisk(C:)"));
    assert_non_null(strstr(i.ruled.outcome.warnings[0].when, "2026-01-01 00:00 to 00:05, 5 min in total"));
    imported_free(&i);
}

static void missing_trend_is_reported(void **state)
{
    struct imported i;
    import_with(&i, *state, THRESHOLD("falls", "Critical", "100", STATIC("$mem", "lt", "-1") " -IsTrendOnly $True"),
                NULL, false, "");
    assert_int_equal(i.ruled.outcome.warning_count, 1);
    assert_string_equal(i.ruled.outcome.warnings[0].symptom, "Not checked: falls");
    assert_int_equal(i.ruled.outcome.warnings[0].severity, RULES_INFORMATION);
    struct text_buffer patterns = {0};
    assert_int_equal(rules_slice_patterns(i.ruled.rules, &patterns), S_OK);
    assert_string_equal(patterns.text, "i/Available MBytes/"); /* the report must have slices for this counter */
    text_buffer_free(&patterns);
    imported_free(&i);
}

/* Each threshold that is dropped must be listed with the reason. */
static void other_thresholds_are_listed_with_reasons(void **state)
{
    static const struct {
        const char *code, *why;
    } all[] = {
        {"", "it has no code"},
        {"# only a comment", "it has no code"},
        {"For Each i in x\nIf a > 1 Then\nb = 1\nEnd If\nNext", "it is VBScript for PAL 1"},
        {"$a = 1", "its code creates no alert"},
        {"If ($Oltp) { " STATIC("$mem", "lt", "1") " }", "its code creates no alert with these answers"},
        {STATIC("$nowhere", "gt", "1"), "'$nowhere' is not a counter of the analysis"},
        {STATIC("$mem", "gt", "$nowhere"), "its limit '$nowhere' is not supported"},
        {STATIC("$odd", "gt", "1"), "the regular expression 'X(?=:)Y' uses an unsupported kind of group"},
        {STATIC("$magic", "gt", "1"), "the computation of '\\Magic\\Magic' is not supported"},
        {STATIC("$part", "gt", "1") " -IsTrendOnly $True", "it uses the trend of a computed counter"},
        {"ForEach ($i in $disk) { ForEach ($j in $cpu) { If ($i.QuantizedAvg[$t] -gt 1 -and $j.QuantizedAvg[$t] -gt 1) "
         "{ "
         "CreateAlert } } }",
         "its code compares several counters in a loop"},
        {"ForEach ($i in $disk) { If ($i.QuantizedAvg[$t] -gt 1) { continue } CreateAlert }",
         "its code uses 'continue'"},
        {"ForEach ($i in $disk) { If ($i.QuantizedAvg[$t] -gt (Get-Limit)) { CreateAlert } }",
         "its code depends on 'get'"},
        {"ForEach ($i in $disk) { CreateAlert }", "without a condition on a counter"},
    };
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        struct imported i;
        char *threshold =
            text_format("<THRESHOLD NAME='t' CONDITION='Warning'><CODE><![CDATA[%s]]></CODE></THRESHOLD>", all[n].code);
        import_with(&i, *state, threshold, NULL, false, "");
        assert_int_equal(i.pal.thresholds, 1);
        if (i.pal.mapped || i.pal.lost.count != 1 || !strstr(i.pal.lost.items[0], all[n].why))
            fail_msg("'%s': %s", all[n].code, i.pal.lost.count ? i.pal.lost.items[0] : "not listed");
        assert_non_null(strstr(i.pal.lost.items[0], "t.xml: analysis 'A': threshold 't': "));
        assert_non_null(strstr(i.pal.rules, "Not imported: t.xml"));
        assert_int_equal(i.ruled.outcome.warning_count, 0);
        memory_free(threshold);
        imported_free(&i);
    }
}

static void descriptions_become_plain_text(void **state)
{
    struct imported i;
    import_with(
        &i, *state,
        "<THRESHOLD NAME='{x} costs $(y) &amp; \"z\"' CONDITION='Warning'><CODE>" STATIC(
            "$mem", "lt",
            "100") "</CODE><DESCRIPTION><![CDATA[<P>First &amp; <B>second</b>.<BR>Third<ul><LI>one<li>two</ul>"
                   "<script>evil()</script><!-- no --><a HREF=\"https://example.org/a?b=1&c=2\">here</a> &lt;{v}&gt; "
                   "$(w)"
                   "<a href='javascript:x'>not</a> a < b<o:p></o:p>&#65;&nbsp;&unknown;]]></DESCRIPTION></THRESHOLD>",
        NULL, false, "");
    assert_int_equal(i.ruled.outcome.warning_count, 1);
    const struct rules_warning *w = &i.ruled.outcome.warnings[0];
    assert_non_null(strstr(w->symptom, "{x} costs $(y) & \"z\": \\Memory\\Available MBytes: the minimum is 90"));
    assert_string_equal(w->details,
                        "Minimum 90, mean 90, maximum 90.\nFirst & second.\nThird\n- one\n- two\nhere <{v}> "
                        "$(w)not a < bA &unknown;");
    assert_string_equal(w->resolution, "See https://example.org/a?b=1&c=2");
    imported_free(&i);
}

static void disabled_analyses_are_disabled_rules(void **state)
{
    (void)state;
    struct pal_imported i;
    static const char text[] =
        "<PAL><ANALYSIS NAME='A' ENABLED='False'><DATASOURCE COLLECTIONVARNAME='m' EXPRESSIONPATH='\\Memory\\x'/>"
        "<THRESHOLD NAME='t' CONDITION='Warning'><CODE>StaticThreshold -Coll $m -Op gt -Thr "
        "1</CODE></THRESHOLD></ANALYSIS>"
        "</PAL>";
    assert_int_equal(pal_import(&(struct pal_job){.path = "t", .text = text, .size = strlen(text)}, &i), S_OK);
    assert_int_equal(i.mapped, 1);
    assert_non_null(strstr(i.rules, "<Rule name=\"A: t\" enabled=\"false\">"));
    pal_imported_free(&i);
}

#define INHERITED(file) "<INHERITANCE FILEPATH='" file "'/>"
#define ANALYSIS(name, id, threshold)                                                                                  \
    "<ANALYSIS NAME='" name "' ID='" id "'><DATASOURCE COLLECTIONVARNAME='m' EXPRESSIONPATH='\\Memory\\x'/>"           \
    "<THRESHOLD NAME='" threshold "' CONDITION='Warning'><CODE>StaticThreshold -Coll $m -Op gt -Thr 1</CODE>"          \
    "</THRESHOLD></ANALYSIS>"

/* Inherited files are read depth-first, each file only once; the case of their names makes no difference. If several
   files have the same analysis or question, the nearest one is used. */
static void files_inherit_from_others(void **state)
{
    struct pal_imported i;
    char *path = path_join(*state, "top.xml");
    rules_write_file(*state, "top.xml",
                     "<PAL>" INHERITED("BASE.xml") INHERITED("") INHERITED("missing.xml") INHERITED("../outside.xml")
                         INHERITED("broken.xml") ANALYSIS("same name", "{1}", "own1")
                             ANALYSIS("x", "{same}", "own2") "</PAL>");
    rules_write_file(*state, "Base.xml",
                     "<PAL>" INHERITED("top.xml") INHERITED("deep.xml") ANALYSIS("SAME name", "{2}", "hidden1")
                         ANALYSIS("y", "{SAME}", "hidden2") ANALYSIS(
                             "z", "{3}", "base") "<QUESTION QUESTIONVARNAME='q' DEFAULTVALUE='1'>a</QUESTION></PAL>");
    rules_write_file(
        *state, "deep.xml",
        "<PAL>" ANALYSIS("w", "{4}", "deep") "<QUESTION QUESTIONVARNAME='Q' DEFAULTVALUE='2'>b</QUESTION></PAL>");
    rules_write_file(*state, "broken.xml", "<PAL>");
    assert_int_equal(pal_import(&(struct pal_job){.path = path}, &i), S_OK);
    assert_int_equal(i.thresholds, 4);
    assert_int_equal(i.mapped, 4);
    static const char *const there[] = {"own1", "own2", "base", "deep"};
    for (size_t k = 0; k < 4; k++)
        assert_non_null(strstr(i.rules, there[k]));
    assert_null(strstr(i.rules, "hidden"));
    assert_int_equal(i.question_count, 1);
    assert_string_equal(i.questions[0].value, "1");
    assert_int_equal(i.lost.count, 3);
    assert_non_null(strstr(i.lost.items[0], "top.xml: inherits from 'missing.xml', which is not read: no such file"));
    assert_non_null(strstr(i.lost.items[1], "'../outside.xml', which is not read: expected the name of a file"));
    assert_non_null(strstr(i.lost.items[2], "'broken.xml', which is not read: invalid XML"));
    pal_imported_free(&i);
    memory_free(path);
}

static void invalid_files_and_answers_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *answer, *why;
    } all[] = {
        {"<Rules/>", NULL, "Rules"},
        {"<PAL>", NULL, "invalid XML"},
        {"<!DOCTYPE PAL [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><PAL>&a;</PAL>", NULL, "document type declaration"},
        {"<PAL/>", "a=1", "unknown question 'a' (the file asks none)"},
        {"<PAL><QUESTION QUESTIONVARNAME='b' DEFAULTVALUE='1'/></PAL>", "a=1",
         "unknown question 'a' (the file asks b)"},
        {"<PAL/>", "a", "invalid answer 'a': expected NAME=VALUE"},
    };
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        struct pal_imported i;
        struct texts answers = {0};
        if (all[n].answer)
            assert_int_equal(texts_add(&answers, all[n].answer), S_OK);
        const HRESULT hr = pal_import(
            &(struct pal_job){.path = "t.xml", .text = all[n].text, .size = strlen(all[n].text), .answers = &answers},
            &i);
        assert_true(FAILED(hr));
        if (!strstr(error_keep(hr).text, all[n].why))
            fail_msg("%s", error_keep(hr).text);
        pal_imported_free(&i);
        texts_free(&answers);
    }
}

/* If any allocation fails, an error is returned, and nothing may leak. */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    char *text = pal_file(THRESHOLD("t", "Warning", "50", LONG_LOOP)
                              THRESHOLD("u", "Critical", "9", STATIC("$part", "gt", "1")));
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n += 1 + n / 16) {
        struct pal_imported i;
        memory_fail_at(n);
        hr = pal_import(&(struct pal_job){.path = "t.xml", .text = text, .size = strlen(text)}, &i);
        memory_fail_at(0);
        pal_imported_free(&i);
    }
    assert_int_equal(hr, S_OK);
    memory_free(text);
}

static int make(void **state)
{
    *state = scratch_create("pal_import");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_limits_are_compared),    cmocka_unit_test(means_are_compared_if_requested),
        cmocka_unit_test(answers_select_conditions),      cmocka_unit_test(memory_is_that_of_the_report),
        cmocka_unit_test(processors_are_counted),         cmocka_unit_test(loops_over_a_counter_are_conditions),
        cmocka_unit_test(computed_counters_are_computed), cmocka_unit_test(a_higher_priority_hides_lower_ones),
        cmocka_unit_test(missing_trend_is_reported),      cmocka_unit_test(other_thresholds_are_listed_with_reasons),
        cmocka_unit_test(descriptions_become_plain_text), cmocka_unit_test(disabled_analyses_are_disabled_rules),
        cmocka_unit_test(files_inherit_from_others),      cmocka_unit_test(invalid_files_and_answers_are_errors),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, make, scratch_end);
}
