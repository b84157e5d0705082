/* SPDX-License-Identifier: MIT */
/* Scales and paths. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/report/page.h"
#include "engine/report/page/page_parts.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#define STEPS 5 /* of a scale, at most about */

HRESULT chart_layout_begin(struct chart_layout *c, const char *name, const char *start, const char *duration)
{
    chart_layout_free(c);
    c->name = text_copy(name);
    c->start = text_copy(start);
    c->duration = text_copy(duration);
    c->lines = memory_zero(CHART_MOST_SERIES, sizeof *c->lines);
    return c->name && c->start && c->duration && c->lines ? S_OK : E_OUTOFMEMORY;
}

void chart_layout_free(struct chart_layout *c)
{
    for (size_t i = 0; c->lines && i < c->count; i++)
        memory_free(c->lines[i].name);
    memory_free(c->lines);
    memory_free(c->name);
    memory_free(c->start);
    memory_free(c->duration);
    memset(c, 0, sizeof *c);
}

/* Advances *at after the number. */
static bool read_value(const char **at, float *out)
{
    char *end;
    if (!strchr("-+.0123456789", **at))
        return false;
    const double value = strtod(*at, &end);
    if (end == *at || !(fabs(value) < CHART_GREATEST))
        return false;
    *at = end;
    *out = (float)value;
    return true;
}

static void read_points(struct chart_line *l, const char *at)
{
    while (*(at += strspn(at, " \t\r\n")) && l->count < CHART_MOST_POINTS) {
        float least = 1, greatest = 0;
        bool right = read_value(&at, &least);
        if (right && *at == ':') {
            at++;
            right = read_value(&at, &greatest);
        } else
            greatest = least;
        if (!right || (*at && !strchr(" \t\r\n", *at)) || least > greatest) {
            least = 1;
            greatest = 0;
        }
        l->points[l->count].least = least;
        l->points[l->count++].greatest = greatest;
        at += strcspn(at, " \t\r\n");
    }
}

HRESULT chart_layout_series(struct chart_layout *c, const char *name, const char *points, bool must)
{
    if (c->count == CHART_MOST_SERIES) {
        c->omitted++;
        if (!must || c->first == c->count)
            return S_OK;
        memory_free(c->lines[--c->count].name);
    }
    const size_t at = must ? c->first : c->count;
    char *copy = text_copy(name);
    if (!copy)
        return E_OUTOFMEMORY;
    memmove(&c->lines[at + 1], &c->lines[at], (c->count - at) * sizeof *c->lines);
    c->lines[at] = (struct chart_line){.name = copy};
    c->count++;
    c->first += must;
    read_points(&c->lines[at], points);
    return S_OK;
}

void chart_layout_limit(struct chart_layout *c, const struct chart_limit *limit)
{
    const bool has_value = limit->has_value && fabs(limit->value) < CHART_GREATEST;
    bool passed = c->limit_count == CHART_MOST_LIMITS || (!has_value && !limit->warning);
    for (size_t i = 0; i < c->limit_count && !limit->warning; i++)
        passed |=
            c->limits[i].has_value && !(c->limits[i].value < limit->value) && !(c->limits[i].value > limit->value);
    if (passed)
        return;
    c->limits[c->limit_count] = *limit;
    c->limits[c->limit_count].has_value = has_value;
    c->limit_count++;
}

/* ---- the scale ---- */

struct scale {
    double low, high, step;
};

static bool is_gap(const struct chart_line *l, size_t at)
{
    return l->points[at].least > l->points[at].greatest;
}

static bool find_bounds(const struct chart_layout *c, double *least, double *greatest)
{
    bool some = false;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->lines[i].count; k++) {
            if (is_gap(&c->lines[i], k))
                continue;
            const double low = (double)c->lines[i].points[k].least, high = (double)c->lines[i].points[k].greatest;
            *least = !some || low < *least ? low : *least;
            *greatest = !some || high > *greatest ? high : *greatest;
            some = true;
        }
    for (size_t i = 0; i < c->limit_count && some; i++)
        if (c->limits[i].has_value) {
            *least = fmin(*least, c->limits[i].value);
            *greatest = fmax(*greatest, c->limits[i].value);
        }
    return some;
}

/* 1, 2 or 5 with zeros. */
static double round_step(double least)
{
    const double power = pow(10, floor(log10(least)));
    const double of_ten = least / power;
    return power * (of_ten <= 1 ? 1 : of_ten <= 2 ? 2 : of_ten <= 5 ? 5 : 10);
}

