/* SPDX-License-Identifier: MIT */
/* Each built-in rule is tested with a report that must cause its warning, and with one just below the limit. If a rule
   had a wrong limit, path or counter name, nobody would notice that it never warns. */
#include "engine/base/xpath_pairs.h"
#include "engine/report/rules/rules_parts.h"
#include "tests/unit/rules/rules_report.h"

#define ITEM(counter, instance, figures)                                                                               \
    "<Item><Data name='counter'>" counter "</Data><Data name='instance'>" instance "</Data>" figures "</Item>"
#define MEAN(value)                                                                                                    \
    "<Data name='mean'>" value "</Data><Data name='min'>" value "</Data><Data name='max'>" value "</Data>"
#define TABLE(object, rows)                   "<Table name='t' source='" object "'>" rows "</Table>"
#define ONE(object, counter, instance, value) TABLE(object, ITEM(counter, instance, MEAN(value)))
#define CPUS                                                                                                           \
    TABLE("Processor", ITEM("% Processor Time", "_Total", MEAN("1")) ITEM("% Processor Time", "0", MEAN("1"))          \
                           ITEM("% Processor Time", "1", MEAN("1")))
#define SWITCHES(kernel, each)                                                                                         \
    TABLE("Processor", ITEM("% Privileged Time", "_Total", MEAN(kernel)) ITEM("% Processor Time", "0", MEAN("1")))     \
    ONE("System", "Context Switches/sec", "", each)
#define NETWORK(bytes)                                                                                                 \
    TABLE("Network Interface",                                                                                         \
          ITEM("Bytes Total/sec", "eth0", MEAN(bytes)) ITEM("Current Bandwidth", "eth0", MEAN("1000000")))

#define GROWN(counter, least, mean, most, last)                                                                        \
    TABLE("Process", ITEM(counter, "a",                                                                                \
                          "<Data name='mean'>" mean "</Data><Data name='min'>" least "</Data><Data name='max'>" most   \
                          "</Data><Data name='last'>" last "</Data>"))

