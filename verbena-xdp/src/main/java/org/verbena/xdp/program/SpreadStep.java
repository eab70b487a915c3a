// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.verbena.xdp.bpf.Condition.ANY_BIT;
import static org.verbena.xdp.bpf.Condition.EQUAL;
import static org.verbena.xdp.bpf.Condition.NOT_EQUAL;
import static org.verbena.xdp.bpf.Operation.ADD;
import static org.verbena.xdp.bpf.Operation.AND;
import static org.verbena.xdp.bpf.Operation.SHIFT_LEFT;
import static org.verbena.xdp.bpf.Operation.SHIFT_RIGHT;
import static org.verbena.xdp.bpf.Operation.XOR;
import static org.verbena.xdp.bpf.Register.R0;
import static org.verbena.xdp.bpf.Register.R1;
import static org.verbena.xdp.bpf.Register.R10;
import static org.verbena.xdp.bpf.Register.R2;
import static org.verbena.xdp.bpf.Register.R3;
import static org.verbena.xdp.bpf.Register.R4;
import static org.verbena.xdp.bpf.Register.R7;

import org.verbena.xdp.bpf.Assembler;
import org.verbena.xdp.bpf.Label;
import org.verbena.xdp.bpf.Register;
import org.verbena.xdp.bpf.Size;

/** The part of the program that chooses the target of a packet by its hash, see {@link Spread}. Stateless. */
final class SpreadStep {
    private static final int PROTOCOL_UDP = 17;

    private SpreadStep() {}

    /** R0 is the address of a {@link Spread}, and the key is on the stack; R2 becomes the target. Uses R1 to R4 and R7. */
    static void append(Assembler a) {
        Label six = new Label("addresses of IPv6");
        Label ports = new Label("ports");
        Label tcp = new Label("ports of TCP");
        Label choose = new Label("choose the target");
        a.move(R7, 0).load(Size.BYTE, R4, R10, FlowProgram.KEY + FlowKey.KIND);
        a.jumpIf(ANY_BIT, R4, FlowKey.IPV6, six).move(R1, R4).calculate(AND, R1, FlowKey.IPV4);
        a.jumpIf(EQUAL, R1, 0, choose); // neither: the hash is 0
        add(a, R0, Spread.IPV4_AT, Size.WORD, FlowKey.SOURCE);
        add(a, R0, Spread.IPV4_AT + 4 * Spread.BYTE_TABLES, Size.WORD, FlowKey.DESTINATION);
        a.move(R3, R0).calculate(ADD, R3, Spread.PORTS_AT).jump(ports).place(six);
        for (int at = 0; at < 16; at += 8) {
            add(a, R0, Spread.IPV6_AT + at * Spread.BYTE_TABLES, Size.DOUBLE, FlowKey.SOURCE + at);
            add(a, R0, Spread.IPV6_AT + (16 + at) * Spread.BYTE_TABLES, Size.DOUBLE, FlowKey.DESTINATION + at);
        }
        a.move(R3, R0).calculate(ADD, R3, Spread.PORTS_AT + 2 * Spread.PORTS_TABLES);
        a.place(ports).calculate(AND, R4, FlowKey.PORTS).jumpIf(EQUAL, R4, 0, choose);
        a.load(Size.BYTE, R1, R10, FlowProgram.KEY + FlowKey.PROTOCOL).jumpIf(NOT_EQUAL, R1, PROTOCOL_UDP, tcp);
        a.calculate(ADD, R3, Spread.PORTS_TABLES).place(tcp);
        add(a, R3, 0, Size.WORD, FlowKey.SOURCE_PORT); // and that of the destination
        a.place(choose).load(Size.WORD, R1, R0, Spread.MASK_AT).calculate(AND, R7, R1);
        a.calculate(AND, R7, Spread.MAX_ENTRIES - 1).calculate(SHIFT_LEFT, R7, 1).calculate(ADD, R7, R0);
        a.load(Size.HALF, R2, R7, Spread.TARGETS_AT);
    }

    /** Adds what a part of the key adds to the hash in R7; the tables of its first byte are at {@code base + tables}. */
    private static void add(Assembler a, Register base, int tables, Size size, int part) {
        a.load(size, R2, R10, FlowProgram.KEY + part); // the first byte is the lowest
        for (int i = 0; i < (size == Size.DOUBLE ? 8 : 4); i++) {
            int table = tables + i * Spread.BYTE_TABLES;
            nibble(a, base, 8 * i + 4, table);
            nibble(a, base, 8 * i, table + Spread.BYTE_TABLES / 2);
        }
    }

    /** The four bits of R2 from that one on are the index of a number of four bytes. */
    private static void nibble(Assembler a, Register base, int bit, int table) {
        a.move(R1, R2);
        if (bit < 2) {
            a.calculate(SHIFT_LEFT, R1, 2 - bit);
        } else if (bit > 2) {
            a.calculate(SHIFT_RIGHT, R1, bit - 2);
        }
        a.calculate(AND, R1, 15 << 2).calculate(ADD, R1, base).load(Size.WORD, R1, R1, table).calculate(XOR, R7, R1);
    }
}
