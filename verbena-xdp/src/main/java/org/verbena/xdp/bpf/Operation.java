// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

/** Arithmetic on 64 bits: the first operand receives the result (RFC 9669, section 4.1). */
public enum Operation {
    /** The sum, {@code BPF_ADD}. */
    ADD(0x00),
    /** The difference, {@code BPF_SUB}. */
    SUBTRACT(0x10),
    /** The product, {@code BPF_MUL}. */
    MULTIPLY(0x20),
    /** Bits of either, {@code BPF_OR}. */
    OR(0x40),
    /** Bits of both, {@code BPF_AND}. */
    AND(0x50),
    /** Shifted to the left, 0 to 63 bits, {@code BPF_LSH}. */
    SHIFT_LEFT(0x60),
    /** Shifted to the right without sign, 0 to 63 bits, {@code BPF_RSH}. */
    SHIFT_RIGHT(0x70),
    /** Bits of one of both, {@code BPF_XOR}. */
    XOR(0xa0),
    /** The second operand, {@code BPF_MOV}. */
    MOVE(0xb0);

    final int code;

    Operation(int code) {
        this.code = code;
    }
}
