// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

/** How many bytes an instruction loads or stores (RFC 9669, section 5). A load fills the rest of the register with 0. */
public enum Size {
    /** 1 byte, {@code BPF_B}. */
    BYTE(0x10),
    /** 2 bytes, {@code BPF_H}. */
    HALF(0x08),
    /** 4 bytes, {@code BPF_W}. */
    WORD(0x00),
    /** 8 bytes, {@code BPF_DW}. */
    DOUBLE(0x18);

    final int code;

    Size(int code) {
        this.code = code;
    }
}
