/* SPDX-License-Identifier: MIT */
#include "engine/report/make/report_severity.h"

#include "engine/base/text.h"

#include <stddef.h>

enum report_severity report_severity_of(const char *img)
{
    static const struct {
        const char *word;
        enum report_severity severity;
    } words[] = {
        {"red", REPORT_ERROR},
        {"error", REPORT_ERROR},
        {"critical", REPORT_ERROR},
        {"1", REPORT_ERROR},
        {"2", REPORT_ERROR},
        {"yellow", REPORT_WARNING},
        {"warning", REPORT_WARNING},
        {"3", REPORT_WARNING},
        {"green", REPORT_GOOD},
        {"ok", REPORT_GOOD},
        {"information", REPORT_INFORMATION},
        {"info", REPORT_INFORMATION},
        {"4", REPORT_INFORMATION},
    };
    for (size_t i = 0; img && i < sizeof words / sizeof *words; i++)
        if (text_equal_nocase(img, words[i].word))
            return words[i].severity;
    return REPORT_OTHER;
}
