/* SPDX-License-Identifier: MIT */
/* An alert's threshold: <counter path><operator><number>. MS-PLA 3.2.4.8; behaviour 12. */
#ifndef OPENPLA_ALERT_THRESHOLD_H
#define OPENPLA_ALERT_THRESHOLD_H

#include "engine/base/text.h"

struct alert_threshold {
    char *path;     /* from memory_alloc */
    char operator_; /* '<' or '>' */
    double value;
};
/* Taken apart from the right, for a counter's name may hold < and >. E_INVALIDARG with the text. */
HRESULT alert_threshold_parse(const char *text, struct alert_threshold *out);

#endif
