/* SPDX-License-Identifier: MIT */
/* Writes rules from the interpreted thresholds of PAL. Each threshold becomes a Rule, and each category becomes a
   Group.

   A rule selects a row of a counter if one of its slices meets the condition. A row without slices must meet the
   condition itself. The rule adds a warning to each selected row. A row gets only one warning for each analysis,
   because PAL shows only the warning with the highest priority. Therefore a threshold skips rows that already have a
   warning of the same analysis with a higher priority. A computed counter has no row. Therefore its rule reads the
   slices of its first operand one by one, and finds the slices of the other operands by instance and time. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/report/pal_import.h"
#include "engine/report/rules/pal/pal_parts.h"
#include "engine/report/rules/rules_parts.h"

#include <stdio.h>
#include <string.h>

enum { EXPRESSION_MOST = 4000, HIGHER_MOST = 6, SLICED_MOST = 8000, RULES_BYTES_MAX = 15 << 20 };

struct writing {
    struct pal_set *set;
    struct pal_pool *pool;
    bool means;
    struct text_buffer *to;
    struct text_buffer strings;
    struct texts sliced;
    const struct pal_analysis *analysis;
    const struct pal_threshold *threshold;
    const char *tag, *higher; /* `higher` is a predicate that excludes rows with warnings of a higher priority */
    unsigned higher_count;
    const char *details, *links; /* IDs of strings; NULL means no string */
};

/* ---- texts ---- */

/* Adds a name as an attribute, without parts that rules would read as a string or a variable. */
static void add_name(struct writing *w, struct text_buffer *to, const char *name, const char *text)
{
    char *copy = text_copy(*text ? text : "PAL");
    for (char *c = copy; c && *c; c++)
        *c = *c == '{' ? '(' : *c == '}' ? ')' : *c == '$' && c[1] == '(' ? 'S' : *c;
    w->pool->failed |= !copy;
    xml_add_attribute(to, name, copy ? copy : "");
    memory_free(copy);
}

/* Adds a text of a warning so that braces and $( are shown literally. */
static void add_plain(struct text_buffer *to, const char *text)
{
    for (const char *c = text; *c; c++) {
        const size_t n = strcspn(c, "{$");
        char *part = n ? text_copy_n(c, n) : NULL;
        if (part)
            xml_add_escaped(to, part, false);
        to->failed |= n && !part;
        memory_free(part);
        c += n;
        if (!*c)
            break;
        text_buffer_add(to, *c == '{' ? "{palBrace}" : c[1] == '(' ? "{palDollar}" : "$");
    }
}

static void add_variable(struct writing *w, const char *name, const char *expression)
{
    text_buffer_format(w->to, "     <Variable name=\"%s\"", name);
    xml_add_attribute(w->to, "expression", expression);
    text_buffer_add(w->to, "/>\n");
}

/* ---- counters with slices ---- */

/* Requests slices: adds the counter as a pattern of a report schema. */
static void want_slices(struct writing *w, const struct pal_source *s)
{
    struct text_buffer b = {0};
    rules_add_pattern(&b, s->counter, "/\\*?|");
    const char *pattern = pal_keep(w->pool, text_buffer_take(&b));
    for (size_t i = 0; i < w->sliced.count; i++)
        if (text_equal_nocase(w->sliced.items[i], pattern))
            return;
    w->pool->failed |= FAILED(texts_add(&w->sliced, pattern));
}

static void add_slices(struct writing *w)
{
    struct text_buffer b = {0};
    for (size_t i = 0; i < w->sliced.count; i++) {
        text_buffer_add(&b, i ? "|" : "");
        text_buffer_add(&b, w->sliced.items[i]);
    }
    text_buffer_add(&b, "");
    if (b.length)
        xml_add_attribute(w->to, "slices", b.length > SLICED_MOST ? "i/*/" : b.text);
    text_buffer_free(&b);
}

/* ---- descriptions ---- */

static const char *add_string(struct writing *w, const char *id, const char *text)
{
    text_buffer_add(&w->strings, "  <String");
    xml_add_attribute(&w->strings, "ID", id);
    text_buffer_add(&w->strings, ">");
    add_plain(&w->strings, text);
    text_buffer_add(&w->strings, "</String>\n");
    return id;
}

