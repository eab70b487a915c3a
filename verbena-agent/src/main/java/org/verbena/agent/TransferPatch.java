// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.channels.FileChannel;

import org.jspecify.annotations.Nullable;

/**
 * Makes {@link FileChannel#transferTo} and {@link FileChannel#transferFrom} delegate to Verbena's channels, at once: the JDK
 * would query the file's size first, which costs a transfer of 4 KiB measurably and is repeated below, and then map the
 * file, write the mapping to the channel and unmap it, since the channel is not one that it uses sendfile(2) for; and it would
 * read 8 KiB at a time.
 *
 * <p>The JDK can call Verbena's channels only through types of its own: they are functions from the file to an
 * operation that sends a number of bytes from a position, and suppliers of such a function for what is received. Its internal
 * interface SelChImpl distinguishes them from other functions and suppliers.
 */
final class TransferPatch extends MethodPatch {
    private static final ClassDesc CHANNEL = ClassDesc.of("sun.nio.ch.SelChImpl");
    private static final ClassDesc FUNCTION = ClassDesc.of("java.util.function.Function");
    private static final ClassDesc SUPPLIER = ClassDesc.of("java.util.function.Supplier");
    private static final ClassDesc MOVES = ClassDesc.of("java.util.function.LongBinaryOperator");

    private static final ClassDesc LONG = ConstantDescs.CD_long;

    /** Variables of the methods: the channel, position and count. */
    private final int channel;
    private final int position;
    private final int count;

    /** What the channel has to be. */
    private final ClassDesc kind;

    /** The other method of the class, which is changed with it; null in that one. */
    private final @Nullable TransferPatch other;

    /** Both methods, or neither. */
    TransferPatch() {
        super("sun.nio.ch.FileChannelImpl", "transferTo", "(JJLjava/nio/channels/WritableByteChannel;)J", null);
        position = 1;
        count = 3;
        channel = 5;
        kind = FUNCTION;
        other = new TransferPatch("transferFrom", "(Ljava/nio/channels/ReadableByteChannel;JJ)J");
    }

    private TransferPatch(String method, String descriptor) {
        super("sun.nio.ch.FileChannelImpl", method, descriptor, null);
        channel = 1;
        position = 2;
        count = 4;
        kind = SUPPLIER;
        other = null;
    }

    @Override
    byte[] patch(byte[] original) {
        byte[] changed = super.patch(original);
        return other == null ? changed : other.patch(changed);
    }

    @Override
    void pushResult(CodeBuilder code) {
        code.aload(channel).instanceOf(CHANNEL).aload(channel).instanceOf(kind).iand();
    }

    @Override
    void returnResult(CodeBuilder code) {
        code.aload(channel).checkcast(kind);
        if (kind.equals(SUPPLIER)) {
            code.invokeinterface(SUPPLIER, "get", MethodTypeDesc.of(ConstantDescs.CD_Object)).checkcast(FUNCTION);
        }
        code.aload(0)
                .invokeinterface(FUNCTION, "apply", MethodTypeDesc.of(ConstantDescs.CD_Object, ConstantDescs.CD_Object))
                .checkcast(MOVES).lload(position).lload(count)
                .invokeinterface(MOVES, "applyAsLong", MethodTypeDesc.of(LONG, LONG, LONG)).lreturn();
    }
}
