// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

class AssemblerTest {
    private static final HexFormat HEX = HexFormat.of();

    /** The bytes of one instruction, which is behind some that make it reachable and ends by exit. */
    private static String bytes(UnaryOperator<Assembler> instruction) {
        long[] program = instruction.apply(new Assembler()).exit().assemble();
        ByteBuffer b = ByteBuffer.allocate(8 * program.length).order(ByteOrder.LITTLE_ENDIAN);
        b.asLongBuffer().put(program);
        assertThat(HEX.formatHex(b.array(), b.capacity() - 8, b.capacity())).isEqualTo("9500000000000000");
        return HEX.formatHex(b.array(), 0, b.capacity() - 8);
    }

    /** As llvm-mc and the kernel's own disassembler have them. */
    @Test
    void instructionsHaveTheirBytes() {
        assertThat(bytes(a -> a.move(Register.R6, Register.R1))).isEqualTo("bf16000000000000");
        assertThat(bytes(a -> a.move(Register.R0, 2))).isEqualTo("b700000002000000");
        assertThat(bytes(a -> a.move(Register.R3, -1))).isEqualTo("b7030000ffffffff");
        assertThat(bytes(a -> a.moveLong(Register.R5, 0x1122334455667788L))).isEqualTo(
                "18050000887766550000000044332211");
        assertThat(bytes(a -> a.load(Size.WORD, Register.R2, Register.R1, 0))).isEqualTo("6112000000000000");
        assertThat(bytes(a -> a.load(Size.HALF, Register.R4, Register.R2, 12))).isEqualTo("69240c0000000000");
        assertThat(bytes(a -> a.load(Size.BYTE, Register.R4, Register.R2, 23))).isEqualTo("7124170000000000");
        assertThat(bytes(a -> a.load(Size.DOUBLE, Register.R1, Register.R7, 8))).isEqualTo("7971080000000000");
        assertThat(bytes(a -> a.store(Size.WORD, Register.R10, -16, Register.R4))).isEqualTo("634af0ff00000000");
        assertThat(bytes(a -> a.store(Size.DOUBLE, Register.R7, 8, Register.R1))).isEqualTo("7b17080000000000");
        assertThat(bytes(a -> a.store(Size.HALF, Register.R10, -2, Register.R1))).isEqualTo("6b1afeff00000000");
        assertThat(bytes(a -> a.store(Size.BYTE, Register.R10, -1, Register.R1))).isEqualTo("731affff00000000");
        assertThat(bytes(a -> a.store(Size.DOUBLE, Register.R10, -8, 7))).isEqualTo("7a0af8ff07000000");
        assertThat(bytes(a -> a.store(Size.WORD, Register.R10, -8, -2))).isEqualTo("620af8fffeffffff");
        assertThat(bytes(a -> a.calculate(Operation.ADD, Register.R4, 38))).isEqualTo("0704000026000000");
        assertThat(bytes(a -> a.calculate(Operation.ADD, Register.R1, Register.R0))).isEqualTo("0f01000000000000");
        assertThat(bytes(a -> a.calculate(Operation.SUBTRACT, Register.R5, Register.R0))).isEqualTo("1f05000000000000");
        assertThat(bytes(a -> a.calculate(Operation.MULTIPLY, Register.R2, 3))).isEqualTo("2702000003000000");
        assertThat(bytes(a -> a.calculate(Operation.OR, Register.R1, Register.R2))).isEqualTo("4f21000000000000");
        assertThat(bytes(a -> a.calculate(Operation.AND, Register.R4, 0xff3f))).isEqualTo("570400003fff0000");
        assertThat(bytes(a -> a.calculate(Operation.SHIFT_LEFT, Register.R7, 16))).isEqualTo("6707000010000000");
        assertThat(bytes(a -> a.calculate(Operation.SHIFT_RIGHT, Register.R7, 48))).isEqualTo("7707000030000000");
        assertThat(bytes(a -> a.calculate(Operation.XOR, Register.R7, 1))).isEqualTo("a707000001000000");
        assertThat(bytes(a -> a.fromNetworkShort(Register.R5))).isEqualTo("dc05000010000000");
        assertThat(bytes(a -> a.fromNetworkInt(Register.R5))).isEqualTo("dc05000020000000");
        assertThat(bytes(a -> a.call(Helper.REDIRECT_MAP))).isEqualTo("8500000033000000");
        assertThat(bytes(a -> a.call(Helper.XDP_GET_BUFF_LEN))).isEqualTo("85000000bc000000");
        assertThat(bytes(a -> a.call(Helper.MAP_LOOKUP_ELEM))).isEqualTo("8500000001000000");
        assertThat(bytes(a -> a.call(Helper.KTIME_GET_NS))).isEqualTo("8500000005000000");
    }

