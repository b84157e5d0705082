/* SPDX-License-Identifier: MIT */
/* Compares two report documents. Every row of each document becomes a record; the records are sorted and read side by
   side. A key consists of texts and separators. The separators are bytes below 9, which XML does not allow in texts. In
   the form below, each number is a separator, and a part in [...]... may be missing or repeated:

       section 1 table 1 source [3 the outer row's keys 1 table 1 source]... 2 kind [2 key]... 1 keys in their own case

   Because of the order of the separators, the record of a table precedes the records of its rows, and the records of
   the rows precede all records of tables within the rows. */
#include "engine/report/report_compare.h"

#include "engine/base/memory.h"
#include "engine/report/make/row_sort.h"

#include <string.h>

/* A record for a table or a row. */
struct keyed_row {
    struct sorted_row record; /* key_size: length of the part of the key that is equal in both documents */
    bool is_table;
    const char *section, *table, *source, *outer; /* place of the table */
    struct keyed_cell {
        struct report_cell cell;
        bool is_volatile;
    } cells[REPORT_MAX_COLUMNS]; /* cells of a row */
    size_t cell_count;
};

enum { KIND_TABLE = '0', KIND_ROW, KIND_FOOTER };
/* A quiet key identifies the row, but a change of its value is not a difference. */
enum { CELL_PLAIN = '0', CELL_KEY, CELL_QUIET_KEY, CELL_VOLATILE, CELL_DROPPED };

static bool is_key(char use)
{
    return use == CELL_KEY || use == CELL_QUIET_KEY;
}

struct level {
    struct text_buffer path;  /* key of the table */
    struct text_buffer outer; /* a name for the current row; messages about the tables in this row use it */
    size_t row_path;          /* length of the part of `path` that names the table; the keys of the current row
                                 follow this part */
    char uses[REPORT_MAX_COLUMNS];
    bool dropped[REPORT_MAX_COLUMNS];
    bool keyed;
    bool chosen; /* the table is compared */
};

struct keying {
    const struct report_compare *how;
    unsigned side;
    struct row_sort *to;
    struct level section; /* in this element only `path` is used; it is the key prefix of the section's tables */
    struct level levels[REPORT_MAX_TABLES];
    struct text_buffer key, body;
};

/* ---- tables ---- */

static const struct {
    const char *columns[2];
} guesses[] = {{{"path"}},     {{"key", "name"}},         {{"key"}}, {{"__PATH"}}, {{"__RELPATH"}},
               {{"DeviceID"}}, {{"counter", "instance"}}, {{"name"}}};

static size_t find_column(const struct report_table *t, const char *name)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (text_equal_nocase(t->columns[i].name, name))
            return i;
    return t->column_count;
}

static bool key_columns_guess(const struct report_table *t, const char *const *columns, char *uses)
{
    size_t at[2], count = 0;
    for (; count < 2 && columns[count]; count++) {
        at[count] = find_column(t, columns[count]);
        if (at[count] == t->column_count)
            return false;
    }
    for (size_t i = 0; i < count; i++)
        uses[at[i]] = CELL_KEY;
    return true;
}

static bool is_marked(const struct report_data *column, const char *mark)
{
    const char *value = report_attribute(column->attributes, column->attribute_count, mark);
    return value && !strcmp(value, "1");
}

/* Returns 1 if the column is ignored, otherwise 0. Returns -1 if memory runs out. */
static int is_ignored(const struct report_compare *how, const char *table, const char *column)
{
    if (!how->ignore || !how->ignore->count)
        return 0;
    char *both = text_format("%s/%s", table, column);
    int found = both ? 0 : -1;
    for (size_t i = 0; both && !found && i < how->ignore->count; i++)
        found = text_matches(how->ignore->items[i], column) || text_matches(how->ignore->items[i], both);
    memory_free(both);
    return found;
}

