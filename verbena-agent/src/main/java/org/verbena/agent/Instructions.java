// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.nio.ByteBuffer;

/** Emits a sequence of a few of the JVM's instructions (JVMS 6.5); names of types are those of class files. */
final class Instructions {
    private static final int MAX_BYTES = 256;

    private static final int NOP = 0x00;
    private static final int ACONST_NULL = 0x01;
    private static final int ICONST_0 = 0x03;
    private static final int ICONST_1 = 0x04;
    private static final int LDC_W = 0x13;
    private static final int LLOAD = 0x16;
    private static final int ALOAD = 0x19;
    private static final int ILOAD_0 = 0x1a;
    private static final int ALOAD_0 = 0x2a;
    private static final int AASTORE = 0x53;
    private static final int POP = 0x57;
    private static final int DUP = 0x59;
    private static final int SWAP = 0x5f;
    private static final int IAND = 0x7e;
    private static final int IFEQ = 0x99;
    private static final int LRETURN = 0xad;
    private static final int ARETURN = 0xb0;
    private static final int GETFIELD = 0xb4;
    private static final int INVOKEVIRTUAL = 0xb6;
    private static final int INVOKESTATIC = 0xb8;
    private static final int INVOKEINTERFACE = 0xb9;
    private static final int ANEWARRAY = 0xbd;
    private static final int CHECKCAST = 0xc0;
    private static final int INSTANCEOF = 0xc1;
    private static final int IFNULL = 0xc6;

    private final ByteBuffer code = ByteBuffer.allocate(MAX_BYTES);
    private final ConstantPool constants;

    Instructions(ConstantPool constants) {
        this.constants = constants;
    }

    /** Bytes so far. */
    int size() {
        return code.position();
    }

    ByteBuffer code() {
        return code.slice(0, size());
    }

    private Instructions put(int instruction) {
        code.put((byte) instruction);
        return this;
    }

    private Instructions put(int instruction, int operand) {
        code.put((byte) instruction).putShort((short) operand);
        return this;
    }

    Instructions aconstNull() {
        return put(ACONST_NULL);
    }

    Instructions iconst0() {
        return put(ICONST_0);
    }

    Instructions iconst1() {
        return put(ICONST_1);
    }

    Instructions string(String text) {
        return put(LDC_W, constants.string(text));
    }

    Instructions type(String name) {
        return put(LDC_W, constants.type(name));
    }

    /** The first local variable, a number. */
    Instructions iload0() {
        return put(ILOAD_0);
    }

    /** The first local variable, an object. */
    Instructions aload0() {
        return put(ALOAD_0);
    }

    /** A local variable below 256, an object. */
    Instructions aload(int variable) {
        code.put((byte) ALOAD).put((byte) variable);
        return this;
    }

    /** A local variable below 255, a long, which takes two slots. */
    Instructions lload(int variable) {
        code.put((byte) LLOAD).put((byte) variable);
        return this;
    }

    Instructions aastore() {
        return put(AASTORE);
    }

    Instructions pop() {
        return put(POP);
    }

    Instructions dup() {
        return put(DUP);
    }

    Instructions swap() {
        return put(SWAP);
    }

    Instructions iand() {
        return put(IAND);
    }

    Instructions lreturn() {
        return put(LRETURN);
    }

    Instructions areturn() {
        return put(ARETURN);
    }

    Instructions getfield(String owner, String name, String descriptor) {
        return put(GETFIELD, constants.field(owner, name, descriptor));
    }

    Instructions invokevirtual(String owner, String name, String descriptor) {
        return put(INVOKEVIRTUAL, constants.method(owner, name, descriptor));
    }

    Instructions invokestatic(String owner, String name, String descriptor) {
        return put(INVOKESTATIC, constants.method(owner, name, descriptor));
    }

    /** @param places of the object and its arguments on the stack */
    Instructions invokeinterface(String owner, String name, String descriptor, int places) {
        put(INVOKEINTERFACE, constants.interfaceMethod(owner, name, descriptor));
        code.put((byte) places).put((byte) 0);
        return this;
    }

    Instructions anewarray(String element) {
        return put(ANEWARRAY, constants.type(element));
    }

    Instructions checkcast(String name) {
        return put(CHECKCAST, constants.type(name));
    }

    Instructions instanceOf(String name) {
        return put(INSTANCEOF, constants.type(name));
    }

    /** Branches if null is on the stack, to the place where {@link #bind} is called with the returned branch. */
    int ifnull() {
        put(IFNULL, 0);
        return size() - 3;
    }

    /** Likewise if 0 or false is on the stack. */
    int ifeq() {
        put(IFEQ, 0);
        return size() - 3;
    }

    /** Binds a branch to this place. */
    Instructions bind(int branch) {
        code.putShort(branch + 1, (short) (size() - branch));
        return this;
    }

    /** Emits {@code count} no-ops. */
    Instructions nop(int count) {
        for (int i = 0; i < count; i++) {
            put(NOP);
        }
        return this;
    }

    Instructions append(Instructions more) {
        code.put(more.code());
        return this;
    }
}
