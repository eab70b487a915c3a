// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.channels.FileChannel;

/**
 * Makes {@link FileChannel#transferTo} delegate to Verbena's channels, at once: the JDK would query the file's size
 * first, which costs a transfer of 4 KiB measurably and is repeated below, and then map the file, write the mapping to
 * the channel and unmap it, since the channel is not one that it uses sendfile(2) for.
 *
 * <p>The JDK can call Verbena's channels only through types of its own: they are functions from the file to an
 * operation that sends a number of bytes from a position, and its internal interface SelChImpl distinguishes them from
 * other functions.
 */
final class TransferPatch extends MethodPatch {
    private static final ClassDesc CHANNEL = ClassDesc.of("sun.nio.ch.SelChImpl");
    private static final ClassDesc FUNCTION = ClassDesc.of("java.util.function.Function");
    private static final ClassDesc SENDS = ClassDesc.of("java.util.function.LongBinaryOperator");

    private static final ClassDesc LONG = ConstantDescs.CD_long;

    private static final int POSITION = 1;
    private static final int COUNT = 3;
    private static final int TARGET = 5;

    TransferPatch() {
        super("sun.nio.ch.FileChannelImpl", "transferTo", "(JJLjava/nio/channels/WritableByteChannel;)J", null);
    }

    @Override
    void pushResult(CodeBuilder code) {
        code.aload(TARGET).instanceOf(CHANNEL).aload(TARGET).instanceOf(FUNCTION).iand();
    }

    @Override
    void returnResult(CodeBuilder code) {
        code.aload(TARGET).checkcast(FUNCTION).aload(0)
                .invokeinterface(FUNCTION, "apply", MethodTypeDesc.of(ConstantDescs.CD_Object, ConstantDescs.CD_Object))
                .checkcast(SENDS).lload(POSITION).lload(COUNT)
                .invokeinterface(SENDS, "applyAsLong", MethodTypeDesc.of(LONG, LONG, LONG)).lreturn();
    }
}
