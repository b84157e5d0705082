/* SPDX-License-Identifier: MIT */
#include "engine/tdh/schema_names.h"

#include <stddef.h>

const char *standard_level_name(uint8_t level)
{
    static const char *const names[] = {"Log Always", "Critical", "Error", "Warning", "Information", "Verbose"};
    return level < sizeof names / sizeof names[0] ? names[level] : NULL;
}

const char *standard_opcode_name(uint8_t opcode)
{
    static const char *const names[] = {"Info",      "Start", "Stop",   "DC_Start", "DC_Stop",
                                        "Extension", "Reply", "Resume", "Suspend",  "Send"};
    if (opcode == 240)
        return "Receive";
    return opcode < sizeof names / sizeof names[0] ? names[opcode] : NULL;
}