/* Writes text and links of the threshold's description; if the threshold has none, uses the description of its
   analysis. */
static void describe(struct writing *w)
{
    struct texts links = {0};
    const char *html = *w->threshold->description ? w->threshold->description : w->analysis->description;
    const char *text = pal_html_text(w->pool, html, &links);
    w->details = w->links = NULL;
    if (*text)
        w->details = add_string(w, pal_format(w->pool, "%s-text", w->tag), text);
    if (links.count) {
        struct text_buffer b = {0};
        text_buffer_add(&b, "See");
        for (size_t i = 0; i < links.count; i++)
            text_buffer_format(&b, "%s%s", i ? ", " : " ", links.items[i]);
        w->links = add_string(w, pal_format(w->pool, "%s-links", w->tag), pal_keep(w->pool, text_buffer_take(&b)));
    }
    texts_free(&links);
}

/* ---- warnings ---- */

static const char *severity_of(struct writing *w)
{
    const char *condition = w->threshold->condition;
    if (text_equal_nocase(condition, "critical"))
        return "critical";
    if (!text_equal_nocase(condition, "warning") && !text_equal_nocase(condition, "waning"))
        (void)pal_note(w->set, &w->set->out->notes,
                       "%s: analysis '%.100s': threshold '%.100s': condition '%.40s' is treated as Warning",
                       w->analysis->file, w->analysis->name, w->threshold->name, condition);
    return "warning";
}

/* `select` is the path from the step's node to the row. `when` contains the attributes and the condition of the
   block. */
static void add_warning(struct writing *w, const char *select, const char *when, const char *subject, const char *limit,
                        const char *values)
{
    struct text_buffer *to = w->to;
    text_buffer_add(to, "     <Exists>\n");
    if (when) {
        text_buffer_add(to, "      <When");
        xml_add_attribute(to, "expression", when);
        text_buffer_add(to, ">\n");
    } else {
        text_buffer_add(to, "      <Otherwise>\n");
    }
    text_buffer_format(to, "       <Warning select=\"%s\" tag=\"%s\"><Item>\n", select, w->tag);
    text_buffer_format(to, "        <Data name=\"symptom\" img=\"%s\" link=\"%s\"", severity_of(w), w->tag);
    if (*limit)
        xml_add_attribute(to, "limit", limit);
    text_buffer_add(to, ">");
    add_plain(to, *w->threshold->name ? w->threshold->name : w->analysis->name);
    text_buffer_format(to, ": %s</Data>\n", subject);
    text_buffer_add(to, "        <Data name=\"when\">{palWhen}</Data>\n        <Data name=\"first\">{palFirst}</Data>\n"
                        "        <Data name=\"last\">{palLast}</Data>\n");
    text_buffer_format(to, "        <Data name=\"details\">%s</Data>\n", values);
    if (w->details)
        text_buffer_format(to, "        <Data name=\"details\">$(%s)</Data>\n", w->details);
    if (w->links)
        text_buffer_format(to, "        <Data name=\"resolution\">$(%s)</Data>\n", w->links);
    text_buffer_format(to, "       </Item></Warning>\n      %s\n     </Exists>\n    </Step>\n",
                       when ? "</When>\n      <Otherwise/>" : "</Otherwise>");
}

static bool begin_step(struct writing *w, const char *select, const char *extra)
{
    text_buffer_add(w->to, "    <Step");
    xml_add_attribute(w->to, "select", select);
    text_buffer_format(w->to, "%s>\n", extra);
    return strlen(select) <= EXPRESSION_MOST;
}

/* If the limit depends on the report, adds a variable with its value. */
static void add_limit(struct writing *w, const struct pal_alert *a)
{
    if (a->is_constant || !*a->limit)
        return;
    (void)begin_step(w, "/Report", "");
    add_variable(w, "palLimit", a->limit);
    text_buffer_add(w->to, "    </Step>\n");
}

