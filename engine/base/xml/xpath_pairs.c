/* SPDX-License-Identifier: MIT */
/* A lexer of XPath 1.0 (3.7). The lexer determines whether each step starts from one node, and whether each operand of
   a comparison is a list. If the lexer cannot determine this, it assumes the costly case. Lists are merged where a step
   starts from several nodes. For the axes child, attribute and self, libxml2 merges lists without a search for
   duplicates. For the other axes, libxml2 searches for duplicates, even if there can be none.

   The same lexer replaces comparisons and unions with functions, but only where the operands are clear without a
   parser. The left side of a comparison must begin its expression, or follow 'and', 'or', a bracket or a comma. The
   right side must end its expression, or be followed by 'and', 'or', a bracket or a comma. In "a = b = c" nothing is
   replaced. */
#include "engine/base/xpath_pairs.h"

#include <string.h>

enum {
    DEEPEST = 128,
    TRANSLATED_MOST = 64 /* maximum bytes of translate()'s second argument and one quote; libxml2 searches it for each
                            character of the first argument */
};
enum expected { OPERAND, STEP, NODE_TEST, NODE_TEST_OF_ONE, OPERATOR };
enum called { NOT_CALLED, VALUE, TRANSLATE, NODES, CURRENT };

/* The operand that contains the current token. */
struct operand {
    bool from_one;          /* its path, as read so far, selects at most one node */
    bool at_root;           /* its path, as read so far, selects the document node, which contains one element */
    bool is_value;          /* it is not a list, or is a list of at most one node */
    bool computed;          /* an operator converts it to a value */
    bool wants_value;       /* the list on its left may be compared only with a value */
    const char *comparison; /* position of the comparison before this operand */
    size_t comparison_length;
    const char *begin, *left; /* beginning of this operand and of the left operand; NULL: it has not begun, or its
                                 beginning is not certain */
    bool follows_comparison, in_union;
};
struct level {
    char opened;
    enum called called;
    bool has_operator;
    unsigned commas;
    struct operand before;
};

enum { EDITS_MOST = 200 };
/* A replacement of the expression's text, for xpath_use_functions. */
struct edit {
    const char *at;
    size_t removed;
    const char *text, *name; /* `name`: an operator; it is inserted after `text`, between quotes */
    size_t name_length;
};

struct look {
    const char *at;
    bool variables_are_values;
    bool edits_steps;
    struct edit *edits; /* NULL: the expression is only inspected */
    size_t edit_count;
    bool ticks; /* insert a predicate with openpla-tick() after the current node test */
    enum expected expected;
    struct operand now;
    struct level levels[DEEPEST];
    size_t deep;
    struct xpath_pair *out;
};

static bool pairs(struct look *l, const char *at, size_t length, const char *instead)
{
    if (l->out)
        *l->out = (struct xpath_pair){at, length, instead};
    return true;
}

static bool unknown(struct look *l)
{
    return pairs(l, l->at, *l->at ? 1 : 0, "an expression of XPath 1.0");
}

static bool lists_compared(struct look *l)
{
    return pairs(l, l->now.comparison, l->now.comparison_length,
                 "number() or string() around one side of the comparison");
}

/* False: there are too many edits. */
static bool add_edit(struct look *l, const char *at, size_t removed, const char *text)
{
    if (l->edit_count == EDITS_MOST)
        return false;
    l->edits[l->edit_count++] = (struct edit){at, removed, text, NULL, 0};
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    for (;; n++) {
        const char c = at[n];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
        if (!letter && !(n && (is_digit(c) || c == '-' || c == '.')))
            return n;
    }
}

/* `words` are separated by spaces, which no name contains. */
static bool is_one_of(const char *name, size_t length, const char *words)
{
    for (; *words; words = skip_blanks(words)) {
        const size_t word = strcspn(words, " ");
        if (word == length && memcmp(words, name, length) == 0)
            return true;
        words += word;
    }
    return false;
}

static void begin_path(struct look *l)
{
    l->expected = OPERAND;
    l->now.from_one = true;
    l->now.at_root = l->now.is_value = false;
}

static void begin_operand(struct look *l)
{
    l->now = (struct operand){0};
    begin_path(l);
}

/* Closes the bracket of openpla-union. */
static bool end_union(struct look *l)
{
    if (!l->now.in_union)
        return false;
    l->now.in_union = false;
    return !add_edit(l, l->at, 0, ")") && unknown(l);
}

