/* SPDX-License-Identifier: MIT */
/* What a set's data manager says of the folders of its runs. */
#ifndef OPENPLA_SET_POLICY_H
#define OPENPLA_SET_POLICY_H

#include "engine/pla/model.h"
#include "engine/pla/retention/folder_walk.h"
#include "engine/pla/retention/plan.h"

/* Whether each run of the set has a folder below RootPath: only then there is something to look after. */
bool set_has_run_folders(const struct data_collector_set *set);
/* Whether its data manager is on and has actions or limits; and the parts of a pass that it asks for. */
unsigned set_retention_parts(const struct data_collector_set *set);
/* What its reports are called; borrowed from the set, or static. */
struct content_names set_content_names(const struct data_collector_set *set);
/* A SendCabTo that is none has no destination. */
HRESULT set_retention_policy(const struct data_collector_set *set, struct retention_policy *out);
void retention_policy_free(struct retention_policy *policy);

#endif