static const struct {
    const char *pack, *tables;
    enum rules_severity severity; /* RULES_NOTHING: no warning */
    const char *symptom;
} cases[] = {
    {"CPU", ONE("Processor", "% Processor Time", "_Total", "49"), RULES_NOTHING, ""},
    {"CPU", ONE("Processor", "% Processor Time", "_Total", "50"), RULES_NOTHING, ""},
    {"CPU", ONE("Processor", "% Processor Time", "_Total", "51"), RULES_WARNING,
     "Processor time averaged 51 %: the processors have"},
    {"CPU", ONE("Processor", "% Processor Time", "_Total", "81"), RULES_ERROR,
     "Processor time averaged 81 %: the computer is CPU-bound"},
    /* If there is a 95th percentile, it is compared instead of the mean. */
    {"CPU", TABLE("Processor", ITEM("% Processor Time", "_Total", MEAN("20") "<Data name='p95'>95.128</Data>")),
     RULES_ERROR, "Processor time averaged 20 % (95th percentile 95 %): the computer is CPU-bound"},
    {"CPU", ONE("Processor", "% Privileged Time", "_Total", "19"), RULES_NOTHING, ""},
    {"CPU", ONE("Processor", "% Privileged Time", "_Total", "21"), RULES_WARNING, "Privileged (kernel) time averaged"},
    {"CPU", ONE("Processor", "% Privileged Time", "_Total", "31"), RULES_ERROR, "Privileged (kernel) time averaged"},
    {"CPU", ONE("Processor", "% Interrupt Time", "_Total", "9"), RULES_NOTHING, ""},
    {"CPU", ONE("Processor", "% Interrupt Time", "_Total", "11"), RULES_WARNING, "Interrupt time averaged"},
    {"CPU", ONE("Processor", "% Interrupt Time", "_Total", "21"), RULES_ERROR, "Interrupt time averaged"},
    {"CPU", ONE("Processor", "% DPC Time", "_Total", "9"), RULES_NOTHING, ""},
    {"CPU", ONE("Processor", "% DPC Time", "_Total", "11"), RULES_WARNING, "Deferred procedure calls (DPCs) took 11 %"},
    {"CPU", CPUS ONE("System", "Processor Queue Length", "", "3"), RULES_NOTHING, ""},
    {"CPU", CPUS ONE("System", "Processor Queue Length", "", "5"), RULES_WARNING,
     "2.5 threads were ready and waiting for each of the 2"},
    {"CPU", CPUS ONE("System", "Processor Queue Length", "", "21"), RULES_ERROR,
     "10.5 threads were ready and waiting for each of the 2"},
    /* Here the number of processors is not known. */
    {"CPU", ONE("System", "Processor Queue Length", "", "50"), RULES_NOTHING, ""},
    {"CPU", SWITCHES("10", "9000"), RULES_NOTHING, ""},
    {"CPU", SWITCHES("20", "2400"), RULES_NOTHING, ""},
    {"CPU", SWITCHES("21", "2600"), RULES_WARNING, "2600 context switches/s on each processor, with 21 %"},
    {"CPU", SWITCHES("31", "5100"), RULES_ERROR, "5100 context switches/s on each processor, with 31 %"},
    {"Memory", ONE("Memory", "Available MBytes", "", "65"), RULES_NOTHING, ""},
    {"Memory", ONE("Memory", "Available MBytes", "", "63"), RULES_ERROR, "Available memory fell to 63 MB"},
    {"Memory", ONE("Memory", "% Committed Bytes In Use", "", "79"), RULES_NOTHING, ""},
    {"Memory", ONE("Memory", "% Committed Bytes In Use", "", "81"), RULES_WARNING, "81 % of the commit limit"},
    {"Memory", ONE("Memory", "% Committed Bytes In Use", "", "91"), RULES_ERROR, "91 % of the commit limit"},
    {"Memory", ONE("Paging File", "% Usage", "_Total", "69"), RULES_NOTHING, ""},
    {"Memory", ONE("Paging File", "% Usage", "_Total", "71"), RULES_WARNING, "71 %"},
    {"Memory", ONE("Paging File", "% Usage", "_Total", "91"), RULES_ERROR, "91 %"},
    {"Memory", ONE("Memory", "Pages/sec", "", "999"), RULES_NOTHING, ""},
    {"Memory", ONE("Memory", "Pages/sec", "", "1001"), RULES_WARNING, "1001 pages/s"},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk sec/Read", "0 C:", "0.014"), RULES_NOTHING, ""},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk sec/Read", "0 C:", "0.016"), RULES_WARNING,
     "Read latency of disk 0 C: was 16 ms"},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk sec/Write", "0 C:", "0.026"), RULES_ERROR,
     "Write latency of disk 0 C: was 26 ms"},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk sec/Write", "0 C:", "0.01"), RULES_NOTHING, ""},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk sec/Transfer", "0 C:", "0.02"), RULES_WARNING,
     "Transfer latency of disk 0 C: was 20 ms"},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk sec/Transfer", "_Total", "0.02"), RULES_NOTHING, ""},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk Queue Length", "0 C:", "1.9"), RULES_NOTHING, ""},
    {"Disk", ONE("PhysicalDisk", "Avg. Disk Queue Length", "0 C:", "2.1"), RULES_WARNING,
     "2.1 requests were outstanding"},
    {"Disk", ONE("LogicalDisk", "% Free Space", "C:", "11"), RULES_NOTHING, ""},
    {"Disk", ONE("LogicalDisk", "% Free Space", "C:", "9"), RULES_WARNING, "Volume C: has only 9 % free"},
    {"Disk",
     TABLE("LogicalDisk", ITEM("% Free Space", "C:", MEAN("9")) ITEM("% Free Space", "D:", MEAN("4"))
                              ITEM("% Free Space", "E:", MEAN(""))),
     RULES_ERROR, "Volume D: has only 4 % free"},
    {"Disk", ONE("LogicalDisk", "Free Megabytes", "C:", "4001"), RULES_NOTHING, ""},
    {"Disk", ONE("LogicalDisk", "Free Megabytes", "C:", "3999"), RULES_WARNING, "3999 MB"},
    {"Disk", ONE("LogicalDisk", "Free Megabytes", "C:", "499"), RULES_ERROR, "499 MB"},
    {"Network", NETWORK("37000"), RULES_NOTHING, ""},
    {"Network", NETWORK("40000"), RULES_WARNING, "Network interface eth0 used 32 %"},
    {"Network", NETWORK("70000"), RULES_ERROR, "Network interface eth0 used 56 %"},
    {"Network", ONE("Network Interface", "Bytes Total/sec", "lo", "70000"), RULES_NOTHING, ""},
    {"Network", ONE("Network Interface", "Output Queue Length", "eth0", "1"), RULES_NOTHING, ""},
    {"Network", ONE("Network Interface", "Output Queue Length", "eth0", "1.5"), RULES_WARNING, "1.5 packets"},
    {"Network", ONE("Network Interface", "Output Queue Length", "eth0", "3"), RULES_ERROR, "3 packets"},
    {"Performance", ONE("Process", "Handle Count", "a", "16384"), RULES_NOTHING, ""},
    {"Performance", ONE("Process", "Handle Count", "a", "16385"), RULES_WARNING, "a has 16385 handles"},
    {"Performance", ONE("Process", "Handle Count", "_Total", "99999"), RULES_NOTHING, ""},
    {"Performance", ONE("Process", "Thread Count", "O'Hara {x}", "1000"), RULES_NOTHING, ""},
    {"Performance", ONE("Process", "Thread Count", "O'Hara {x}", "1001"), RULES_WARNING, "O'Hara {x} has 1001 threads"},
    /* Increases within two hours: the lowest value, the mean, the highest and the last value. */
    {"Performance", GROWN("Handle Count", "1000", "1100", "1201", "1200"), RULES_NOTHING, ""},
    {"Performance", GROWN("Handle Count", "1000", "1100", "1203", "1202"), RULES_WARNING, "a opened 101 more handles"},
    {"Performance", GROWN("Thread Count", "10", "110", "211", "210"), RULES_NOTHING, ""},
    {"Performance", GROWN("Thread Count", "10", "110", "213", "212"), RULES_WARNING, "a started 101 more threads"},
    {"Performance", GROWN("Private Bytes", "1000000000", "1100000000", "1207618048", "1207618048"), RULES_NOTHING, ""},
    {"Performance", GROWN("Private Bytes", "1000000000", "1100000000", "1211812352", "1211812352"), RULES_WARNING,
     "memory of a grew by 101 MB"},
    /* The number increased only at the beginning or only at the end, as the mean shows, or it decreased again at the
       end. */
    {"Performance", GROWN("Handle Count", "1000", "1900", "2001", "2000"), RULES_NOTHING, ""},
    {"Performance", GROWN("Handle Count", "1000", "1100", "2001", "2000"), RULES_NOTHING, ""},
    {"Performance", GROWN("Handle Count", "1000", "1500", "2000", "1500"), RULES_NOTHING, ""},
};

