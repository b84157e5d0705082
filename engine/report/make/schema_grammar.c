/* SPDX-License-Identifier: MIT */
/* The tables of the grammar of report schemas, and the valid texts of attributes. */
#include "engine/base/xml_text.h"
#include "engine/report/make/schema_reading.h"
#include "engine/report/report_schema.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { NOTHING, TEXT };

const struct schema_type_row schema_types[SCHEMA_TYPE_COUNT] = {
#define ELEMENT(Type, holds, doc) {#Type, holds, doc},
#include "engine/report/make/schema_grammar.def"
};
const char *const schema_sort_names[SCHEMA_SORT_COUNT] = {
#define SORT(check, schema_type) schema_type,
#include "engine/report/make/schema_grammar.def"
};
const struct xml_within schema_withins[] = {
#define WITHIN(Type, element, child, least, most, doc) {SCHEMA_##Type, #element, SCHEMA_##child, least, most, doc},
#include "engine/report/make/schema_grammar.def"
};
const size_t schema_within_count = COUNT(schema_withins);
const struct xml_value schema_values[] = {
#define VALUE(Type, attribute, check, use, doc) {SCHEMA_##Type, #attribute, VALUE_##check, XML_##use, doc},
#include "engine/report/make/schema_grammar.def"
};
const size_t schema_value_count = COUNT(schema_values);
const struct schema_word schema_words[] = {
#define WORD(check, text) {VALUE_##check, text},
#include "engine/report/make/schema_grammar.def"
};
const size_t schema_word_count = COUNT(schema_words);
const char *const schema_out_types[] = {
    "",
#define OUT_TYPE(name, word) word,
#include "engine/report/make/schema_grammar.def"
};
const size_t schema_out_type_count = COUNT(schema_out_types);
const char *const schema_system_fields[] = {
    "",
#define SYSTEM_FIELD(name, doc) #name,
#include "engine/report/make/schema_grammar.def"
};
const size_t schema_system_field_count = COUNT(schema_system_fields);

const struct xml_within *schema_find_within(enum schema_type parent, const char *element)
{
    return xml_grammar_within(&schema_grammar, parent, element);
}

int schema_find_word(enum schema_sort_of_value sort, const char *text)
{
    int at = 0;
    for (size_t i = 0; i < schema_word_count; i++) {
        if (schema_words[i].sort != sort)
            continue;
        if (text_equal_nocase(schema_words[i].text, text))
            return at;
        at++;
    }
    return -1;
}

/* Returns whether the text is one half of a mask; the other half is for negative numbers. A half consists of digits,
   with optional text before and after the digits. */
static bool half_is_mask(const char *at, size_t size)
{
    const char *end = at + size;
    while (at < end && !strchr("#0,.", *at))
        at++;
    const char *digits = at;
    bool some = false;
    while (at < end && (*at == '#' || *at == ','))
        some |= *at++ == '#';
    while (at < end && (*at == '0' || *at == ','))
        some |= *at++ == '0';
    if (at < end && *at == '.') {
        at++;
        while (at < end && *at == '0')
            some = true, at++;
        while (at < end && *at == '#')
            some = true, at++;
    }
    const bool grouped_last = at > digits && at[-1] == ',';
    while (at < end && !strchr("#0,.", *at))
        at++;
    return some && !grouped_last && at == end;
}

static bool is_mask(const char *text)
{
    const size_t first = strcspn(text, ";");
    if (!half_is_mask(text, first))
        return false;
    return !text[first] || (!strchr(text + first + 1, ';') && half_is_mask(text + first + 1, strlen(text + first + 1)));
}

static bool is_number(const char *text, uint64_t least, uint64_t most)
{
    uint64_t number;
    return *text >= '0' && *text <= '9' && text_to_u64(text, &number) && number >= least && number <= most;
}

static bool are_columns(const char *text)
{
    char word[16];
    for (size_t length; *text; text += length) {
        while (xml_is_blank(*text))
            text++;
        length = strcspn(text, " \t\r\n");
        if (length >= sizeof word)
            return false;
        memcpy(word, text, length);
        word[length] = 0;
        if (length && schema_find_word(VALUE_COUNTER_COLUMN, word) < 0)
            return false;
    }
    return true;
}

/* If the text is invalid, returns the reason, which is a static string. Returns NULL if the text is valid. */
static const char *schema_value_fault(enum schema_sort_of_value sort, const char *text)
{
    GUID guid;
    switch (sort) {
    case VALUE_TEXT_SOME:
        return *text ? NULL : "missing";
    case VALUE_NUMBER:
        return is_number(text, 0, UINT64_MAX) ? NULL : "expected a number of 0 or more";
    case VALUE_SMALL:
        return is_number(text, 0, UINT32_MAX) ? NULL : "expected a number from 0 to 4294967295";
    case VALUE_COUNT:
        return is_number(text, 1, UINT32_MAX) ? NULL : "expected a number from 1 to 4294967295";
    case VALUE_LEVEL:
        return is_number(text, 1, SCHEMA_HIGHEST_LEVEL) ? NULL : "expected a level from 1 to 5";
    case VALUE_BOOL:
        return !strcmp(text, "true") || !strcmp(text, "false") || !strcmp(text, "1") || !strcmp(text, "0")
                   ? NULL
                   : "expected true or false";
    case VALUE_GUIDS:
        return text_to_guid(text, &guid) ? NULL : "expected a GUID";
    case VALUE_EVENT_ID:
        return !strcmp(text, "*") || is_number(text, 0, UINT16_MAX) ? NULL : "expected a number from 0 to 65535 or *";
    case VALUE_COUNTER_COLUMNS:
        return are_columns(text) ? NULL : "expected column names";
    case VALUE_MASK:
        return is_mask(text) ? NULL : "expected a number format mask";
    case VALUE_TEXT_ANY:
        return NULL;
    default:
        return schema_find_word(sort, text) >= 0 ? NULL : "unknown word";
    }
}

bool schema_is_ours(xmlNodePtr node)
{
    return node->type == XML_ELEMENT_NODE &&
           (!node->ns || !node->ns->href || !strcmp((const char *)node->ns->href, REPORT_SCHEMA_NAMESPACE));
}

static const char *value_fault(unsigned sort, const char *text)
{
    return schema_value_fault((enum schema_sort_of_value)sort, text);
}

const struct xml_grammar schema_grammar = {
    .withins = schema_withins,
    .within_count = COUNT(schema_withins),
    .values = schema_values,
    .value_count = COUNT(schema_values),
    .fault = value_fault,
    .is_ours = schema_is_ours,
};