static HRESULT choose_uses(const struct keying *k, const struct report_table *t, struct level *l)
{
    l->keyed = false;
    for (size_t i = 0; i < t->column_count; i++) {
        const int ignored = is_ignored(k->how, t->name, t->columns[i].name);
        if (ignored < 0)
            return E_OUTOFMEMORY;
        l->dropped[i] = ignored > 0;
        l->uses[i] = is_marked(&t->columns[i], "key")                                 ? CELL_KEY
                     : is_marked(&t->columns[i], "volatile") && !k->how->volatile_too ? CELL_VOLATILE
                                                                                      : CELL_PLAIN;
        l->keyed |= l->uses[i] == CELL_KEY;
    }
    for (size_t i = 0; !l->keyed && i < sizeof guesses / sizeof *guesses; i++)
        l->keyed = key_columns_guess(t, guesses[i].columns, l->uses);
    return S_OK;
}

static HRESULT add_record(struct keying *k)
{
    return k->key.failed || k->body.failed
               ? E_OUTOFMEMORY
               : row_sort_add(k->to, k->key.text, k->key.length, k->body.text, k->body.length);
}

static void add_text(struct text_buffer *b, const char *text)
{
    text_buffer_add_n(b, text, strlen(text) + 1);
}

/* Marks the key built so far as the part that identifies the record in the other document. */
static void end_pair(struct keying *k)
{
    const uint32_t size = (uint32_t)k->key.length;
    k->body.length = 0;
    text_buffer_add_n(&k->body, (const char *)&size, sizeof size);
}

static void begin_key(struct keying *k, const struct level *l, char kind)
{
    k->key.length = 0;
    text_buffer_add_n(&k->key, l->path.text ? l->path.text : "", l->row_path);
    text_buffer_format(&k->key, "\2%c", kind);
}

static bool is_chosen(const struct texts *patterns, const char *table)
{
    bool chosen = !patterns || !patterns->count;
    for (size_t i = 0; !chosen && i < patterns->count; i++)
        chosen = text_matches(patterns->items[i], table);
    return chosen;
}

static HRESULT on_table(void *about, const struct report_table *t)
{
    struct keying *k = about;
    struct level *l = &k->levels[t->depth];
    const struct level *outer = t->depth ? l - 1 : &k->section;
    const char *source = report_attribute(t->attributes, t->attribute_count, "source");
    if (!t->depth) {
        k->section.chosen = is_chosen(k->how->tables, t->name);
        k->section.path.length = 0;
        text_buffer_add(&k->section.path, t->section);
    }
    l->chosen = outer->chosen;
    l->path.length = 0;
    text_buffer_add_n(&l->path, outer->path.text ? outer->path.text : "", outer->path.length);
    text_buffer_format(&l->path, "\1%s\1%s", t->name, source ? source : "");
    l->row_path = l->path.length;
    if (l->path.failed || outer->path.failed || outer->outer.failed)
        return E_OUTOFMEMORY;
    begin_key(k, l, KIND_TABLE);
    end_pair(k);
    text_buffer_add_n(&k->body, "t", 1);
    add_text(&k->body, t->section);
    add_text(&k->body, t->name);
    add_text(&k->body, source ? source : "");
    add_text(&k->body, outer->outer.text ? outer->outer.text : "");
    HRESULT hr = l->chosen ? add_record(k) : S_OK;
    return SUCCEEDED(hr) ? choose_uses(k, t, l) : hr;
}

/* ---- rows ---- */

/* Returns the kind of a cell, which its column in the Header determines; cells without a column are plain. CELL_DROPPED
   means that the cell is ignored. Returns -1 if memory runs out. */
static int use_of(const struct keying *k, const struct report_table *t, const struct level *l,
                  const struct report_data *cell, size_t at)
{
    const struct report_data *column = report_find(t->columns, t->column_count, cell->name, at);
    if (column) {
        const char use = l->uses[column - t->columns];
        return !l->dropped[column - t->columns] ? use : use == CELL_KEY ? CELL_QUIET_KEY : CELL_DROPPED;
    }
    const int ignored = is_ignored(k->how, t->name, cell->name);
    return ignored < 0 ? -1 : ignored ? CELL_DROPPED : CELL_PLAIN;
}

