// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;

/**
 * Puts a program together, an instruction a call (RFC 9669). Jumps name a {@link Label}, so nobody counts instructions.
 * What the kernel's verifier would refuse without naming the place is refused here by name: a label that was never
 * placed, a jump that is too long, instructions that cannot be reached, an end that falls out of the program. Used by one
 * thread.
 *
 * {@snippet :
 * Label pass = new Label("pass");
 * long[] program = new Assembler()
 *         .load(Size.WORD, Register.R2, Register.R1, 0)
 *         .jumpIf(Condition.EQUAL, Register.R2, 0, pass)
 *         .move(Register.R0, Bpf.XDP_DROP).exit()
 *         .place(pass)
 *         .move(Register.R0, Bpf.XDP_PASS).exit()
 *         .assemble();
 * }
 */
public final class Assembler {
    private static final int CLASS = 0x07;
    private static final int LD_IMM64 = 0x18;
    private static final int LDX_MEM = 0x61;
    private static final int ST_MEM = 0x62;
    private static final int STX_MEM = 0x63;
    private static final int ALU64 = 0x07;
    private static final int JMP = 0x05;
    private static final int JMP32 = 0x06;
    private static final int FROM_REGISTER = 0x08;
    private static final int JA = 0x05;
    private static final int CALL = 0x85;
    private static final int EXIT = 0x95;
    private static final int TO_BIG_ENDIAN = 0xdc;
    private static final int PSEUDO_MAP_FD = 1;
    private static final int PSEUDO_MAP_VALUE = 2;
    private static final int STACK_BYTES = 512;

    private record Jump(int at, Label to) {}

    private long[] code = new long[256];
    private int length;
    private final List<Jump> jumps = new ArrayList<>();
    private final Map<Label, Integer> places = new HashMap<>();

    /** An empty program. */
    public Assembler() {}

    private Assembler append(int operation, int destination, int source, int offset, int immediate) {
        return append(Bpf.instruction(operation, destination, source, offset, immediate));
    }

    private Assembler append(long instruction) {
        if (length == code.length) {
            code = Arrays.copyOf(code, 2 * length);
        }
        code[length++] = instruction;
        return this;
    }

    /** Calculates: {@code to = to operation by}. */
    public Assembler calculate(Operation operation, Register to, Register by) {
        return append(ALU64 | FROM_REGISTER | operation.code, written(to), by.number, 0, 0);
    }

    /**
     * Calculates: {@code to = to operation by}.
     *
     * @param by 32 bits, extended by their sign; of a shift 0 to 63
     */
    public Assembler calculate(Operation operation, Register to, int by) {
        if ((operation == Operation.SHIFT_LEFT || operation == Operation.SHIFT_RIGHT) && (by < 0 || by > 63)) {
            throw new IllegalArgumentException("a shift is by 0 to 63 bits, not " + by);
        }
        return append(ALU64 | operation.code, written(to), 0, 0, by);
    }

    /** Copies a register. */
    public Assembler move(Register to, Register from) {
        return calculate(Operation.MOVE, to, from);
    }

    /** Sets a register to 32 bits, extended by their sign. */
    public Assembler move(Register to, int value) {
        return calculate(Operation.MOVE, to, value);
    }

    /** Sets a register to 64 bits, by an instruction that is two long. */
    public Assembler moveLong(Register to, long value) {
        return append(LD_IMM64, written(to), 0, 0, (int) value).append(0, 0, 0, 0, (int) (value >>> 32));
    }

    /** Sets a register to the table itself, as {@link Helper}s take it. */
    public Assembler moveMap(Register to, BpfMap map) {
        return append(LD_IMM64, written(to), PSEUDO_MAP_FD, 0, map.fd().value()).append(0, 0, 0, 0, 0);
    }

    /**
     * Sets a register to the address of the value of an array with one entry, which needs no lookup (Linux 5.2).
     *
     * @param offset where in the value, 0 or more
     */
    public Assembler moveMapValue(Register to, BpfMap map, int offset) {
        if (offset < 0 || offset >= map.valueBytes()) {
            throw new IllegalArgumentException("the value has " + map.valueBytes() + " bytes, none at " + offset);
        }
        return append(LD_IMM64, written(to), PSEUDO_MAP_VALUE, 0, map.fd().value()).append(0, 0, 0, 0, offset);
    }

    /** Loads from memory, {@code to = *(base + offset)}. */
    public Assembler load(Size size, Register to, Register base, int offset) {
        return append(LDX_MEM & ~0x18 | size.code, written(to), base.number, place(base, offset, size), 0);
    }

    /** Stores a register, {@code *(base + offset) = from}. */
    public Assembler store(Size size, Register base, int offset, Register from) {
        return append(STX_MEM & ~0x18 | size.code, base.number, from.number, place(base, offset, size), 0);
    }