static const char *limit_of(struct writing *w, const struct pal_alert *a)
{
    if (!*a->limit || !a->is_constant)
        return *a->limit ? "{palLimit}" : "";
    char *plain = text_copy(a->limit + (*a->limit == '('));
    if (plain && *a->limit == '(')
        plain[strlen(plain) - 1] = 0;
    return pal_keep(w->pool, plain);
}

/* Adds variables with the names of the row; `row` is the path from the step's node to the row. */
static void add_names(struct writing *w, const char *row)
{
    add_variable(w, "palObject", pal_format(w->pool, "string(%s../@source)", row));
    add_variable(w, "palInstance", pal_format(w->pool, "string(%sData[@name='instance'])", row));
    add_variable(w, "palMachine", pal_format(w->pool, "string(%sData[@name='machine'])", row));
    add_variable(w, "palServer", "substring-before('{palObject}',':')");
}

static void add_times(struct writing *w, const char *first, const char *last, const char *seconds)
{
    add_variable(w, "palFirst", first);
    add_variable(w, "palLast", last);
    add_variable(w, "palSeconds", seconds);
    add_variable(w, "palSpan",
                 "concat(substring('{palFirst}',1,10),' ',substring('{palFirst}',12,5),' to ',"
                 "substring(concat(substring('{palLast}',1,10),' '),1,11*not(substring('{palLast}',1,10)="
                 "substring('{palFirst}',1,10))),substring('{palLast}',12,5))");
    add_variable(w, "palWhen",
                 "substring(concat('{palSpan}',', ',round({palSeconds} div 6) div 10,' min in total'),1,"
                 "99*({palSeconds}>0))");
}

/* ---- a counter ---- */

#define THOUSANDTH(x) "round(number(" x ")*1000) div 1000"

static bool write_row_alert(struct writing *w, const struct pal_alert *a)
{
    struct pal_pool *p = w->pool;
    const char *row = pal_at(p, a->condition, ""), *slice = pal_at(p, a->condition, "../../");
    const bool of_rows = a->of_trend && a->sign;
    const char *test =
        of_rows ? row
                : pal_format(p, "Table[@name='slices']/Item[%s] or not(Table[@name='slices']) and (%s)", slice, row);
    const char *select = pal_format(p, "%s%s[%s]", a->source->rows, w->higher, test);
    static const char *const shown[] = {"the mean is {palMean}", "the minimum is {palMin}", "the maximum is {palMax}",
                                        "it grows by {palTrend} per hour"};
    want_slices(w, a->source);
    add_limit(w, a);
    /* Selects the counter even if its values are normal, so that the report is treated as checked. */
    (void)begin_step(w, pal_format(p, "(%s)[1]", a->source->rows), "");
    text_buffer_add(w->to, "    </Step>\n");
    if (!begin_step(w, select, ""))
        return false;
    add_names(w, "");
    add_variable(w, "palCounter", "string(Data[@name='counter'])");
    add_variable(w, "palMean", THOUSANDTH("Data[@name='mean']"));
    add_variable(w, "palMin", THOUSANDTH("Data[@name='min']"));
    add_variable(w, "palMax", THOUSANDTH("Data[@name='max']"));
    add_variable(w, "palTrend", THOUSANDTH("Data[@name='trend']"));
    if (of_rows)
        add_times(w, "''", "''", "0");
    else
        add_times(w, pal_format(p, "string(Table[@name='slices']/Item[%s][1]/Data[@name='start'])", slice),
                  pal_format(p, "string(Table[@name='slices']/Item[%s][last()]/Data[@name='end'])", slice),
                  pal_format(p, "count(Table[@name='slices']/Item[%s])*number(concat('0',Table[@name='slices']/@note))",
                             slice));
    add_variable(w, "palPath",
                 "concat(substring('\\\\{palMachine}',1,999*(string-length('{palMachine}')>0)),'\\{palObject}',"
                 "substring('({palInstance})',1,999*(string-length('{palInstance}')>0)),'\\{palCounter}')");
    add_warning(w, ".", NULL, pal_format(p, "{palPath}: %s", shown[a->shown]), a->of_trend ? "" : limit_of(w, a),
                "Minimum {palMin}, mean {palMean}, maximum {palMax}.");
    if (!a->of_trend)
        return true;
    /* If the report has no trends, because it was created without these rules, the rule adds a note about this. */
    if (!begin_step(w, pal_format(p, "%s[not(Data[@name='trend'])]", a->source->rows), " sortType=\"first\""))
        return false;
    text_buffer_add(w->to, "     <Exists>\n      <Otherwise>\n       <Warning select=\".\"><Item>\n"
                           "        <Data name=\"symptom\" img=\"information\">Not checked: ");
    add_plain(w->to, w->threshold->name);
    text_buffer_add(w->to, "</Data>\n        <Data name=\"details\">The report has no trends.</Data>\n"
                           "        <Data name=\"resolution\">Create the report from the log with -rules and this "
                           "file.</Data>\n       </Item></Warning>\n      </Otherwise>\n     </Exists>\n    </Step>\n");
    return true;
}

