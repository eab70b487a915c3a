// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

/**
 * When a jump is taken: the relation of its first operand to its second, over all 64 bits without sign (RFC 9669, section
 * 4.3).
 */
public enum Condition {
    /** The operands are equal, {@code BPF_JEQ}. */
    EQUAL(0x10),
    /** The first is greater, {@code BPF_JGT}. */
    GREATER(0x20),
    /** The first is greater, or both are equal, {@code BPF_JGE}. */
    NOT_LESS(0x30),
    /** The operands have a bit in common, {@code BPF_JSET}. */
    ANY_BIT(0x40),
    /** The operands differ, {@code BPF_JNE}. */
    NOT_EQUAL(0x50),
    /** The first is less, {@code BPF_JLT}. */
    LESS(0xa0),
    /** The first is less, or both are equal, {@code BPF_JLE}. */
    NOT_GREATER(0xb0);

    final int code;

    Condition(int code) {
        this.code = code;
    }
}
