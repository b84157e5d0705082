/* SPDX-License-Identifier: MIT */
/* The kinds of arguments that messages of WPP have. */
#ifndef OPENPLA_TMF_ITEMS_H
#define OPENPLA_TMF_ITEMS_H

#include "engine/etw/tmf.h"

enum tmf_form {
    TMF_FORM_NUMBER, /* by printf's rules */
    TMF_FORM_REAL,
    TMF_FORM_TEXT,     /* as the value's text */
    TMF_FORM_LIST,     /* the name at the number's place */
    TMF_FORM_SET,      /* the names of its bits */
    TMF_FORM_TIME,     /* FILETIME */
    TMF_FORM_SPAN,     /* 100 ns */
    TMF_FORM_ONE_LINE, /* a text without its line ends */
};
struct tmf_item {
    const char *name;
    uint16_t in, out; /* enum value_in_type, value_out_type */
    uint16_t length;  /* bytes that the type does not tell */
    enum tmf_form form;
};
/* NULL: none of that name is known. */
const struct tmf_item *tmf_item_find(const char *name);

#endif
