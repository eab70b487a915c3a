// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

/** A function of the kernel that a program calls: bpf-helpers(7). None of these is for programs under the GPL only. */
public enum Helper {
    /** {@code void *bpf_map_lookup_elem(map, key)}: the address of the value, or 0. */
    MAP_LOOKUP_ELEM(1),
    /** {@code long bpf_map_update_elem(map, key, value, flags)}: 0, or minus errno. */
    MAP_UPDATE_ELEM(2),
    /** {@code u64 bpf_ktime_get_ns()}: nanoseconds of CLOCK_MONOTONIC. */
    KTIME_GET_NS(5),
    /** {@code long bpf_skb_load_bytes(context, offset, to, length)}: 0, or minus errno if the packet is shorter. */
    SKB_LOAD_BYTES(26),
    /** {@code long bpf_redirect_map(map, key, flags)}: XDP_REDIRECT, or the lower bits of the flags if there is none. */
    REDIRECT_MAP(51),
    /** {@code u64 bpf_xdp_get_buff_len(context)}: the length of the packet with all its buffers (Linux 5.18). */
    XDP_GET_BUFF_LEN(188);

    final int number;

    Helper(int number) {
        this.number = number;
    }
}