/* Called at the end of an operand. Checks or replaces a comparison of the operand with a list. */
static bool end_operand(struct look *l)
{
    if (end_union(l))
        return true;
    if (!l->now.wants_value || l->now.is_value || l->now.computed)
        return false;
    const bool more = *l->at && strchr("=!<>", *l->at);
    if (!l->edits || !l->now.left || more)
        return lists_compared(l);
    const size_t first = l->edit_count;
    if (!add_edit(l, l->now.left, 0, "openpla-compare(") ||
        !add_edit(l, l->now.comparison, l->now.comparison_length, ",") || !add_edit(l, l->at, 0, ")"))
        return lists_compared(l);
    l->edits[first].name = l->now.comparison;
    l->edits[first].name_length = l->now.comparison_length;
    return false;
}

static void end_step(struct look *l, const char *end, bool one)
{
    l->at = end;
    l->expected = OPERATOR;
    l->now.from_one = l->now.is_value = one && !l->now.in_union;
    l->now.at_root = false;
}

static bool end_value(struct look *l, const char *end)
{
    end_step(l, end, false);
    l->now.is_value = true;
    return false;
}

static bool open_level(struct look *l, char opened, enum called called)
{
    if (l->deep + 1 == DEEPEST)
        return unknown(l);
    l->levels[++l->deep] = (struct level){opened, called, false, 0, l->now};
    l->at++;
    begin_operand(l);
    return false;
}

static bool close_level(struct look *l)
{
    const struct level *level = &l->levels[l->deep];
    if (!l->deep || level->opened != (*l->at == ')' ? '(' : '['))
        return unknown(l);
    if (end_operand(l))
        return true;
    l->deep--;
    l->now = level->before;
    l->at++;
    l->expected = OPERATOR;
    if (level->opened == '[')
        return false; /* a predicate selects from the same nodes and adds none */
    end_step(l, l->at, level->called == CURRENT);
    if (level->called == NOT_CALLED ? level->has_operator : level->called == VALUE || level->called == TRANSLATE)
        l->now.is_value = true;
    return false;
}

/* Reads `/` or `//`. */
static bool take_slash(struct look *l)
{
    const bool below = l->at[1] == '/', begins = l->expected == OPERAND;
    if (below && !l->now.from_one) {
        if (!l->edits || !l->edits_steps || !add_edit(l, l->at, 2, "/descendant-or-self::node()[openpla-tick()]/"))
            return pairs(l, l->at, 2, "// only at the beginning of a path, or a path that names each step");
    }
    l->now.at_root = begins && !below;
    l->now.from_one = l->now.is_value = l->now.from_one && !below;
    l->expected = STEP;
    l->at += below ? 2 : 1;
    return false;
}

static bool take_dots(struct look *l)
{
    const size_t length = l->at[1] == '.' ? 2 : 1;
    if (length == 2 && !l->now.from_one) {
        if (!l->edits || !l->edits_steps || !add_edit(l, l->at, 2, "parent::node()[openpla-tick()]"))
            return pairs(l, l->at, 2, "//Item[Data] instead of //Data/..");
    }
    end_step(l, l->at + length, l->now.from_one);
    return false;
}

static bool take_axis(struct look *l, size_t length, const char *end)
{
    static const char to_one[] = "attribute parent self", plain[] = "attribute child self";
    static const char others[] = "ancestor ancestor-or-self descendant descendant-or-self following following-sibling "
                                 "parent preceding preceding-sibling";
    const bool is_plain = is_one_of(l->at, length, plain);
    if (!is_plain && (!l->now.from_one || !is_one_of(l->at, length, others))) {
        if (!l->edits || !l->edits_steps || !is_one_of(l->at, length, others))
            return pairs(l, l->at, length, "//Item[Data] instead of //Data/..");
        l->ticks = true;
    }
    l->now.at_root = l->now.at_root && is_one_of(l->at, length, "child");
    l->expected = is_one_of(l->at, length, to_one) ? NODE_TEST_OF_ONE : NODE_TEST;
    l->at = end;
    return false;
}