/* Six slices of five minutes, the first at 08:00, with the means and maxima `a` to `f`. */
#define SLICE(at, to, value)                                                                                           \
    "<Item><Data name='start'>2026-03-02T08:" at ":00.000Z</Data><Data name='end'>2026-03-02T08:" to                   \
    ":00.000Z</Data><Data name='n'>20</Data>" MEAN(value) "</Item>"
#define SLICED(object, counter, instance, mean, most, a, b, c, d, e, f)                                                \
    TABLE(object, ITEM(counter, instance,                                                                              \
                       "<Data name='mean'>" mean "</Data><Data name='max'>" most                                       \
                       "</Data><Table name='slices' note='300'>" SLICE("00", "05", a) SLICE("05", "10", b) SLICE(      \
                           "10", "15", c) SLICE("15", "20", d) SLICE("20", "25", e) SLICE("25", "30", f) "</Table>"))

/* In a long log, a load of several minutes must be found, with its time. Short peaks must not cause a warning. */
static const struct {
    const char *pack, *tables;
    enum rules_severity severity;
    const char *symptom, *when;
} spells[] = {
    {"CPU", SLICED("Processor", "% Processor Time", "_Total", "9", "100", "9", "80", "80", "80", "9", "9"),
     RULES_NOTHING, "", ""},
    {"CPU", SLICED("Processor", "% Processor Time", "_Total", "9", "99", "9", "99", "9", "81", "9", "9"), RULES_WARNING,
     "Processor time was above 80 % for 10 min in total, at worst 99 %",
     "2026-03-02 08:05 to 08:20, 10 min in total; worst at 08:05: 99 %"},
    {"CPU", SLICED("Processor", "% Processor Time", "_Total", "9", "99", "9", "81", "99", "81", "9", "9"), RULES_ERROR,
     "Processor time was above 80 % for 15 min in total, at worst 99 %",
     "2026-03-02 08:05 to 08:20, 15 min in total; worst at 08:10: 99 %"},
    /* Both a part of the log and the whole log exceed the limit, but there is only one warning. */
    {"CPU", SLICED("Processor", "% Processor Time", "_Total", "81", "99", "9", "81", "99", "9", "9", "9"), RULES_ERROR,
     "Processor time was above 80 % for 10 min", "08:10: 99 %"},
    {"CPU", SLICED("Processor", "% Processor Time", "_Total", "51", "79", "51", "51", "79", "51", "49", "49"),
     RULES_WARNING, "Processor time averaged 51 %", "2026-03-02 08:00 to 08:20, 20 min in total; worst at 08:10: 79 %"},
    {"CPU", SLICED("Processor", "% Privileged Time", "_Total", "9", "31", "9", "9", "9", "9", "9", "31"), RULES_WARNING,
     "Privileged (kernel) time was above 30 % for 5 min", "08:25 to 08:30"},
    {"CPU", SLICED("Processor", "% Interrupt Time", "_Total", "9", "21", "21", "9", "9", "9", "9", "9"), RULES_WARNING,
     "Interrupt time was above 20 % for 5 min", "08:00 to 08:05"},
    {"CPU", SLICED("Processor", "% DPC Time", "_Total", "9", "21", "21", "9", "9", "9", "9", "9"), RULES_WARNING,
     "Time in deferred procedure calls (DPCs) was above 20 %", "08:00 to 08:05"},
    {"CPU", CPUS SLICED("System", "Processor Queue Length", "", "1", "21", "1", "20", "21", "1", "1", "1"),
     RULES_WARNING, "was above 10 threads per processor for 5 min in total, at worst 21", "08:10 to 08:15"},
    {"Disk", SLICED("PhysicalDisk", "Avg. Disk sec/Read", "0 C:", "0.01", "0.35", "0.01", "0.35", "0.02", "0", "", "0"),
     RULES_WARNING, "Read latency of disk 0 C: was above 25 ms for 5 min in total, at worst 350 ms", "08:05 to 08:10"},
    {"Disk", SLICED("PhysicalDisk", "Avg. Disk sec/Write", "1", "0.01", "0.25", "0.025", "0.025", "0", "0", "0", "0"),
     RULES_NOTHING, "", ""},
    {"Disk", SLICED("PhysicalDisk", "Avg. Disk sec/Write", "1", "0.01", "0.25", "0.026", "0.025", "0", "0", "0", "0"),
     RULES_WARNING, "Write latency of disk 1 was above", "08:00 to 08:05"},
    {"Disk", SLICED("PhysicalDisk", "Avg. Disk sec/Transfer", "1", "0", "0.25", "0.026", "0.03", "0", "0", "0", "0"),
     RULES_WARNING, "Transfer latency of disk 1 was above", "08:00 to 08:10"},
    {"Disk", SLICED("PhysicalDisk", "Avg. Disk sec/Transfer", "_Total", "0", "1", "1", "1", "1", "1", "1", "1"),
     RULES_NOTHING, "", ""},
    {"Memory", SLICED("Memory", "% Committed Bytes In Use", "", "50", "91", "50", "91", "50", "50", "50", "50"),
     RULES_WARNING, "Committed memory was above 90 % of the commit limit for 5 min", "08:05 to 08:10"},
    {"Memory",
     TABLE("Memory", ITEM("Available MBytes", "",
                          "<Data name='mean'>90</Data><Data name='min'>50</Data><Data name='max'>99</Data><Table "
                          "name='slices' note='300'>" SLICE("00", "05", "99") SLICE("05", "10", "63")
                              SLICE("10", "15", "50") SLICE("15", "20", "64") "</Table>")),
     RULES_ERROR, "Available memory fell to 50 MB",
     "2026-03-02 08:05 to 08:15, 10 min in total; worst at 08:10: 50 MB"},
    {"Memory", SLICED("Memory", "Pages/sec", "", "50", "1001", "50", "1001", "50", "50", "50", "1000"), RULES_WARNING,
     "Paging was above 1,000 pages/s for 5 min", "08:05 to 08:10"},
    {"Network", SLICED("Network Interface", "Output Queue Length", "eth0", "0", "3", "0", "3", "2", "0", "0", "0"),
     RULES_WARNING, "The output queue of network interface eth0 was above 2 packets for 5 min", "08:05 to 08:10"},
};

