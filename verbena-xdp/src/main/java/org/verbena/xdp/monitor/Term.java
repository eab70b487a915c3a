// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import static org.verbena.xdp.bpf.Register.R1;
import static org.verbena.xdp.bpf.Register.R10;
import static org.verbena.xdp.bpf.Register.R2;

import org.verbena.xdp.bpf.Assembler;
import org.verbena.xdp.bpf.Condition;
import org.verbena.xdp.bpf.Label;
import org.verbena.xdp.bpf.Operation;
import org.verbena.xdp.bpf.Size;

/** A condition on the key of a packet, and the instructions that ask it. */
sealed interface Term {
    /**
     * Jumps to one of both; changes R1 and R2.
     *
     * @param key where the key is on the stack
     */
    void append(Assembler a, int key, Label yes, Label no);

    /** Bits of a word of the key. */
    record Bits(int word, long mask, long value) implements Term {
        @Override
        public void append(Assembler a, int key, Label yes, Label no) {
            a.load(Size.DOUBLE, R1, R10, key + 8 * word);
            if (mask != -1) {
                a.moveLong(R2, mask).calculate(Operation.AND, R1, R2);
            }
            a.moveLong(R2, value).jumpIf(Condition.NOT_EQUAL, R1, R2, no).jump(yes);
        }
    }

    /** Two bytes of the key in network order, within bounds. */
    record Range(int at, int first, int last) implements Term {
        @Override
        public void append(Assembler a, int key, Label yes, Label no) {
            a.load(Size.HALF, R1, R10, key + at).fromNetworkShort(R1);
            a.jumpIf(Condition.LESS, R1, first, no).jumpIf(Condition.GREATER, R1, last, no).jump(yes);
        }
    }

    /** Both. */
    record And(Term left, Term right) implements Term {
        @Override
        public void append(Assembler a, int key, Label yes, Label no) {
            Label next = new Label("and");
            left.append(a, key, next, no);
            right.append(a.place(next), key, yes, no);
        }
    }

    /** One of both, or both. */
    record Or(Term left, Term right) implements Term {
        @Override
        public void append(Assembler a, int key, Label yes, Label no) {
            Label next = new Label("or");
            left.append(a, key, yes, next);
            right.append(a.place(next), key, yes, no);
        }
    }

    /** The opposite. */
    record Not(Term term) implements Term {
        @Override
        public void append(Assembler a, int key, Label yes, Label no) {
            term.append(a, key, no, yes);
        }
    }

    /** Both. */
    default Term and(Term other) {
        return new And(this, other);
    }

    /** One of both, or both. */
    default Term or(Term other) {
        return new Or(this, other);
    }

    /** One byte of the key. */
    static Term byteIs(int at, int value) {
        return bits(at, 0xFF, value);
    }

    /** One of these bits of a byte of the key, which are all 0 or all 1. */
    static Term has(int at, int bits) {
        return bits(at, bits, bits);
    }

    /** Little-endian bits of the word that this place is in. */
    static Term bits(int at, long mask, long value) {
        int shift = 8 * (at % 8);
        return new Bits(at / 8, mask << shift, value << shift);
    }

    /** Bytes of the key, the first bits of them. */
    static Term prefix(int at, byte[] value, int bits) {
        Term all = null;
        for (int word = 0; 64 * word < bits; word++) {
            long mask = 0;
            long wanted = 0;
            for (int i = 0; i < 8; i++) {
                int here = Math.clamp(bits - 64L * word - 8L * i, 0, 8);
                long m = 0xFF00 >> here & 0xFF;
                mask |= m << 8 * i;
                wanted |= here == 0 ? 0 : (value[8 * word + i] & m) << 8 * i;
            }
            Term one = new Bits(at / 8 + word, mask, wanted);
            all = all == null ? one : all.and(one);
        }
        return all == null ? new Bits(at / 8, 0, 0) : all;
    }
}