static bool take_call(struct look *l, size_t length, const char *bracket)
{
    static const char values[] =
        "boolean ceiling concat contains count element-available false floor format-number function-available "
        "generate-id lang last local-name name namespace-uri normalize-space not number openpla-compare openpla-tick "
        "position round starts-with "
        "string string-length substring substring-after substring-before sum system-property translate true "
        "unparsed-entity-uri";
    const enum called called = is_one_of(l->at, length, "translate") ? TRANSLATE
                               : is_one_of(l->at, length, values)    ? VALUE
                               : is_one_of(l->at, length, "current") ? CURRENT
                                                                     : NODES;
    if (called == NODES && !is_one_of(l->at, length, "comment node openpla-union processing-instruction text"))
        return pairs(l, l->at, length, "a path");
    if (l->ticks) { /* ancestor::node() */
        const char *end = bracket + 1 + strspn(bracket + 1, " \t\r\n");
        l->ticks = false;
        if (*end != ')' || !add_edit(l, end + 1, 0, "[openpla-tick()]"))
            return unknown(l);
    }
    l->at = bracket;
    return open_level(l, '(', called);
}

/* Reads a name, `*`, an axis or a function. After `@` and `::`, only a name or a node test is accepted. */
static bool take_name(struct look *l)
{
    const bool any = *l->at == '*', tests = l->expected == NODE_TEST || l->expected == NODE_TEST_OF_ONE;
    const size_t length = any ? 1 : name_length(l->at);
    const char *end = l->at + length, *next = skip_blanks(end);
    bool one = l->now.from_one && (l->now.at_root || (l->expected == NODE_TEST_OF_ONE && !any));
    if (!length)
        return unknown(l);
    if (!any && *next == ':' && next[1] == ':' && !tests)
        return take_axis(l, length, next + 2);
    if (!any && *next == '(')
        return take_call(l, length, next);
    if (!any && *end == ':') { /* a prefix */
        const size_t local = end[1] == '*' ? 1 : name_length(end + 1);
        one = one && end[1] != '*';
        end += 1 + local;
        if (!local || *skip_blanks(end) == '(')
            return unknown(l);
    }
    end_step(l, end, one);
    if (l->ticks && !add_edit(l, end, 0, "[openpla-tick()]"))
        return unknown(l);
    l->ticks = false;
    return false;
}

static bool take_attribute(struct look *l)
{
    l->at = skip_blanks(l->at + 1);
    l->now.at_root = false;
    l->expected = NODE_TEST_OF_ONE;
    return take_name(l);
}

static bool take_number(struct look *l)
{
    const char *end = l->at;
    while (is_digit(*end))
        end++;
    if (*end == '.')
        for (end++; is_digit(*end);)
            end++;
    return end_value(l, end);
}

static bool take_variable(struct look *l)
{
    const size_t length = name_length(l->at + 1);
    if (!length)
        return unknown(l);
    end_value(l, l->at + 1 + length);
    l->now.is_value = l->variables_are_values;
    return false;
}

static bool take_operand(struct look *l)
{
    const char c = *l->at;
    if (c == '"' || c == '\'') {
        const char *end = strchr(l->at + 1, c);
        if (!end)
            return unknown(l);
        return end_value(l, end + 1);
    }
    if (is_digit(c) || (c == '.' && is_digit(l->at[1])))
        return take_number(l);
    if (c == '$')
        return take_variable(l);
    if (c == '-') {
        l->now.computed = true;
        l->at++;
        return false;
    }
    return c == '(' ? open_level(l, '(', NOT_CALLED) : c == '/' ? take_slash(l) : unknown(l);
}

static bool take_comparison(struct look *l)
{
    const char *const at = l->at;
    const size_t length = at[1] == '=' ? 2 : 1;
    const bool is_value = l->now.is_value || l->now.computed;
    if (*at == '!' && length == 1)
        return unknown(l);
    if (end_operand(l))
        return true;
    const char *left = l->now.follows_comparison || l->now.computed ? NULL : l->now.begin;
    l->at += length;
    begin_operand(l);
    l->now.left = left;
    l->now.follows_comparison = true;
    l->now.wants_value = !is_value;
    l->now.comparison = at;
    l->now.comparison_length = length;
    return false;
}

/* Reads a comma. The second argument of translate() must be a short literal. */
static bool take_comma(struct look *l)
{
    struct level *level = &l->levels[l->deep];
    const char *next = skip_blanks(l->at + 1);
    if (!l->deep || level->opened != '(')
        return unknown(l);
    if (end_operand(l))
        return true;
    if (level->called == TRANSLATE && !level->commas) {
        const char *end = *next == '"' || *next == '\'' ? strchr(next + 1, *next) : NULL;
        if (!end || end - next > TRANSLATED_MOST || *skip_blanks(end + 1) != ',')
            return pairs(l, l->at, 1, "a string of at most 63 bytes as translate()'s second argument");
    }
    level->commas++;
    l->at++;
    begin_operand(l);
    return false;
}