/* ---- a computed counter ---- */

/* Returns the path of the operand's rows that belong to the current row of the first operand. */
static const char *joined_rows(struct writing *w, const struct pal_source *s, const struct pal_source *first)
{
    return pal_format(
        w->pool, "%s%s%s[not(Data[@name='machine']) or '{palMachine}'='' or Data[@name='machine']='{palMachine}']",
        s->rows, s->has_instances && first->has_instances ? "[Data[@name='instance']='{palInstance}']" : "",
        s->is_sql && first->is_sql ? "[substring-before(../@source,':')='{palServer}']" : "");
}

/* Adds a variable with the mean of an operand in the current slice. A report that was created without these rules has
   no slices; in this case the variable is the mean of the operand's row. */
static void write_operand(struct writing *w, const char *name, const char *rows, bool slices)
{
    struct pal_pool *p = w->pool;
    add_variable(w, "palSlice",
                 slices ? pal_format(p,
                                     "string(%s/Table[@name='slices']/Item[Data[@name='start']='{palFirst}']"
                                     "/Data[@name='mean'])",
                                     rows)
                        : "''");
    add_variable(w, "palWhole",
                 pal_format(p, "string(%s%s/Data[@name='mean'])", rows, slices ? "[not(Table[@name='slices'])]" : ""));
    add_variable(w, name, "number(concat('{palSlice}','{palWhole}'))");
}

static void write_computed_step(struct writing *w, const struct pal_alert *a, const struct pal_formula *f, size_t first,
                                bool slices)
{
    struct pal_pool *p = w->pool;
    const char *row = slices ? "../../" : "";
    const struct pal_source *s = f->operands[first];
    (void)begin_step(w,
                     pal_format(p, slices ? "%s%s/Table[@name='slices']/Item" : "%s%s[not(Table[@name='slices'])]",
                                s->rows, w->higher),
                     "");
    add_names(w, row);
    if (slices)
        add_times(w, "string(Data[@name='start'])", "string(Data[@name='end'])", "number(concat('0',../@note))");
    else
        add_times(w, "''", "''", "0");
    for (size_t i = 0; i < f->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "palV%u", (unsigned)i);
        if (i == first)
            add_variable(w, name, "number(Data[@name='mean'])");
        else
            write_operand(w, name, joined_rows(w, f->operands[i], s), slices);
    }
    add_variable(w, "palValue", f->value);
    add_variable(w, "palShown", THOUSANDTH("{palValue}"));
    const char *value = a->is_whole ? pal_rounded(p, "{palValue}", a->source->decimals) : "{palValue}";
    const char *when =
        pal_format(p, "not(contains(concat('\n',%s@tag,'\n'),'\n%s\n')) and %s%s%s %s %s", row, w->tag, f->guard,
                   *f->guard ? " and " : "", value, a->sign, a->is_constant ? a->limit : "{palLimit}");
    const char *path = a->source->path;
    struct text_buffer subject = {0};
    add_plain(&subject, path);
    text_buffer_add(&subject, " {palInstance}: {palShown}");
    char *text = text_buffer_take(&subject);
    w->pool->failed |= !text;
    add_warning(w, slices ? "../.." : ".", when, text ? text : "", "",
                slices
                    ? "The value is computed from the means of the first slice in which the value is beyond the limit."
                    : "The value is computed from the means over the whole time.");
    memory_free(text);
}