/* From zero on, where that does not flatten the line. */
static struct scale make_scale(double least, double greatest)
{
    if (least >= 0 && least <= 0.6 * greatest)
        least = 0;
    if (greatest <= 0 && greatest >= 0.6 * least)
        greatest = 0;
    const double size = fmax(fabs(least), fabs(greatest));
    if (greatest - least < size * 1e-5 || greatest == least) {
        const double room = size > 0 ? size / 10 : 1;
        greatest += room;
        least = least >= 0 && least < room ? 0 : least - room;
    }
    struct scale s = {.step = round_step((greatest - least) / STEPS)};
    s.low = floor(least / s.step + 1e-6) * s.step;
    s.high = ceil(greatest / s.step - 1e-6) * s.step;
    return s;
}

static int height_of(const struct scale *s, double value)
{
    const double at = (s->high - value) / (s->high - s->low) * CHART_HEIGHT;
    return at <= 0 ? 0 : at >= CHART_HEIGHT ? CHART_HEIGHT : (int)lround(at);
}

/* ---- the path ---- */

static void line_to(struct text_buffer *out, int *x, int *y, int to_x, int to_y)
{
    if (to_x == *x && to_y == *y)
        return;
    if (to_x == *x)
        text_buffer_format(out, "v%d", to_y - *y);
    else if (to_y == *y)
        text_buffer_format(out, "h%d", to_x - *x);
    else
        text_buffer_format(out, "l%d%s%d", to_x - *x, to_y < *y ? "" : " ", to_y - *y);
    *x = to_x;
    *y = to_y;
}

/* Each point is drawn from the end that is nearer to where the line is to the other one. A gap begins a new sub-path,
   and a point alone is a line of no length, which a round end shows. */
static void add_path(struct text_buffer *out, const struct chart_line *l, const struct scale *s)
{
    bool down = false; /* the pen */
    int x = 0, y = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (is_gap(l, i)) {
            down = false;
            continue;
        }
        const int at = (int)((2 * i + 1) * CHART_WIDTH / (2 * l->count));
        const int high = height_of(s, (double)l->points[i].greatest), low = height_of(s, (double)l->points[i].least);
        const bool from_high = down && abs(y - high) < abs(y - low);
        const int first = from_high ? high : low, second = from_high ? low : high;
        if (down)
            line_to(out, &x, &y, at, first);
        else {
            const bool alone = first == second && (i + 1 == l->count || is_gap(l, i + 1));
            text_buffer_format(out, alone ? "M%d %dh0" : "M%d %d", at, first);
            x = at;
            y = first;
        }
        down = true;
        line_to(out, &x, &y, at, second);
    }
}

/* ---- the element ---- */

static void add_value(struct text_buffer *out, const char *name, double value)
{
    text_buffer_format(out, " %s=\"", name);
    page_number_scaled(out, value, value, 4);
    text_buffer_add(out, "\"");
}

static void add_marks(struct text_buffer *out, const struct scale *s)
{
    const double largest = fmax(fabs(s->low), fabs(s->high));
    const int count = (int)lround((s->high - s->low) / s->step);
    for (int i = 0; i <= count; i++) {
        const double value = s->high - i * s->step;
        text_buffer_format(out, "<Mark y=\"%d\">", height_of(s, value));
        page_number_scaled(out, fabs(value) < s->step / 1e6 ? 0 : value, largest, 6);
        text_buffer_add(out, "</Mark>");
    }
}

static void add_limits(struct text_buffer *out, const struct chart_layout *c, const struct scale *s, bool some)
{
    for (size_t i = 0; i < c->limit_count; i++) {
        const struct chart_limit *l = &c->limits[i];
        text_buffer_add(out, "<Limit");
        if (l->warning)
            text_buffer_format(out, " warning=\"%zu\"", l->warning);
        if (l->has_value && some) {
            text_buffer_format(out, " y=\"%d\"", height_of(s, l->value));
            add_value(out, "value", l->value);
        }
        text_buffer_add(out, "/>");
    }
}

static unsigned two_digits(const char *at)
{
    return (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0');
}

/* A start as reports have it, 2026-01-02T03:04:05.000Z; the seconds of the day. */
static bool read_start(const char *text, double *seconds)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    *seconds = two_digits(text + 11) * 3600.0 + two_digits(text + 14) * 60.0 + two_digits(text + 17);
    if (text[19] == '.' && strspn(text + 20, "0123456789") == 3)
        *seconds += (two_digits(text + 20) * 10.0 + (text[22] - '0')) / 1000;
    return true;
}