static bool take_operator(struct look *l)
{
    static const char of_numbers[] = "div mod", of_truths[] = "and or";
    const char c = *l->at;
    size_t length = 1;
    switch (c) {
    case ')':
    case ']':
        return close_level(l);
    case '[':
        return open_level(l, '[', NOT_CALLED);
    case ',':
        return take_comma(l);
    case '/':
        return take_slash(l);
    case '|':
        if (!l->edits || !l->now.begin || (!l->now.in_union && !add_edit(l, l->now.begin, 0, "openpla-union(")) ||
            !add_edit(l, l->at, 1, ","))
            return pairs(l, l->at, 1, "//*[self::a or self::b] instead of //a | //b");
        l->now.in_union = true;
        begin_path(l);
        l->at++;
        return false;
    case '=':
    case '!':
    case '<':
    case '>':
        l->levels[l->deep].has_operator = true;
        return take_comparison(l);
    case '+':
    case '-':
    case '*':
        break;
    default:
        length = name_length(l->at);
        if (!is_one_of(l->at, length, of_numbers) && !is_one_of(l->at, length, of_truths))
            return unknown(l);
    }
    l->levels[l->deep].has_operator = true;
    if (is_one_of(l->at, length, of_truths)) {
        if (end_operand(l))
            return true;
        begin_operand(l);
    } else {
        if (end_union(l))
            return true;
        l->now.computed = true;
        begin_path(l);
        l->now.begin = NULL;
    }
    l->at += length;
    return false;
}

static bool take_token(struct look *l)
{
    const char c = *l->at;
    if (!l->now.begin && l->expected == OPERAND && c != '-' && c != ')')
        l->now.begin = l->at;
    const bool step = c == '@' || c == '*' || name_length(l->at) || (c == '.' && !is_digit(l->at[1]));
    if (c == ')' && l->expected == OPERAND)
        return close_level(l); /* f() */
    if (l->expected == NODE_TEST || l->expected == NODE_TEST_OF_ONE)
        return take_name(l);
    if (l->expected == OPERATOR || (l->expected == STEP && !step))
        return take_operator(l);
    if (!step)
        return take_operand(l);
    return c == '@' ? take_attribute(l) : c == '.' ? take_dots(l) : take_name(l);
}

static bool read_expression(struct look *l)
{
    begin_operand(l);
    for (l->at = skip_blanks(l->at); *l->at; l->at = skip_blanks(l->at))
        if (take_token(l))
            return true;
    return l->deep ? unknown(l) : end_operand(l);
}

bool xpath_compares_pairs(const char *expression, bool variables_are_values, struct xpath_pair *out)
{
    struct look l = {.at = expression, .variables_are_values = variables_are_values, .out = out};
    return read_expression(&l);
}

/* Sorts the edits by position. Edits at the same position stay in the order in which they were added, so that brackets
   are closed from the inside out. If the left side of a comparison begins with a union, the comparison and the union
   have their opening brackets at the same position. The comparison's bracket is added later, but must come first. */
static void sort_edits(struct edit *edits, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct edit moved = edits[i];
        size_t k = i;
        for (; k && (edits[k - 1].at > moved.at || (edits[k - 1].at == moved.at && moved.name)); k--)
            edits[k] = edits[k - 1];
        edits[k] = moved;
    }
}

void xpath_use_functions(const char *expression, bool variables_are_values, bool steps, struct text_buffer *out)
{
    struct edit edits[EDITS_MOST];
    struct look l = {
        .at = expression, .variables_are_values = variables_are_values, .edits_steps = steps, .edits = edits};
    const char *at = expression;
    if (read_expression(&l))
        l.edit_count = 0;
    sort_edits(edits, l.edit_count);
    for (size_t i = 0; i < l.edit_count; i++) {
        text_buffer_add_n(out, at, (size_t)(edits[i].at - at));
        text_buffer_add(out, edits[i].text);
        if (edits[i].name) {
            text_buffer_add(out, "'");
            text_buffer_add_n(out, edits[i].name, edits[i].name_length);
            text_buffer_add(out, "',");
        }
        at = edits[i].at + edits[i].removed;
    }
    text_buffer_add(out, at);
}