static bool write_computed_alert(struct writing *w, const struct pal_alert *a, const struct pal_formula *f)
{
    size_t first = 0;
    while (first < f->count && !f->operands[first]->has_instances)
        first++;
    first = first == f->count ? 0 : first;
    for (size_t i = 0; i < f->count; i++) {
        want_slices(w, f->operands[i]);
        if (strlen(f->operands[i]->rows) + strlen(w->higher) > EXPRESSION_MOST - 500)
            return false;
    }
    if (strlen(f->value) + strlen(f->guard) > EXPRESSION_MOST - 400)
        return false;
    add_limit(w, a);
    write_computed_step(w, a, f, first, true);
    write_computed_step(w, a, f, first, false);
    return true;
}

/* ---- thresholds ---- */

static const char *alert_write(struct writing *w, const struct pal_alert *a)
{
    struct pal_formula f;
    if (!a->source->generated)
        return write_row_alert(w, a) ? NULL : "its condition is too long for an expression";
    const HRESULT hr = pal_formula_read(w->set, w->analysis, a->source, &f);
    w->pool->failed |= FAILED(hr);
    if (f.why || FAILED(hr))
        return f.why ? f.why : "out of memory";
    if (a->of_trend)
        return "it uses the trend of a computed counter";
    if (f.note)
        (void)pal_note(w->set, &w->set->out->notes, "%s: analysis '%.100s': %s", w->analysis->file, w->analysis->name,
                       f.note);
    return write_computed_alert(w, a, &f) ? NULL : "its counters are too long for an expression";
}

/* Adds a condition for the following thresholds, which have lower priorities: they ignore rows with this warning. */
static void precede(struct writing *w)
{
    if (w->higher_count++ < HIGHER_MOST)
        w->higher = pal_format(w->pool, "%s[not(contains(concat('\n',@tag,'\n'),'\n%s\n'))]", w->higher, w->tag);
}

static HRESULT write_threshold(struct writing *w)
{
    struct pal_imported *out = w->set->out;
    struct pal_outcome o;
    const size_t begin = w->to->length;
    HRESULT hr = pal_code_read(w->set, w->analysis, w->threshold, w->means, &o);
    const char *why = o.why;
    if (FAILED(hr))
        return hr;
    if (!why && !o.count)
        why = out->question_count
                  ? "its code creates no alert with these answers (see -answer), or it calls only unknown functions"
                  : "its code calls neither StaticThreshold nor CreateAlert";
    const size_t strings = w->strings.length;
    text_buffer_add(w->to, "   <Rule");
    add_name(w, w->to, "name", pal_format(w->pool, "%s: %s", w->analysis->name, w->threshold->name));
    text_buffer_add(w->to, w->analysis->enabled ? ">\n" : " enabled=\"false\">\n");
    if (!why)
        describe(w);
    for (size_t i = 0; i < o.count && !why; i++)
        why = alert_write(w, &o.alerts[i]);
    text_buffer_add(w->to, "   </Rule>\n");
    if (why && !w->to->failed && !w->strings.failed) { /* remove the incomplete rule from both buffers */
        w->to->length = begin;
        w->to->text[begin] = 0;
        w->strings.length = strings;
        if (w->strings.text)
            w->strings.text[strings] = 0;
    }
    if (!why) {
        out->mapped++;
        precede(w);
    }
    if (o.note)
        (void)pal_note(w->set, &out->notes, "%s: analysis '%.100s': threshold '%.100s': %s", w->analysis->file,
                       w->analysis->name, w->threshold->name, o.note);
    return why ? pal_note(w->set, &out->lost, "%s: analysis '%.100s': threshold '%.100s': %s", w->analysis->file,
                          w->analysis->name, w->threshold->name, why)
               : S_OK;
}

static HRESULT write_analysis(struct writing *w, size_t at)
{
    HRESULT hr = S_OK;
    w->analysis = &w->set->analyses[at];
    w->higher = "";
    w->higher_count = 0;
    for (size_t i = 0; i < w->analysis->threshold_count && SUCCEEDED(hr); i++) {
        w->threshold = &w->analysis->thresholds[i];
        w->tag = pal_format(w->pool, "pal-%u-%u", (unsigned)at + 1, (unsigned)i + 1);
        hr = write_threshold(w);
    }
    return hr;
}

