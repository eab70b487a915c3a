// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;

/** One end of a wire: a queue pair of type RAW_PACKET, and a region of which the first half is for receives. */
final class RawPacketEnd {
    static final int RECEIVES = 32;
    static final int SENDS = 32;
    static final int INLINE = 256;

    final Context context;
    final ProtectionDomain pd;
    final CompletionChannel channel;
    final CompletionQueue cq;
    final QueuePair qp;
    final MemoryRegion region;
    /** Bytes of a buffer for receives, and where the frame begins in it. */
    final int buffer;
    final int offset;

    /** Makes an end whose queue pair is in RESET. */
    RawPacketEnd(Context context) throws VerbsException {
        this.context = context;
        DeviceAttributes d = context.queryDevice();
        buffer = d.rawReceiveBuffer().orElse(1 << 14);
        offset = d.rawReceiveOffset().orElse(0);
        pd = context.allocateProtectionDomain();
        channel = context.createCompletionChannel();
        cq = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(2 * (RECEIVES + SENDS)).channel(
                channel).build());
        region = pd.allocate((long) (RECEIVES + SENDS) * buffer, AccessFlags.LOCAL_WRITE);
        qp = queuePair();
    }

    QueuePair queuePair() throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET).maxSendWr(
                SENDS).maxReceiveWr(RECEIVES).maxSendSge(3).maxInlineData(INLINE).build());
    }

    void to(QueuePairState state) throws VerbsException {
        to(qp, state);
    }

    static void to(QueuePair qp, QueuePairState state) throws VerbsException {
        QueuePairAttributes.Builder b = QueuePairAttributes.builder().state(state);
        qp.modify(state == QueuePairState.INIT ? b.port(1).build() : b.build());
    }

    /** Posts all receives, and moves to RTS. */
    RawPacketEnd ready() throws VerbsException {
        to(QueuePairState.INIT);
        for (int i = 0; i < RECEIVES; i++) {
            assertThat(Errno.name(post(i))).isEqualTo(Errno.name(0));
        }
        to(QueuePairState.RTR);
        to(QueuePairState.RTS);
        return this;
    }

    int post(int i) {
        return qp.receiveQueue().post(i, region, (long) i * buffer, buffer);
    }

    /** Writes a frame to a place for sends: 64 bytes behind the begin of a buffer. */
    long put(int i, byte[] frame) {
        long at = (long) (RECEIVES + i) * buffer + 64;
        MemorySegment.copy(frame, 0, region.segment(), ValueLayout.JAVA_BYTE, at, frame.length);
        return at;
    }

    int send(long wrId, int flags, byte[] frame) {
        return qp.sendQueue().postSend(wrId, flags, region, put((int) (wrId % SENDS), frame), frame.length);
    }

    /** The next completion. */
    Completion await() {
        Await.until("a completion", () -> cq.startPoll() == 0);
        Completion c = Completion.of(cq);
        cq.endPoll();
        return c;
    }

    boolean isIdle() {
        if (cq.startPoll() != 0) {
            return true;
        }
        cq.endPoll();
        return false;
    }

    /** A received frame, and the flags of its first completion. */
    static final class Frame {
        private final byte[] bytes;
        private final int flags;

        private Frame(byte[] bytes, int flags) {
            this.bytes = bytes;
            this.flags = flags;
        }

        byte[] bytes() {
            return bytes;
        }

        int flags() {
            return flags;
        }
    }

    /** The next frame, whose buffers are posted again. */
    Frame receive() {
        List<byte[]> parts = new ArrayList<>();
        int first = 0;
        int total = 0;
        int flags;
        do {
            Completion c = await();
            assertThat(WcStatus.toString(c.status())).as(c.toString()).isEqualTo("SUCCESS");
            flags = c.flags();
            first = parts.isEmpty() ? flags & ~WcFlags.CONTINUES : first;
            byte[] part = new byte[(int) c.byteLength()];
            MemorySegment.copy(region.segment(), ValueLayout.JAVA_BYTE, c.wrId() * buffer + offset, part, 0,
                    part.length);
            assertThat(post((int) c.wrId())).isZero();
            parts.add(part);
            total += part.length;
        } while ((flags & WcFlags.CONTINUES) != 0);
        byte[] all = new byte[total];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return new Frame(all, first);
    }
}
