/* SPDX-License-Identifier: MIT */
/* Raw values of a log as those of PDH, and back. The time stamp, which a log keeps for all values of a sample, is left
   as it was. */
#ifndef OPENPLA_RAW_COUNTER_H
#define OPENPLA_RAW_COUNTER_H

#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"

static inline struct log_raw log_raw_of(const PDH_RAW_COUNTER *raw)
{
    return (struct log_raw){
        .status = raw->CStatus, .first = raw->FirstValue, .second = raw->SecondValue, .multi_count = raw->MultiCount};
}

static inline void log_raw_to_pdh(const struct log_raw *raw, PDH_RAW_COUNTER *out)
{
    out->CStatus = raw->status;
    out->FirstValue = raw->first;
    out->SecondValue = raw->second;
    out->MultiCount = raw->multi_count;
}

#endif
