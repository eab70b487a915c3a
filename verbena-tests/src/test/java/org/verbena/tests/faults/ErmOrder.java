// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import org.verbena.erm.CopyFlags;
import org.verbena.erm.CopyQueue;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.verbs.WcStatus;

/** The ordering checks of an {@link ErmPeer}; each returns "ok", or what arrived too early. */
final class ErmOrder {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final Duration LONG = Duration.ofSeconds(60);
    /** Lengths of copies whose last byte is polled: odd ones, and beyond what is copied at a time. */
    private static final int[] LENGTHS = {1, 7, 8, 64, 65, 4096, 4109, 65_537, (1 << 20) - 64};

    private final RemoteMemory memory;
    private final CopyQueue copies;

    ErmOrder(RemoteMemory memory) {
        this.memory = memory;
        copies = memory.copies();
    }

    private void copy(int from, long fromAt, int to, long toAt, long length, int flags) {
        int error = copies.copy(from, fromAt, to, toAt, length, flags, 0);
        if (error != 0) {
            throw new IllegalStateException("copy: error " + error + " " + memory.endReason());
        }
    }

    private void completion() throws InterruptedException {
        while (!copies.poll()) {
            memory.await(RemoteMemory.COMPLETIONS, LONG);
        }
        if (copies.status() != WcStatus.SUCCESS) {
            throw new IllegalStateException(WcStatus.toString(copies.status()));
        }
    }

    /** Writes a byte to the channel when a copy of its number has completed. */
    String writeBytes(SocketChannel channel, LocalRegion from, int to, int rounds) throws IOException,
            InterruptedException {
        for (long i = 1; i <= rounds; i++) {
            from.segment().set(ValueLayout.JAVA_LONG, 0, i);
            copy(from.id(), 0, to, 0, Long.BYTES, CopyFlags.NONE);
            completion();
            channel.write(ByteBuffer.wrap(new byte[] {(byte) i}));
        }
        return "ok";
    }

    /** The other end of {@link #writeBytes}: the copy has arrived when the byte arrives. */
    String readBytes(SocketChannel channel, LocalRegion to, int rounds) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        for (long i = 1; i <= rounds; i++) {
            if (channel.read(one.clear()) != 1 || one.get(0) != (byte) i) {
                return "no byte " + i;
            }
            long there = to.segment().get(ValueLayout.JAVA_LONG, 0);
            if (there < i) {
                return "byte " + i + " before the copy, " + there;
            }
        }
        return "ok";
    }

    /** Changes memory of the other end, reads it, and resets it there behind a fence. */
    String fence(LocalRegion own, int theirs, int rounds) throws InterruptedException {
        for (long i = 1; i <= rounds; i++) {
            own.segment().fill((byte) 0);
            own.segment().set(ValueLayout.JAVA_LONG, 0, i);
            copy(own.id(), 0, theirs, 0, Long.BYTES, CopyFlags.UNSIGNALED);
            copy(theirs, 0, own.id(), 64, Long.BYTES, CopyFlags.UNSIGNALED);
            copy(own.id(), 64, theirs, 128, Long.BYTES, CopyFlags.FENCE | CopyFlags.UNSIGNALED);
            copy(theirs, 128, own.id(), 192, Long.BYTES, CopyFlags.NONE);
            completion();
            long back = own.segment().get(ValueLayout.JAVA_LONG, 192);
            if (back != i) {
                return "the fence was passed: " + back + " instead of " + i;
            }
        }
        return "ok";
    }

    /**
     * Copies, and polls the last byte of its own memory for the answer, without events and completions. Run by two
     * ends, one of which begins.
     */
    String lastBytes(LocalRegion own, int theirs, boolean begins) throws InterruptedException {
        long answers = own.length() / 2;
        int value = 0;
        for (int length : LENGTHS) {
            for (int round = 0; round < 20; round++) {
                value++;
                if (begins) {
                    own.segment().asSlice(answers, length).fill((byte) value);
                    copy(own.id(), answers, theirs, 0, length, CopyFlags.NONE);
                    awaitByte(own, length - 1L, (byte) value); // the answer is as long as the question
                    completion();
                } else {
                    awaitByte(own, length - 1L, (byte) value);
                    for (long i = 0; i < length; i++) {
                        if (own.segment().get(ValueLayout.JAVA_BYTE, i) != (byte) value) {
                            return "byte " + i + " of " + length + " has come after the last one";
                        }
                    }
                    copy(own.id(), 0, theirs, 0, length, CopyFlags.NONE);
                    completion();
                }
            }
        }
        return "ok";
    }

    private void awaitByte(LocalRegion in, long at, byte value) {
        long end = System.nanoTime() + LONG.toNanos();
        while ((byte) BYTE.getAcquire(in.segment(), at) != value) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("the last byte does not come");
            }
            Thread.onSpinWait();
        }
    }
}