static const char *duration = "7200.000"; /* the report's duration in seconds */
static const char *facts = "";            /* additional header facts */

static void run_pack(struct ruled *r, const char *folder, const char *pack, const char *tables, bool written)
{
    char *report = text_format("<Report name='r'><Header><Data name='duration' units='s'>%s</Data>%s</Header>"
                               "<Section name='s'>%s</Section></Report>",
                               duration, facts, tables);
    char *rules = text_format("<Rules><Import file='%%systemroot%%\\pla\\rules\\Rules.%s.xml'/></Rules>", pack);
    rules_write_file(folder, "report.xml", report);
    rules_run_limited(r, folder, rules, 0, written);
    assert_no_fault(r);
    memory_free(rules);
    memory_free(report);
}

/* Returns the highest severity of the warnings. Ignores information, which other packs may add. */
static enum rules_severity worst_problem(const struct rules_outcome *o)
{
    enum rules_severity worst = RULES_NOTHING;
    for (size_t i = 0; i < o->warning_count; i++)
        if (o->warnings[i].severity > worst && o->warnings[i].severity != RULES_INFORMATION)
            worst = o->warnings[i].severity;
    return worst;
}

/* Each limit is checked with only its pack, and with all packs. */
static void each_limit_is_exact(void **state)
{
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct ruled r;
        const size_t at = i / 2;
        char *pack = i % 2 ? text_copy("General") : text_format("System.%s", cases[at].pack);
        const bool written = at % 8 == 0;
        run_pack(&r, *state, pack, cases[at].tables, written);
        bool found = cases[at].severity == RULES_NOTHING;
        for (size_t k = 0; k < r.outcome.warning_count; k++) {
            const struct rules_warning *w = &r.outcome.warnings[k];
            found |= w->severity == cases[at].severity && strstr(w->symptom, cases[at].symptom);
            assert_true(*w->cause && *w->details && *w->resolution);
            assert_null(strchr(w->details, '$'));
            if (written)
                assert_has(&r, " rules=\"tag\">");
        }
        if (!found || worst_problem(&r.outcome) != cases[at].severity)
            fail_msg("%s: %s: %u warnings", pack, cases[at].tables, (unsigned)r.outcome.warning_count);
        ruled_free(&r);
        memory_free(pack);
    }
}