/* ---- the file ---- */

/* Adds a comment. Two dashes would end the comment, so they are separated by spaces. */
static void add_comment(struct text_buffer *to, const char *text)
{
    for (const char *c = text; *c; c++) {
        text_buffer_add(to, *c == '-' && c[1] == '-' ? "- " : "");
        if (*c != '-' || c[1] != '-')
            text_buffer_add_n(to, (unsigned char)*c < 0x20 ? " " : c, 1);
    }
}

static void write_head(struct writing *w, struct text_buffer *to)
{
    const struct pal_imported *out = w->set->out;
    text_buffer_add(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Rules created from PAL's thresholds: ");
    add_comment(to, w->set->title && *w->set->title ? w->set->title : "no name");
    for (size_t i = 0; i < w->set->files.count; i++) {
        text_buffer_add(to, i ? ", " : "; from ");
        add_comment(to, path_name(w->set->files.items[i]));
    }
    text_buffer_format(to, ".\n     %llu of %llu thresholds.\n", (unsigned long long)out->mapped,
                       (unsigned long long)out->thresholds);
    for (size_t i = 0; i < out->question_count; i++) {
        text_buffer_add(to, "     Answer: ");
        add_comment(to, out->questions[i].variable);
        text_buffer_add(to, " = ");
        add_comment(to, out->questions[i].value);
        text_buffer_add(to, out->questions[i].is_memory ? " (or the amount in the report)\n" : "\n");
    }
    for (size_t i = 0; i < out->lost.count; i++) {
        text_buffer_add(to, "     Not imported: ");
        add_comment(to, out->lost.items[i]);
        text_buffer_add(to, "\n");
    }
    text_buffer_add(to, "-->\n<Rules");
}

HRESULT pal_rules_write(struct pal_set *set, bool means, struct text_buffer *to)
{
    struct text_buffer groups = {0};
    struct writing w = {.set = set, .pool = &set->pool, .means = means, .to = &groups};
    const char *category = NULL;
    HRESULT hr = S_OK;
    text_buffer_add(&groups,
                    "  <Group name=\"PAL\">\n   <Rule name=\"characters of texts\">\n    <Step select=\"/Report\">\n");
    add_variable(&w, "palBrace", "'{'");
    add_variable(&w, "palDollar", "'$'");
    text_buffer_add(&groups, "    </Step>\n   </Rule>\n");
    for (size_t i = 0; i < set->analysis_count && SUCCEEDED(hr); i++) {
        if (!set->analyses[i].threshold_count)
            continue;
        if (!category || strcmp(category, set->analyses[i].category) != 0) {
            category = set->analyses[i].category;
            text_buffer_add(&groups, "  </Group>\n  <Group");
            add_name(&w, &groups, "name", category);
            text_buffer_add(&groups, ">\n");
        }
        hr = write_analysis(&w, i);
    }
    text_buffer_add(&groups, "  </Group>\n");
    write_head(&w, to);
    w.to = to;
    add_slices(&w);
    text_buffer_add(to, ">\n");
    if (groups.text)
        text_buffer_add_n(to, groups.text, groups.length);
    text_buffer_add(to, " <StringTable>\n");
    if (w.strings.text)
        text_buffer_add_n(to, w.strings.text, w.strings.length);
    text_buffer_add(to, " </StringTable>\n</Rules>\n");
    to->failed |= groups.failed || w.strings.failed;
    text_buffer_free(&groups);
    text_buffer_free(&w.strings);
    texts_free(&w.sliced);
    if (SUCCEEDED(hr) && to->length > RULES_BYTES_MAX)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE), "the rules of %llu thresholds exceed %u MB",
                       (unsigned long long)set->out->mapped, RULES_BYTES_MAX >> 20);
    return FAILED(hr) ? hr : to->failed || set->pool.failed ? E_OUTOFMEMORY : S_OK;
}
