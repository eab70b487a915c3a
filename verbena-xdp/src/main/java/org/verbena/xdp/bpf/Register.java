// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

/**
 * A register of 64 bits (RFC 9669, section 2). A call of the kernel takes its arguments from {@link #R1} to {@link #R5},
 * leaves its result in {@link #R0}, and the other four undefined; {@link #R6} to {@link #R9} survive it.
 */
public enum Register {
    /** The result of a call, and of the program. */
    R0(0),
    /** The first argument of a call; at the start of a program its context. */
    R1(1),
    /** The second argument of a call. */
    R2(2),
    /** The third argument of a call. */
    R3(3),
    /** The fourth argument of a call. */
    R4(4),
    /** The fifth argument of a call. */
    R5(5),
    /** Survives calls. */
    R6(6),
    /** Survives calls. */
    R7(7),
    /** Survives calls. */
    R8(8),
    /** Survives calls. */
    R9(9),
    /** The end of the stack of 512 bytes, which lies below; read-only. */
    R10(10);

    final int number;

    Register(int number) {
        this.number = number;
    }
}
