// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.nio.channels.FileChannel;

/**
 * Makes {@link FileChannel#transferTo} leave the work to Verbena's channels, at once: the JDK would ask for the file's size
 * first, which a transfer of 4 KiB feels and which is asked again below, and then map the file, write the mapping to the
 * channel and unmap it, since the channel is none of those that it has sendfile(2) for.
 *
 * <p>The JDK can call Verbena's by types of its own alone: they are functions from the file to what sends from a position so
 * many bytes, and its inner interface SelChImpl tells them from other functions.
 */
final class TransferPatch extends MethodPatch {
    private static final String CHANNEL = "sun/nio/ch/SelChImpl";
    private static final String FUNCTION = "java/util/function/Function";
    private static final String SENDS = "java/util/function/LongBinaryOperator";

    private static final int POSITION = 1;
    private static final int COUNT = 3;
    private static final int TARGET = 5;

    TransferPatch() {
        super("sun.nio.ch.FileChannelImpl", "transferTo", "(JJLjava/nio/channels/WritableByteChannel;)J", null);
    }

    @Override
    void pushResult(Instructions code) {
        code.aload(TARGET).instanceOf(CHANNEL).aload(TARGET).instanceOf(FUNCTION).iand();
    }

    @Override
    void returnResult(Instructions code) {
        code.aload(TARGET).checkcast(FUNCTION).aload0()
                .invokeinterface(FUNCTION, "apply", "(Ljava/lang/Object;)Ljava/lang/Object;", 2)
                .checkcast(SENDS).lload(POSITION).lload(COUNT).invokeinterface(SENDS, "applyAsLong", "(JJ)J", 5)
                .lreturn();
    }
}
