// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** One end of a link: a context, a queue pair, and a region of which the first half is for receives. */
final class RawEnd implements AutoCloseable {
    static final int CHUNK = 4096;
    static final int OFFSET = 256;
    static final int RECEIVES = 256;
    static final int SENDS = 64;

    final Context context;
    final ProtectionDomain pd;
    final CompletionQueue cq;
    final XdpQueuePair qp;
    final MemoryRegion region;

    /** A completion. */
    record Done(long wrId, int status, int opcode, int flags, long bytes) {}

    private RawEnd(Context context) throws VerbsException {
        this.context = context;
        pd = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(4 * RECEIVES);
        region = pd.allocate((long) (RECEIVES + SENDS + 3) * CHUNK, AccessFlags.LOCAL_WRITE); // a frame may have three
        qp = queuePair();
    }

    /** Opens the device {@code xdp_NAME}, or one that is named in full. */
    static Context context(String name) throws VerbsException {
        String full = name.contains("_") ? name : "xdp_" + name;
        return RawDevice.all().stream().filter(d -> d.name().equals(full)).findFirst().orElseThrow().open();
    }

    /** An end whose queue pair is in RESET. */
    static RawEnd open(String name) throws VerbsException {
        return new RawEnd(context(name));
    }

    /** An end that sends and receives, with all receives posted. */
    static RawEnd ready(String name) throws VerbsException {
        RawEnd e = open(name);
        e.qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
        for (int i = 0; i < RECEIVES; i++) {
            assertThat(e.post(i)).isZero();
        }
        e.toReady();
        return e;
    }

    void toReady() throws VerbsException {
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTS).build());
    }

    XdpQueuePair queuePair() throws VerbsException {
        return (XdpQueuePair) pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET)
                .maxSendWr(SENDS).maxReceiveWr(RECEIVES).maxSendSge(4).maxInlineData(1024).build());
    }

    /** Posts a chunk as the receive of its number. */
    int post(int chunk) {
        return qp.receiveQueue().post(chunk, region, (long) chunk * CHUNK, CHUNK);
    }

    /** Where the frame to send of that number is. */
    static long sendAt(int i) {
        return (long) (RECEIVES + i) * CHUNK + 64;
    }

    /** The next completion. */
    Done await() {
        Await.until("a completion", () -> cq.startPoll() == 0);
        Done d = new Done(cq.wrId(), cq.status(), cq.opcode(), cq.flags(), cq.byteLength());
        cq.endPoll();
        return d;
    }

    boolean isIdle() {
        if (cq.startPoll() == 0) {
            cq.endPoll();
            return false;
        }
        return true;
    }

    void awaitSent(long wrId) {
        Done d = await();
        assertThat(WcStatus.toString(d.status)).as(qp.errorReason()).isEqualTo("SUCCESS");
        assertThat(d.opcode).isEqualTo(WcOpcode.SEND);
        assertThat(d.wrId).isEqualTo(wrId);
    }

    /** A received frame. */
    static final class Frame {
        private final byte[] bytes;
        private final int flags;
        private final int pieces;

        private Frame(byte[] bytes, int flags, int pieces) {
            this.bytes = bytes;
            this.flags = flags;
            this.pieces = pieces;
        }

        byte[] bytes() {
            return bytes;
        }

        int flags() {
            return flags;
        }

        /** Receives that it took. */
        int pieces() {
            return pieces;
        }
    }

    /** The next frame, whose chunks are posted again. */
    Frame receive() {
        List<byte[]> parts = new ArrayList<>();
        int flags = 0;
        int total = 0;
        Done d;
        do {
            d = await();
            assertThat(WcStatus.toString(d.status)).isEqualTo("SUCCESS");
            assertThat(WcOpcode.toString(d.opcode)).isEqualTo("RECV");
            byte[] part = new byte[(int) d.bytes];
            MemorySegment.copy(region.segment(), ValueLayout.JAVA_BYTE, d.wrId * CHUNK + OFFSET, part, 0, part.length);
            assertThat(post((int) d.wrId)).isZero();
            flags |= parts.isEmpty() ? d.flags & ~WcFlags.CONTINUES : 0;
            parts.add(part);
            total += part.length;
        } while ((d.flags & WcFlags.CONTINUES) != 0);
        byte[] all = new byte[total];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return new Frame(all, flags, parts.size());
    }

    @Override
    public void close() throws VerbsException {
        context.close();
    }
}
