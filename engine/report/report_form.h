/* SPDX-License-Identifier: MIT */
/* The rows of report_form.def as types of elements. */
#ifndef OPENPLA_REPORT_FORM_H
#define OPENPLA_REPORT_FORM_H

#include <stdbool.h>
#include <stddef.h>

enum form_type {
#define TYPE(Type, ...) FORM_##Type,
#include "engine/report/make/report_form.def"
    FORM_TYPE_COUNT
};

struct form_type_row {
    const char *name;
    bool holds_text;
    const char *doc;
};
extern const struct form_type_row form_types[FORM_TYPE_COUNT];

struct form_child {
    enum form_type parent;
    const char *element;
    enum form_type type;
    bool any_number; /* else at most one */
    const char *doc;
};
extern const struct form_child form_children[];
extern const size_t form_child_count;

struct form_attribute {
    enum form_type of;
    const char *name, *schema_type;
    bool required;
    const char *doc;
};
extern const struct form_attribute form_attributes[];
extern const size_t form_attribute_count;

/* NULL: no such element stands in one of that type. */
const struct form_child *form_find_child(enum form_type parent, const char *element);

#endif