static void sustained_load_is_found_with_its_time(void **state)
{
    for (size_t i = 0; i < 2 * sizeof spells / sizeof *spells; i++) {
        struct ruled r;
        const size_t at = i / 2;
        char *pack = i % 2 ? text_copy("General") : text_format("System.%s", spells[at].pack);
        run_pack(&r, *state, pack, spells[at].tables, true);
        if (r.outcome.worst != spells[at].severity || r.outcome.warning_count != (*spells[at].symptom != 0))
            fail_msg("%s: %s: %u warnings", pack, spells[at].tables, (unsigned)r.outcome.warning_count);
        for (size_t k = 0; k < r.outcome.warning_count; k++) {
            const struct rules_warning *w = &r.outcome.warnings[k];
            if (!strstr(w->symptom, spells[at].symptom) || !strstr(w->when, spells[at].when))
                fail_msg("%s: %s: %s", pack, w->symptom, w->when);
            assert_true(*w->cause && *w->details && *w->resolution && *w->first && *w->last);
            assert_null(strpbrk(w->details, "${"));
            assert_has(&r, " rules=\"tag\">");
        }
        ruled_free(&r);
        memory_free(pack);
    }
}

/* Returns whether an expression compares pairs of nodes; "{name}" represents a variable in it. */
static bool is_paired(const char *written)
{
    char *expression = text_copy(written);
    assert_non_null(expression);
    for (char *c = expression; *c; c++)
        *c = *c == '{' ? '$' : *c == '}' ? ' ' : *c;
    const bool paired = xpath_compares_pairs(expression, true, NULL);
    memory_free(expression);
    return paired;
}

/* Asserts that no expression compares pairs of nodes, because it would be rejected for a large report (rules_parts.h).
   Returns the number of expressions. */