static HRESULT add_folded(struct text_buffer *b, const char *text)
{
    char *folded = text_fold(text);
    if (!folded)
        return E_OUTOFMEMORY;
    text_buffer_format(b, "\2%s", folded);
    memory_free(folded);
    return S_OK;
}

struct used_cell {
    const struct report_data *cell;
    const char *type;
    char use;
};

static const char *type_of(const struct report_data *cell)
{
    const char *type = report_attribute(cell->attributes, cell->attribute_count, "type");
    return type ? type : "";
}

/* Adds the values by which the row is paired with a row of the other document: its keys, or all its compared cells. */
static HRESULT add_pair(struct keying *k, const struct level *l, const struct used_cell *cells, size_t count)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        if (l->keyed && is_key(cells[i].use))
            hr = add_folded(&k->key, cells[i].cell->text);
        else if (!l->keyed && cells[i].use == CELL_PLAIN)
            text_buffer_format(&k->key, "\2%s\4%s\4%s", cells[i].cell->name, cells[i].type, cells[i].cell->text);
    text_buffer_add(&k->key, "\1");
    return hr;
}

/* Records the current row: its key, which the keys of the tables in the row contain, and its name, which messages about
   these tables contain. */
static void note_row(struct keying *k, struct level *l, const struct used_cell *cells, size_t count)
{
    l->path.length = l->row_path;
    text_buffer_add(&l->path, "\3");
    text_buffer_add_n(&l->path, k->key.text + l->row_path, k->key.length - l->row_path);
    l->outer.length = 0;
    text_buffer_add(&l->outer, "");
    for (size_t i = 0; i < count; i++)
        if (l->keyed ? is_key(cells[i].use) : cells[i].use == CELL_PLAIN)
            text_buffer_format(&l->outer, "%s%s=%s", l->outer.length ? ", " : "", cells[i].cell->name,
                               cells[i].cell->text);
}

static HRESULT on_row(void *about, const struct report_table *t, const struct report_row *row)
{
    struct keying *k = about;
    struct level *l = &k->levels[t->depth];
    struct used_cell cells[REPORT_MAX_COLUMNS];
    size_t count = 0;
    for (size_t i = 0; i < row->cell_count; i++) {
        const int use = use_of(k, t, l, &row->cells[i], i);
        if (use < 0)
            return E_OUTOFMEMORY;
        if (use != CELL_DROPPED)
            cells[count++] = (struct used_cell){&row->cells[i], type_of(&row->cells[i]), (char)use};
    }
    begin_key(k, l, row->footer ? KIND_FOOTER : KIND_ROW);
    HRESULT hr = row->footer ? S_OK : add_pair(k, l, cells, count);
    if (FAILED(hr) || k->key.failed)
        return E_OUTOFMEMORY;
    note_row(k, l, cells, count);
    end_pair(k);
    text_buffer_add_n(&k->body, "r", 1);
    for (size_t i = 0; i < count; i++) {
        text_buffer_add_n(&k->body, &cells[i].use, 1);
        add_text(&k->body, cells[i].cell->name);
        add_text(&k->body, cells[i].cell->text);
        add_text(&k->body, cells[i].type);
        if (l->keyed && cells[i].use == CELL_KEY)
            text_buffer_format(&k->key, "\2%s", cells[i].cell->text);
    }
    if (l->path.failed || l->outer.failed)
        return E_OUTOFMEMORY;
    return l->chosen ? add_record(k) : S_OK;
}

static HRESULT on_fact(void *about, const struct report_data *fact)
{
    const struct keying *k = about;
    return k->how->fact ? k->how->fact(k->how->about, k->side, fact) : S_OK;
}

/* Reads the file and adds a record for each table and each row. */
static HRESULT keyed_rows_read(const char *path, unsigned side, const struct report_compare *how, struct row_sort *to,
                               struct texts *warnings)
{
    static const struct report_handlers handlers = {.fact = on_fact, .table_begin = on_table, .row = on_row};
    struct keying *k = memory_zero(1, sizeof *k);
    if (!k)
        return E_OUTOFMEMORY;
    k->how = how;
    k->side = side;
    k->to = to;
    HRESULT hr = report_read(path, &handlers, k, warnings);
    for (size_t i = 0; i < REPORT_MAX_TABLES; i++) {
        text_buffer_free(&k->levels[i].path);
        text_buffer_free(&k->levels[i].outer);
    }
    text_buffer_free(&k->section.path);
    text_buffer_free(&k->key);
    text_buffer_free(&k->body);
    memory_free(k);
    return hr;
}