static void add_times(struct text_buffer *out, const struct chart_layout *c)
{
    double start, duration = strtod(c->duration, NULL);
    if (!read_start(c->start, &start) || !(duration >= 0 && duration < 1e9))
        return;
    for (int i = 0; i < CHART_TIMES; i++) {
        const double at = start + duration * i / (CHART_TIMES - 1);
        const uint64_t ms = (uint64_t)(at * 1000 + 0.5);
        const unsigned day = (unsigned)(ms / 86400000), s = (unsigned)(ms / 1000 % 86400);
        text_buffer_format(out, "<Time x=\"%d\">", CHART_WIDTH * i / (CHART_TIMES - 1));
        if (duration >= 86400)
            text_buffer_format(out, "+%u d ", day);
        if (duration < 10)
            text_buffer_format(out, "%02u:%02u:%02u.%u", s / 3600, s / 60 % 60, s % 60, (unsigned)(ms / 100 % 10));
        else if (duration < 6 * 3600)
            text_buffer_format(out, "%02u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
        else
            text_buffer_format(out, "%02u:%02u", s / 3600, s / 60 % 60);
        text_buffer_add(out, "</Time>");
    }
}

static void add_line(struct text_buffer *out, const struct chart_line *l, const char *name, size_t number,
                     const struct scale *s)
{
    double least = 0, greatest = 0, last = 0;
    bool some = false;
    for (size_t i = 0; i < l->count; i++) {
        if (is_gap(l, i))
            continue;
        const double low = (double)l->points[i].least, high = (double)l->points[i].greatest;
        least = !some || low < least ? low : least;
        greatest = !some || high > greatest ? high : greatest;
        last = high;
        some = true;
    }
    text_buffer_format(out, "<Series number=\"%zu\"", number);
    page_attribute(out, "name", name, PAGE_LONGEST_NAME);
    if (some) {
        add_value(out, "least", least);
        add_value(out, "greatest", greatest);
        add_value(out, "last", last);
        text_buffer_add(out, " path=\"");
        add_path(out, l, s);
        text_buffer_add(out, "\"");
    }
    text_buffer_add(out, "/>");
}

/* The counter of which all series are instances: "% Processor Time" of "% Processor Time (0)". 0: they are not. */
static size_t common_counter(const struct chart_layout *c)
{
    size_t length = 0;
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->lines[i].name, *instance = strstr(name, " (");
        const size_t own = instance && name[strlen(name) - 1] == ')' ? (size_t)(instance - name) : 0;
        if (!own || (i && (own != length || strncmp(name, c->lines[0].name, length) != 0)))
            return 0;
        length = own;
    }
    return length;
}

/* After the counter, the name of a series is only the instance. */
static char *short_name(const char *name, size_t counter)
{
    return counter ? text_copy_n(name + counter + 2, strlen(name) - counter - 3) : text_copy(name);
}

void chart_layout_add(struct text_buffer *out, const struct chart_layout *c, unsigned id, const char *title)
{
    double least = 0, greatest = 1;
    const bool some = find_bounds(c, &least, &greatest);
    const struct scale s = make_scale(least, greatest);
    const size_t counter = common_counter(c);
    text_buffer_format(out, "<Chart id=\"c%u\"", id);
    page_attribute(out, "title", title, PAGE_LONGEST_NAME);
    if (counter || c->count == 1) {
        char *text = counter ? text_copy_n(c->lines[0].name, counter) : text_copy(c->lines[0].name);
        page_attribute(out, "counter", text, PAGE_LONGEST_NAME);
        out->failed |= !text;
        memory_free(text);
    }
    page_attribute(out, "start", c->start, PAGE_LONGEST_NAME);
    page_attribute(out, "duration", c->duration, PAGE_LONGEST_NAME);
    text_buffer_format(out, " width=\"%d\" height=\"%d\" omitted=\"%zu\"%s>", CHART_WIDTH, CHART_HEIGHT, c->omitted,
                       some ? "" : " empty=\"1\"");
    add_marks(out, &s);
    add_times(out, c);
    add_limits(out, c, &s, some);
    for (size_t i = 0; i < c->count; i++) {
        char *name = short_name(c->lines[i].name, counter);
        out->failed |= !name;
        add_line(out, &c->lines[i], name, i + 1, &s);
        memory_free(name);
    }
    text_buffer_add(out, "</Chart>\n");
}