static size_t assert_none_is_paired(const struct shipped_schema *s)
{
    static const char *const attributes[] = {"select", "expression", "sortNode", "sortValue", "table"};
    struct xml_document d;
    size_t found = 0;
    assert_int_equal(xml_document_open(s->xml, strlen(s->xml), &d), S_OK);
    for (xmlNodePtr e = d.root; e;) {
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
            const char *written = rules_attribute(e, attributes[i]);
            if (!written)
                continue;
            found++;
            if (is_paired(written))
                fail_msg("%s: %s", s->name, written);
        }
        xmlNodePtr next = e->children;
        for (; !next && e; e = e->parent)
            next = e == d.root ? NULL : e->next;
        e = next;
    }
    xml_document_close(&d);
    return found;
}

/* If a built-in rule had an error, it would be disabled, and nobody would notice. */
static void all_packs_are_valid_and_find_nothing_in_an_empty_report(void **state)
{
    size_t count = 0, expressions = 0;
    for (const struct shipped_schema *s = shipped_rules; s->name; s++, count++) {
        struct rules *r = rules_create();
        expressions += assert_none_is_paired(s);
        assert_int_equal(rules_add_file(r, s->name), S_OK);
        for (size_t i = 0; i < rules_errors(r)->count; i++)
            fail_msg("%s", rules_errors(r)->items[i]);
        for (size_t i = 0; i < rules_notes(r)->count; i++)
            fail_msg("%s", rules_notes(r)->items[i]);
        rules_free(r);
    }
    assert_true(count >= 12 && expressions > 200);
    struct ruled r;
    run_pack(&r, *state, "General", "", true);
    assert_int_equal(r.outcome.warning_count, 0);
    assert_has_not(&r, "<Table name=\"sysHealthSummary\""); /* an overview would have no contents */
    ruled_free(&r);
}

/* When a program starts, it allocates memory and handles. In a short report, this must not cause a warning about
   growth. */
static void growth_needs_a_report_of_an_hour(void **state)
{
    static const char *const durations[] = {"3599.9", "3600", ""};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        struct ruled r;
        duration = durations[i];
        run_pack(&r, *state, "System.Performance", GROWN("Handle Count", "1000", "1100", "1203", "1202"), false);
        assert_int_equal(r.outcome.warning_count, i == 1);
        ruled_free(&r);
    }
    duration = "7200.000";
}

