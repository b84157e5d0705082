/* SPDX-License-Identifier: MIT */
/* Countersets of other computers as objects like all others: what engine/pdh asks by its table of functions. */
#ifndef OPENPLA_PCQ_OTHER_OBJECT_H
#define OPENPLA_PCQ_OTHER_OBJECT_H

#include "engine/pdh/core/catalogue.h"

/* For catalogue_set_others. Which links there are is other_computer_links' to say. */
extern const struct catalogue_others other_objects_of_catalogues;

#endif
