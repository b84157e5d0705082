/* SPDX-License-Identifier: MIT */
#include "engine/report/rules_grammar.h"

#include "engine/report/rules/rules_xpath.h"

#include <libxml/tree.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct xml_within withins[] = {
#define WITHIN(Type, element, child, least, most, doc) {RULES_##Type, #element, RULES_##child, least, most, doc},
#include "engine/report/rules_grammar.def"
};
static const struct xml_value values[] = {
#define VALUE(Type, attribute, check, use, doc) {RULES_##Type, #attribute, RULES_VALUE_##check, XML_##use, doc},
#include "engine/report/rules_grammar.def"
};
static const struct {
    enum rules_sort sort;
    const char *text;
} words[] = {
#define WORD(check, text) {RULES_VALUE_##check, text},
#include "engine/report/rules_grammar.def"
};

int rules_word(enum rules_sort sort, const char *text)
{
    int at = 0;
    for (size_t i = 0; text && i < COUNT(words); i++) {
        if (words[i].sort != sort)
            continue;
        if (text_equal_nocase(words[i].text, text))
            return at;
        at++;
    }
    return -1;
}

static const char *fault(unsigned sort, const char *text)
{
    uint64_t number;
    switch (sort) {
    case RULES_VALUE_TEXT_ANY:
        return NULL;
    case RULES_VALUE_TEXT_SOME:
        return *text ? NULL : "it is wanted";
    case RULES_VALUE_NUMBER:
        return text_to_u64(text, &number) && number <= UINT32_MAX ? NULL : "no number from 0 to 4294967295";
    case RULES_VALUE_BOOL:
        return text_equal_nocase(text, "true") || text_equal_nocase(text, "false") ? NULL : "neither true nor false";
    case RULES_VALUE_NAME:
        return rules_name_length(text) && !text[rules_name_length(text)]
                   ? NULL
                   : "no name of letters, digits, '-', '_' and '.'";
    case RULES_VALUE_XPATH:
        return *text ? NULL : "an XPath expression is wanted";
    default:
        return rules_word((enum rules_sort)sort, text) >= 0 ? NULL : "not one of its words";
    }
}

/* In any namespace, since nobody says one for rules. */
static bool is_ours(xmlNodePtr node)
{
    return node->type == XML_ELEMENT_NODE;
}

const struct xml_grammar rules_grammar = {
    .withins = withins,
    .within_count = COUNT(withins),
    .values = values,
    .value_count = COUNT(values),
    .fault = fault,
    .is_ours = is_ours,
};