    /** Each over one other instruction. */
    @Test
    void jumpsHaveTheirBytesAndDistances() {
        Map<Condition, String> codes = Map.of(Condition.EQUAL, "15", Condition.GREATER, "25", Condition.NOT_LESS, "35",
                Condition.ANY_BIT, "45", Condition.NOT_EQUAL, "55", Condition.LESS, "a5", Condition.NOT_GREATER, "b5");
        assertThat(codes).containsOnlyKeys(Condition.values());
        for (Map.Entry<Condition, String> entry : codes.entrySet()) {
            Condition condition = entry.getKey();
            String code = entry.getValue();
            assertThat(bytes(a -> over(condition, true, a))).isEqualTo(code + "04010008000000" + "b700000001000000");
            String fromRegister = Integer.toHexString(Integer.parseInt(code, 16) | 8);
            assertThat(bytes(a -> over(condition, false, a))).isEqualTo(fromRegister + "34010000000000"
                    + "b700000001000000");
        }
        Label back = new Label("back");
        Label end = new Label("end");
        assertThat(bytes(a -> a.place(back).jumpIf(Condition.EQUAL, Register.R1, 0, end).jump(back).place(end)))
                .isEqualTo("1501010000000000" + "0500feff00000000");
    }

    private static Assembler over(Condition condition, boolean number, Assembler a) {
        Label over = new Label("over");
        Assembler jumped = number
                ? a.jumpIf(condition, Register.R4, 8, over)
                : a.jumpIf(condition, Register.R4, Register.R3, over);
        return jumped.move(Register.R0, 1).place(over);
    }

    @Test
    void distancesCountInstructionsOfTwo() {
        Label over = new Label("over");
        long[] program = new Assembler().jumpIf(Condition.EQUAL, Register.R1, 0, over).moveLong(Register.R0, 1).place(
                over).exit().assemble();
        assertThat(program[0] >>> 16 & 0xFFFF).isEqualTo(2);
        assertThat(program).hasSize(4);
    }

    @Test
    void labelsThatAreWrongAreNamed() {
        Label there = new Label("there");
        assertThatThrownBy(() -> new Assembler().jump(there).assemble()).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("there").hasMessageContaining("not placed");
        assertThatThrownBy(() -> new Assembler().place(there).exit().place(there)).hasMessageContaining("there")
                .hasMessageContaining("twice");
    }

    @Test
    void jumpsBeyond16BitsAreRefused() {
        for (int between : new int[] {32767, 32768}) {
            Label far = new Label("far");
            Assembler a = new Assembler().jumpIf(Condition.EQUAL, Register.R1, 0, far);
            for (int i = 0; i < between; i++) {
                a.move(Register.R0, i);
            }
            a.place(far).exit();
            if (between <= Short.MAX_VALUE) {
                assertThat(a.assemble()).hasSize(between + 2);
            } else {
                assertThatThrownBy(a::assemble).isInstanceOf(IllegalStateException.class).hasMessageContaining("far")
                        .hasMessageContaining("16 bits");
            }
        }
    }

    @Test
    void codeThatNobodyReachesIsRefused() {
        Label dead = new Label("dead");
        assertThatThrownBy(() -> new Assembler().exit().place(dead).move(Register.R0, 1).exit().assemble())
                .isInstanceOf(IllegalStateException.class).hasMessage(
                        "instruction 1 cannot be reached; it is at dead");
        assertThatThrownBy(() -> new Assembler().move(Register.R0, 1).assemble()).isInstanceOf(
                IllegalStateException.class).hasMessageContaining("does not end");
        assertThatThrownBy(() -> new Assembler().assemble()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void operandsThatCannotBeAreRefused() {
        Assembler a = new Assembler();
        assertThatThrownBy(() -> a.move(Register.R10, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.calculate(Operation.SHIFT_LEFT, Register.R1, 64)).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> a.store(Size.DOUBLE, Register.R10, -4, 1)).as("half of it is above the stack")
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.store(Size.WORD, Register.R10, -516, 1)).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> a.load(Size.WORD, Register.R1, Register.R2, 40_000)).isInstanceOf(
                IllegalArgumentException.class);
        assertThat(a.length()).isZero();
    }
}