/* ---- parsing records ---- */

static const char *next_text(const char **at)
{
    const char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

/* Parses a record; its pointers refer to the record. */
static void keyed_row_open(const struct sorted_row *record, struct keyed_row *out)
{
    uint32_t pair;
    const char *at = record->body, *const end = at + record->body_size;
    memcpy(&pair, at, sizeof pair);
    at += sizeof pair;
    out->record = *record;
    out->record.key_size = pair;
    out->is_table = *at++ == 't';
    out->cell_count = 0;
    if (out->is_table) {
        out->section = next_text(&at);
        out->table = next_text(&at);
        out->source = next_text(&at);
        out->outer = next_text(&at);
        return;
    }
    while (at < end) {
        struct keyed_cell *c = &out->cells[out->cell_count++];
        const char use = *at++;
        c->cell.key = is_key(use);
        c->is_volatile = use == CELL_VOLATILE || use == CELL_QUIET_KEY;
        c->cell.column = next_text(&at);
        c->cell.text = next_text(&at);
        c->cell.type = next_text(&at);
    }
}

/* ---- two documents' sorted rows, side by side ---- */

#define SORT_MEMORY (32u << 20) /* bytes of each document's rows before a scratch file is needed */

/* The table that the following rows belong to. */
struct place {
    char *texts; /* one block of memory with section, table, source and outer */
    const char *section, *table, *source, *outer;
};

struct side {
    struct row_sort *rows;
    struct keyed_row row;
    struct place place;
    bool ended;
};

struct comparing {
    const struct report_compare *how;
    struct report_compared *out;
    struct side sides[2];
    struct report_cell cells[REPORT_MAX_COLUMNS];
    struct report_change changes[2 * REPORT_MAX_COLUMNS];
};

static HRESULT set_place(struct place *p, const struct keyed_row *table)
{
    struct text_buffer b = {0};
    const char *const parts[] = {table->section, table->table, table->source, table->outer};
    const char **const places[] = {&p->section, &p->table, &p->source, &p->outer};
    for (size_t i = 0; i < 4; i++)
        text_buffer_add_n(&b, parts[i], strlen(parts[i]) + 1);
    char *texts = text_buffer_take(&b);
    if (!texts)
        return E_OUTOFMEMORY;
    memory_free(p->texts);
    p->texts = texts;
    for (size_t i = 0; i < 4; i++) {
        *places[i] = texts;
        texts += strlen(texts) + 1;
    }
    return S_OK;
}

static HRESULT side_next_row(struct side *s)
{
    struct sorted_row record;
    HRESULT hr = row_sort_next(s->rows, &record);
    s->ended = hr != S_OK;
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    keyed_row_open(&record, &s->row);
    return s->row.is_table ? set_place(&s->place, &s->row) : S_OK;
}

static HRESULT difference_emit(struct comparing *c, const struct side *s, struct report_difference *d)
{
    d->section = s->place.section;
    d->table_name = s->place.table;
    d->source = s->place.source;
    d->outer = s->place.outer;
    d->table = s->row.is_table;
    for (size_t i = 0; i < s->row.cell_count; i++)
        c->cells[i] = s->row.cells[i].cell;
    d->cells = c->cells;
    d->cell_count = s->row.cell_count;
    return c->how->difference ? c->how->difference(c->how->about, d) : S_OK;
}

/* Reports a table or row that only one document contains. */
static HRESULT difference_emit_single(struct comparing *c, const struct side *s, enum report_change_kind kind)
{
    struct report_difference d = {.kind = kind};
    if (s->row.is_table)
        ++*(kind == REPORT_CAME ? &c->out->tables_came : &c->out->tables_went);
    else
        ++*(kind == REPORT_CAME ? &c->out->came : &c->out->went);
    return difference_emit(c, s, &d);
}

static const struct keyed_cell *find_cell(const struct keyed_row *row, const char *column, size_t at)
{
    if (at < row->cell_count && !strcmp(row->cells[at].cell.column, column))
        return &row->cells[at];
    for (size_t i = 0; i < row->cell_count; i++)
        if (!strcmp(row->cells[i].cell.column, column))
            return &row->cells[i];
    return NULL;
}

/* Finds the columns that differ between the two rows; a missing row counts as empty. */
static size_t find_changes(struct comparing *c)
{
    const struct keyed_row *before = &c->sides[0].row, *after = &c->sides[1].row;
    size_t count = 0;
    for (size_t i = 0; i < before->cell_count; i++) {
        const struct keyed_cell *b = &before->cells[i], *a = find_cell(after, b->cell.column, i);
        const char *text = a ? a->cell.text : "", *type = a ? a->cell.type : "";
        const bool counts = !b->is_volatile && !(a && a->is_volatile);
        if (counts && (strcmp(b->cell.text, text) != 0 || (a && strcmp(b->cell.type, type) != 0)))
            c->changes[count++] = (struct report_change){b->cell.column, b->cell.text, text, b->cell.type, type};
    }
    for (size_t i = 0; i < after->cell_count; i++) {
        const struct keyed_cell *a = &after->cells[i];
        if (!a->is_volatile && *a->cell.text && !find_cell(before, a->cell.column, i))
            c->changes[count++] = (struct report_change){a->cell.column, "", a->cell.text, "", a->cell.type};
    }
    return count;
}

static HRESULT compare_pair(struct comparing *c)
{
    const struct sorted_row *before = &c->sides[0].row.record, *after = &c->sides[1].row.record;
    struct report_difference d = {.kind = REPORT_CHANGED};
    if (c->sides[0].row.is_table)
        return S_OK;
    if (before->body_size != after->body_size || memcmp(before->body, after->body, after->body_size) != 0)
        d.change_count = find_changes(c);
    if (!d.change_count) {
        c->out->same++;
        return S_OK;
    }
    c->out->changed++;
    d.changes = c->changes;
    return difference_emit(c, &c->sides[1], &d);
}

static HRESULT sides_merge(struct comparing *c)
{
    struct side *before = &c->sides[0], *after = &c->sides[1];
    HRESULT hr = side_next_row(before);
    if (SUCCEEDED(hr))
        hr = side_next_row(after);
    while (SUCCEEDED(hr) && !(before->ended && after->ended)) {
        const int order = before->ended  ? 1
                          : after->ended ? -1
                                         : sorted_row_compare(&before->row.record, &after->row.record);
        hr = order < 0   ? difference_emit_single(c, before, REPORT_WENT)
             : order > 0 ? difference_emit_single(c, after, REPORT_CAME)
                         : compare_pair(c);
        if (SUCCEEDED(hr) && order <= 0)
            hr = side_next_row(before);
        if (SUCCEEDED(hr) && order >= 0)
            hr = side_next_row(after);
    }
    return hr;
}

HRESULT report_compare(const char *before, const char *after, const struct report_compare *how,
                       struct report_compared *out)
{
    const char *const paths[] = {before, after};
    memset(out, 0, sizeof *out);
    struct comparing *c = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    c->how = how;
    c->out = out;
    HRESULT hr = S_OK;
    for (unsigned i = 0; i < 2 && SUCCEEDED(hr); i++) {
        c->sides[i].rows = row_sort_create(SORT_MEMORY);
        hr = c->sides[i].rows ? keyed_rows_read(paths[i], i, how, c->sides[i].rows, &out->warnings[i]) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = row_sort_finish(c->sides[i].rows);
    }
    if (SUCCEEDED(hr))
        hr = sides_merge(c);
    for (unsigned i = 0; i < 2; i++) {
        row_sort_free(c->sides[i].rows);
        memory_free(c->sides[i].place.texts);
    }
    memory_free(c);
    return hr;
}

void report_compared_free(struct report_compared *c)
{
    texts_free(&c->warnings[0]);
    texts_free(&c->warnings[1]);
}
