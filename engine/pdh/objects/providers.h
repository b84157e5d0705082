/* SPDX-License-Identifier: MIT */
/* The objects of this computer. Each is a table: a row per counter, with what it is made of. */
#ifndef OPENPLA_PDH_PROVIDERS_H
#define OPENPLA_PDH_PROVIDERS_H

#include "engine/pdh/core/table.h"

extern const struct provider pdh_cache, pdh_control_group, pdh_gpu_adapter_memory, pdh_gpu_engine,
    pdh_gpu_process_memory, pdh_icmp, pdh_icmp6, pdh_ipv4, pdh_ipv6, pdh_logical_disk, pdh_memory, pdh_network_activity,
    pdh_network_adapter, pdh_network_interface, pdh_numa_node_memory, pdh_objects, pdh_paging_file, pdh_physical_disk,
    pdh_pressure, pdh_process, pdh_processor, pdh_processor_information, pdh_processor_performance, pdh_redirector,
    pdh_server, pdh_smb_client_shares, pdh_smb_server_sessions, pdh_smb_server_shares, pdh_system, pdh_tcpv4, pdh_tcpv6,
    pdh_thermal_zone_information, pdh_thread, pdh_udpv4, pdh_udpv6, pdh_wine_server;

#endif
