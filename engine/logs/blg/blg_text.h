/* SPDX-License-Identifier: MIT */
/* Text counters in binary logs. An item of a single counter has no room for a text, so a text counter is written as a
   whole object with this one counter: the form in which the format carries texts. Its names get title indexes of the
   log's own table of names. */
#ifndef OPENPLA_BLG_TEXT_H
#define OPENPLA_BLG_TEXT_H

#include "engine/logs/log.h"

bool blg_is_text(const struct log_counter *counter);
/* Title index of the object of the log's `place`-th counter; its counter name's is 2 higher. */
uint32_t blg_text_title(size_t place);
/* Bytes of the item for one cell, its head included; a multiple of 8. */
size_t blg_text_size(const struct log_counter *counter, const struct log_cell *cell);
/* Writes that item. `local` and `utc`: FILETIMEs of the sample. Errors: E_INVALIDARG for malformed names. */
HRESULT blg_text_put(uint8_t *at, const struct log_counter *counter, size_t place, int64_t local, int64_t utc,
                     const struct log_cell *cell);

#endif