/* 600 MB are a large part of 1 GB, but a small part of 16 GB. */
static void memory_limits_depend_on_the_size_in_the_report(void **state)
{
#define MEMORY(size) "<Data name='computer'>BOX</Data><Data name='memory' units='MB'>" size "</Data>"
#define OF(machine, value)                                                                                             \
    TABLE("Memory", "<Item><Data name='counter'>Available MBytes</Data><Data name='machine'>" machine                  \
                    "</Data>" MEAN(value) "</Item>")
    static const struct {
        const char *facts, *tables;
        enum rules_severity severity;
        const char *symptom, *limit;
    } sizes[] = {
        {MEMORY("16000"), ONE("Memory", "Available MBytes", "", "1600"), RULES_NOTHING, "", ""},
        {MEMORY("16000"), ONE("Memory", "Available MBytes", "", "1599"), RULES_WARNING, "to 1599 of 16000 MB", "1600"},
        {MEMORY("16000"), ONE("Memory", "Available MBytes", "", "800"), RULES_WARNING, "to 800 of 16000 MB", "1600"},
        {MEMORY("16000"), ONE("Memory", "Available MBytes", "", "799"), RULES_ERROR, "to 799 of 16000 MB", "1600"},
        {MEMORY("1000"), ONE("Memory", "Available MBytes", "", "101"), RULES_NOTHING, "", ""},
        {MEMORY("1000"), ONE("Memory", "Available MBytes", "", "99"), RULES_WARNING, "to 99 of 1000 MB", "100"},
        {MEMORY("1000"), ONE("Memory", "Available MBytes", "", "63"), RULES_ERROR, "to 63 of 1000 MB", "100"},
        {MEMORY("512"), ONE("Memory", "Available MBytes", "", "65"), RULES_NOTHING, "", ""},
        {MEMORY("512"), ONE("Memory", "Available MBytes", "", "63"), RULES_ERROR, "to 63 of 512 MB", "64"},
        /* The report contains no valid size, or the size of another computer. */
        {MEMORY(""), ONE("Memory", "Available MBytes", "", "65"), RULES_NOTHING, "", ""},
        {MEMORY("much"), ONE("Memory", "Available MBytes", "", "63"), RULES_ERROR, "to 63 MB", "64"},
        {MEMORY("-5"), ONE("Memory", "Available MBytes", "", "63"), RULES_ERROR, "to 63 MB", "64"},
        {MEMORY("16000"), OF("BOX", "799"), RULES_ERROR, "to 799 of 16000 MB", "1600"},
        {MEMORY("16000"), OF("O'Hara", "799"), RULES_NOTHING, "", ""},
        {MEMORY("16000"), OF("O'Hara", "63"), RULES_ERROR, "to 63 MB", "64"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ruled r;
        facts = sizes[i].facts;
        run_pack(&r, *state, "System.Memory", sizes[i].tables, true);
        if (r.outcome.worst != sizes[i].severity)
            fail_msg("%s %s: %d", facts, sizes[i].tables, (int)r.outcome.worst);
        if (r.outcome.worst != RULES_NOTHING) {
            char *limit = text_format(" limit=\"%s\"", sizes[i].limit);
            assert_int_equal(r.outcome.warning_count, 1);
            if (!strstr(r.outcome.warnings[0].symptom, sizes[i].symptom))
                fail_msg("%s %s: %s", facts, sizes[i].tables, r.outcome.warnings[0].symptom);
            assert_has(&r, limit);
            memory_free(limit);
        }
        ruled_free(&r);
    }
    facts = "";
}

static void overview_has_a_colour_for_each_part(void **state)
{
    struct ruled r;
    run_pack(&r, *state, "General",
             ONE("Processor", "% Processor Time", "_Total", "10") ONE("Memory", "% Committed Bytes In Use", "", "85")
                 ONE("PhysicalDisk", "% Disk Time", "_Total", "99.6"),
             true);
    assert_has(&r, ">healthCpu</Data><Data name=\"status\" img=\"Green\" translate=\"1\">healthGood</Data>"
                   "<Data name=\"utilization\" units=\"%\">10</Data>");
    assert_has(&r, ">healthMemory</Data><Data name=\"status\" img=\"Yellow\" translate=\"1\">healthBusy</Data>");
    assert_has(&r, ">healthDisk</Data><Data name=\"status\" img=\"Red\" translate=\"1\">healthBad</Data>"
                   "<Data name=\"utilization\" units=\"%\">100</Data>");
    assert_has(&r, "<String ID=\"healthBusy\" rules=\"1\">busy</String>");
    ruled_free(&r);
}

/* The mean must not hide a load of a few minutes. Readers must see on how many values each status is based. */
static void overview_shows_on_how_much_it_is_based(void **state)
{
    struct ruled r;
    run_pack(&r, *state, "General",
             SLICED("Processor", "% Processor Time", "_Total", "9", "99", "9", "81", "99", "81", "9", "9")
                 SLICED("Memory", "Available MBytes", "", "900", "900", "900", "900", "900", "900", "900", "900")
                     ONE("PhysicalDisk", "Avg. Disk sec/Read", "0 C:", "0.001"),
             true);
    assert_has(&r, ">healthCpu</Data><Data name=\"status\" img=\"Red\" translate=\"1\">healthBad</Data>"
                   "<Data name=\"utilization\" units=\"%\">9</Data><Data name=\"basis\">1 counter, 120 values</Data>");
    assert_has(&r, ">healthMemory</Data><Data name=\"status\" img=\"Green\" translate=\"1\">healthGood</Data>"
                   "<Data name=\"utilization\" units=\"%\"/><Data name=\"basis\">1 counter, 120 values</Data>");
    assert_has(&r, ">healthDisk</Data><Data name=\"status\" img=\"Green\" translate=\"1\">healthGood</Data>"
                   "<Data name=\"utilization\" units=\"%\"/><Data name=\"basis\">1 counter</Data>");
    ruled_free(&r);
}

static int make(void **state)
{
    *state = scratch_create("rules_packs");
    scratch_environment("systemroot", *state); /* a folder without rules */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_is_exact),
        cmocka_unit_test(sustained_load_is_found_with_its_time),
        cmocka_unit_test(overview_shows_on_how_much_it_is_based),
        cmocka_unit_test(all_packs_are_valid_and_find_nothing_in_an_empty_report),
        cmocka_unit_test(growth_needs_a_report_of_an_hour),
        cmocka_unit_test(memory_limits_depend_on_the_size_in_the_report),
        cmocka_unit_test(overview_has_a_colour_for_each_part),
    };
    return cmocka_run_group_tests(tests, make, scratch_end);
}
