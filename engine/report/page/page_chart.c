/* SPDX-License-Identifier: MIT */
/* Computes the scales and paths of charts. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/report/page.h"
#include "engine/report/page/page_parts.h"
#include "engine/report/page_unit.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#define STEPS 5 /* approximate maximum number of marks of a scale */

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

/* Reads a number, and moves *at to the position after it. */
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

static struct chart_value read_item(const char **at)
{
    static const struct chart_value gap = {1, 1, 0};
    float parts[3];
    size_t count = 0;
    while (read_value(at, &parts[count]) && ++count < 3 && **at == ':')
        ++*at;
    if (!count || (*at)[-1] == ':' || (**at && !strchr(" \t\r\n", **at)))
        return gap;
    if (count == 1)
        return (struct chart_value){parts[0], parts[0], parts[0]};
    const float greatest = parts[count - 1];
    const float mean = count == 3 ? parts[1] : (float)(((double)parts[0] + (double)greatest) / 2);
    return parts[0] <= mean && mean <= greatest ? (struct chart_value){parts[0], mean, greatest} : gap;
}

size_t chart_values_read(const char *at, struct chart_value *out)
{
    size_t count = 0;
    while (*(at += strspn(at, " \t\r\n")) && count < CHART_MOST_POINTS) {
        out[count++] = read_item(&at);
        at += strcspn(at, " \t\r\n");
    }
    return count;
}