    /** Stores a number, {@code *(base + offset) = value}; of 8 bytes the upper ones are its sign. */
    public Assembler store(Size size, Register base, int offset, int value) {
        return append(ST_MEM & ~0x18 | size.code, base.number, 0, place(base, offset, size), value);
    }

    /** An offset, which on the stack has to be on the stack. */
    private static int place(Register base, int offset, Size size) {
        int bytes = switch (size) {
            case BYTE -> 1;
            case HALF -> 2;
            case WORD -> 4;
            case DOUBLE -> 8;
        };
        if (base == Register.R10 && (offset < -STACK_BYTES || offset > -bytes || offset % bytes != 0)) {
            throw new IllegalArgumentException("the stack has 512 bytes below R10, none of " + size + " at " + offset);
        }
        return offset;
    }

    private static int written(Register register) {
        if (register == Register.R10) {
            throw new IllegalArgumentException("R10 is read-only");
        }
        return register.number;
    }

    /** Changes the lower 16 bits from network order to the processor's, and clears the others. */
    public Assembler fromNetworkShort(Register register) {
        return append(TO_BIG_ENDIAN, written(register), 0, 0, 16);
    }

    /** Changes the lower 32 bits from network order to the processor's, and clears the others. */
    public Assembler fromNetworkInt(Register register) {
        return append(TO_BIG_ENDIAN, written(register), 0, 0, 32);
    }

    /** Calls a function of the kernel with R1 to R5; R0 is the result, R1 to R5 are undefined afterwards. */
    public Assembler call(Helper helper) {
        return append(CALL, 0, 0, 0, helper.number);
    }

    /** Ends the program; R0 is its result. */
    public Assembler exit() {
        return append(EXIT, 0, 0, 0, 0);
    }

    /** Jumps. */
    public Assembler jump(Label to) {
        jumps.add(new Jump(length, to));
        return append(JA, 0, 0, 0, 0);
    }

    /** Jumps if two registers are so. */
    public Assembler jumpIf(Condition condition, Register left, Register right, Label to) {
        jumps.add(new Jump(length, to));
        return append(JMP | FROM_REGISTER | condition.code, left.number, right.number, 0, 0);
    }

    /**
     * Jumps if a register and a number are so.
     *
     * @param right 32 bits, extended by their sign
     */
    public Assembler jumpIf(Condition condition, Register left, int right, Label to) {
        jumps.add(new Jump(length, to));
        return append(JMP | condition.code, left.number, 0, 0, right);
    }

    /**
     * Says that a label is here.
     *
     * @throws IllegalStateException if it is elsewhere, too
     */
    public Assembler place(Label label) {
        if (places.putIfAbsent(label, length) != null) {
            throw new IllegalStateException("the label " + label + " is placed twice");
        }
        return this;
    }

    /** How many instructions there are until now. */
    public int length() {
        return length;
    }

    /**
     * The program.
     *
     * @return for {@link Bpf#load(int, long[], String)}
     * @throws IllegalStateException if a label is not placed, a jump is longer than 16 bits with sign, an instruction
     *         cannot be reached, or the last one is neither a jump nor the end
     */
    public long[] assemble() {
        long[] program = Arrays.copyOf(code, length);
        for (Jump jump : jumps) {
            int target = target(jump);
            int distance = target - jump.at - 1;
            if (distance != (short) distance) {
                throw new IllegalStateException("the jump at " + jump.at + " to " + jump.to + " is " + distance
                        + " instructions long, which are more than 16 bits");
            }
            program[jump.at] |= (distance & 0xFFFFL) << 16;
        }
        requireReachable(program);
        return program;
    }

    private int target(Jump jump) {
        Integer target = places.get(jump.to);
        if (target == null) {
            throw new IllegalStateException("the label " + jump.to + ", to which " + jump.at
                    + " jumps, is not placed");
        }
        return target;
    }

    private void requireReachable(long[] program) {
        BitSet reached = new BitSet(length + 1);
        Deque<Integer> open = new ArrayDeque<>(List.of(0));
        while (!open.isEmpty()) {
            int at = open.pop();
            if (reached.get(at)) {
                continue;
            }
            reached.set(at);
            if (at == length) {
                throw new IllegalStateException("the program does not end: behind instruction " + (length - 1)
                        + " there is nothing");
            }
            int operation = (int) (program[at] & 0xFF);
            int next = at + (operation == LD_IMM64 ? 2 : 1);
            reached.set(at, next);
            if (operation == EXIT) {
                continue;
            }
            boolean jumps = (operation & CLASS) == JMP && operation != CALL || (operation & CLASS) == JMP32;
            if (jumps) {
                open.push(at + 1 + (short) (program[at] >>> 16));
            }
            if (operation != JA) {
                open.push(next);
            }
        }
        int missed = reached.nextClearBit(0);
        if (missed < length) {
            throw new IllegalStateException("instruction " + missed + " cannot be reached" + places.entrySet().stream()
                    .filter(e -> e.getValue() == missed).map(e -> "; it is at " + e.getKey()).findFirst().orElse(""));
        }
    }
}