HRESULT chart_layout_series(struct chart_layout *c, const struct chart_source *series, bool must)
{
    if (c->count == CHART_MOST_SERIES) {
        c->omitted++;
        if (!must || c->first == c->count)
            return S_OK;
        memory_free(c->lines[--c->count].name);
    }
    const size_t at = must ? c->first : c->count;
    char *copy = text_copy(series->name);
    if (!copy)
        return E_OUTOFMEMORY;
    struct chart_line *l = &c->lines[at];
    memmove(l + 1, l, (c->count - at) * sizeof *l);
    l->name = copy;
    l->has_place = series->has_place;
    l->first = series->first;
    l->step = series->step;
    l->count = chart_values_read(series->points, l->points);
    c->count++;
    c->first += must;
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

/* The scale is in displayed units, which are the counter's values times the factor of `unit`. */
struct scale {
    struct page_scale unit;
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

/* Returns the smallest step of at least `least` that is 1, 2 or 5 times a power of ten. */
static double round_step(double least)
{
    const double power = pow(10, floor(log10(least)));
    const double of_ten = least / power;
    return power * (of_ten <= 1 ? 1 : of_ten <= 2 ? 2 : of_ten <= 5 ? 5 : 10);
}

/* Returns the common unit of all series. If their units differ, returns the unit PAGE_UNIT_NONE. */
static struct page_unit common_unit(const struct chart_layout *c)
{
    static const struct page_unit none = {PAGE_UNIT_NONE, 1, false};
    const struct page_unit unit = c->count ? page_unit_of(c->lines[0].name) : none;
    for (size_t i = 1; i < c->count; i++) {
        const struct page_unit other = page_unit_of(c->lines[i].name);
        if (!page_unit_equals(&unit, &other))
            return none;
    }
    return unit;
}

/* The axis starts at zero, unless the line would then be too flat. */
static struct scale make_scale(const struct page_unit *unit, double least, double greatest)
{
    const struct page_scale shown = page_unit_scale(unit, fmax(fabs(least), fabs(greatest)));
    least *= shown.factor;
    greatest *= shown.factor;
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
    struct scale s = {.unit = shown, .step = round_step((greatest - least) / STEPS)};
    s.low = floor(least / s.step + 1e-6) * s.step;
    s.high = ceil(greatest / s.step - 1e-6) * s.step;
    return s;
}

static int height_of(const struct scale *s, double value)
{
    const double at = (s->high - value * s->unit.factor) / (s->high - s->low) * CHART_HEIGHT;
    return at <= 0 ? 0 : at >= CHART_HEIGHT ? CHART_HEIGHT : (int)lround(at);
}

/* ---- the paths ---- */

/* Returns the horizontal position in units of the chart, from 0 to CHART_WIDTH. */
static int place_of(const struct chart_line *l, size_t at, double duration)
{
    if (!l->has_place || !(duration > 0))
        return (int)((2 * at + 1) * CHART_WIDTH / (2 * l->count));
    const double x = (l->first + l->step * (double)at) / duration * CHART_WIDTH;
    return x <= 0 ? 0 : x >= CHART_WIDTH ? CHART_WIDTH : (int)lround(x);
}

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

/* Adds the SVG path of the line through the mean values. A gap begins a new subpath. A point without a neighbour is
   drawn as a line of zero length; the round cap of the line makes the point visible. */
static void add_path(struct text_buffer *out, const struct chart_line *l, const struct scale *s, double duration)
{
    bool down = false; /* the pen is down: the path continues */
    int x = 0, y = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (is_gap(l, i)) {
            down = false;
            continue;
        }
        const int to_x = place_of(l, i, duration), to_y = height_of(s, (double)l->points[i].mean);
        if (down) {
            line_to(out, &x, &y, to_x, to_y);
        } else {
            const bool alone = i + 1 == l->count || is_gap(l, i + 1);
            text_buffer_format(out, alone ? "M%d %dh0" : "M%d %d", to_x, to_y);
            x = to_x;
            y = to_y;
        }
        down = true;
    }
}

/* Draws the greatest values of the points from `from` up to `to` forward, and then the least values backward. */
static void add_band(struct text_buffer *out, const struct chart_line *l, size_t from, size_t to, const struct scale *s,
                     double duration)
{
    int x = place_of(l, from, duration), y = height_of(s, (double)l->points[from].greatest);
    text_buffer_format(out, "M%d %d", x, y);
    for (size_t i = from + 1; i < to; i++)
        line_to(out, &x, &y, place_of(l, i, duration), height_of(s, (double)l->points[i].greatest));
    for (size_t i = to; i-- > from;)
        line_to(out, &x, &y, place_of(l, i, duration), height_of(s, (double)l->points[i].least));
    text_buffer_add(out, "z");
}

static void add_bands(struct text_buffer *out, const struct chart_line *l, const struct scale *s, double duration)
{
    for (size_t from = 0, to; from < l->count; from = to + 1) {
        bool some = false;
        for (to = from; to < l->count && !is_gap(l, to); to++)
            some |= l->points[to].least < l->points[to].greatest;
        if (some)
            add_band(out, l, from, to, s, duration);
    }
}

/* ---- the element ---- */

static void add_value(struct text_buffer *out, const char *name, const struct page_unit *unit, double value)
{
    const struct page_scale own = page_unit_scale(unit, value);
    text_buffer_format(out, " %s=\"", name);
    page_scale_add(out, &own, value, 4);
    text_buffer_add(out, "\"");
}

static void add_marks(struct text_buffer *out, const struct scale *s)
{
    const int count = (int)lround((s->high - s->low) / s->step);
    for (int i = 0; i <= count; i++) {
        const double shown = s->high - i * s->step, value = shown / s->unit.factor;
        text_buffer_format(out, "<Mark y=\"%d\">", height_of(s, value));
        page_scale_add(out, &s->unit, fabs(shown) < s->step / 1e6 ? 0 : value, 6);
        text_buffer_add(out, "</Mark>");
    }
}

static void add_limits(struct text_buffer *out, const struct chart_layout *c, const struct page_unit *unit,
                       const struct scale *s, bool some)
{
    for (size_t i = 0; i < c->limit_count; i++) {
        const struct chart_limit *l = &c->limits[i];
        text_buffer_add(out, "<Limit");
        if (l->warning)
            text_buffer_format(out, " warning=\"%zu\"", l->warning);
        if (l->has_value && some) {
            text_buffer_format(out, " y=\"%d\"", height_of(s, l->value));
            add_value(out, "value", unit, l->value);
        }
        text_buffer_add(out, "/>");
    }
}

static unsigned two_digits(const char *at)
{
    return (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0');
}

bool chart_start_read(const char *text, int64_t *out)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    struct calendar_time t = {.year = (int)(two_digits(text) * 100 + two_digits(text + 2)),
                              .month = (int)two_digits(text + 5),
                              .day = (int)two_digits(text + 8),
                              .hour = (int)two_digits(text + 11),
                              .minute = (int)two_digits(text + 14),
                              .second = (int)two_digits(text + 17)};
    if (text[19] == '.' && strspn(text + 20, "0123456789") == 3)
        t.millisecond = (int)(two_digits(text + 20) * 10) + text[22] - '0';
    if (t.year < 1601 || t.month < 1 || t.month > 12 || t.day < 1 || t.day > 31)
        return false;
    *out = clock_from_calendar(&t);
    return true;
}

/* Adds labels at round local times: multiples of the step from midnight, or whole days from the first one. */
static void add_times(struct text_buffer *out, const struct chart_layout *c)
{
    static const int64_t steps_ms[] = {100,     200,      500,      1000,     2000,     5000,      10000,    15000,
                                       30000,   60000,    120000,   300000,   600000,   900000,    1800000,  3600000,
                                       7200000, 10800000, 21600000, 43200000, 86400000, 172800000, 604800000};
    int64_t start = 0;
    const double duration = strtod(c->duration, NULL);
    const bool elapsed = !chart_start_read(c->start, &start); /* without a start, labels show the elapsed time */
    if (!(duration >= 0 && duration < 1e9) || !*c->duration)
        return;
    const int64_t ms = (int64_t)(duration * 1000 + 0.5), first = start / 10000;
    int64_t step = steps_ms[0];
    for (size_t i = 1; i < sizeof steps_ms / sizeof *steps_ms && ms / step > CHART_TIMES; i++)
        step = steps_ms[i];
    while (ms / step > CHART_TIMES)
        step *= 2;
    const int64_t day = 86400000, origin = first - first % day;
    for (int64_t at = origin + (first - origin + step - 1) / step * step; at <= first + ms; at += step) {
        const struct calendar_time t = clock_calendar(at * 10000);
        text_buffer_format(out, "<Time x=\"%d\">",
                           ms ? (int)lround((double)(at - first) / (double)ms * CHART_WIDTH) : 0);
        if (at % day == 0 && elapsed && at)
            text_buffer_format(out, "%lld d", (long long)(at / day));
        else if (at % day == 0 && !elapsed && (ms >= day || at > first))
            text_buffer_format(out, "%02d-%02d", t.month, t.day);
        else if (step < 1000)
            text_buffer_format(out, "%02d:%02d:%02d.%d", t.hour, t.minute, t.second, t.millisecond / 100);
        else if (step < 60000)
            text_buffer_format(out, "%02d:%02d:%02d", t.hour, t.minute, t.second);
        else
            text_buffer_format(out, "%02d:%02d", t.hour, t.minute);
        text_buffer_add(out, "</Time>");
    }
}

static void add_line(struct text_buffer *out, const struct chart_line *l, const char *name, size_t number,
                     const struct scale *s, double duration)
{
    const struct page_unit unit = page_unit_of(l->name);
    double least = 0, greatest = 0, last = 0;
    bool some = false;
    for (size_t i = 0; i < l->count; i++) {
        if (is_gap(l, i))
            continue;
        const double low = (double)l->points[i].least, high = (double)l->points[i].greatest;
        least = !some || low < least ? low : least;
        greatest = !some || high > greatest ? high : greatest;
        last = (double)l->points[i].mean;
        some = true;
    }
    text_buffer_format(out, "<Series number=\"%zu\"", number);
    page_attribute(out, "name", name, PAGE_LONGEST_NAME);
    if (some) {
        add_value(out, "least", &unit, least);
        add_value(out, "greatest", &unit, greatest);
        add_value(out, "last", &unit, last);
        text_buffer_add(out, " path=\"");
        add_path(out, l, s, duration);
        text_buffer_add(out, "\"");
        struct text_buffer band = {0};
        add_bands(&band, l, s, duration);
        if (band.length)
            text_buffer_format(out, " band=\"%s\"", band.text);
        out->failed |= band.failed;
        text_buffer_free(&band);
    }
    text_buffer_add(out, "/>");
}

/* If all series are instances of one counter, returns the length of the counter's name in their names, such as "%
   Processor Time" in "% Processor Time (0)". Otherwise returns 0. */
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

/* Returns the name of a series without the counter: only the instance. */
static char *short_name(const char *name, size_t counter)
{
    return counter ? text_copy_n(name + counter + 2, strlen(name) - counter - 3) : text_copy(name);
}

void chart_layout_add(struct text_buffer *out, const struct chart_layout *c, unsigned id, const char *title)
{
    double least = 0, greatest = 1;
    const bool some = find_bounds(c, &least, &greatest);
    const struct page_unit unit = common_unit(c);
    const struct scale s = make_scale(&unit, least, greatest);
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
    add_limits(out, c, &unit, &s, some);
    for (size_t i = 0; i < c->count; i++) {
        char *name = short_name(c->lines[i].name, counter);
        out->failed |= !name;
        add_line(out, &c->lines[i], name, i + 1, &s, strtod(c->duration, NULL));
        memory_free(name);
    }
    text_buffer_add(out, "</Chart>\n");
}
