// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;

/** A queue pair for raw packets that takes all frames of its device. */
public final class QueuePairWire implements Wire {
    private static final int RECEIVES = 512;
    private static final int SENDS = 256;
    private static final int SIGNAL_EVERY = 32;
    private static final int ETHERNET = 14;
    /** Nanoseconds between looks whether the interface is still there, while nothing comes. */
    private static final long LOOK_EVERY = 1_000_000_000;
    /** What AF_XDP wants free before a frame that it sends from where it is; a cache line begins there. */
    private static final int BEFORE = 64;

    private final Context context;
    private final ProtectionDomain pd;
    private final CompletionChannel channel;
    private final CompletionQueue receiveCq;
    private final CompletionQueue sendCq;
    private final QueuePair qp;
    /** Buffers of receives, then those of sends. */
    private final MemoryRegion region;
    private final int chunk;
    private final int offset;
    private final int mtu;
    private final SendFrame[] frames = new SendFrame[SENDS];
    /** Numbers of frames that are free, as a stack. */
    private final int[] free = new int[SENDS];
    /** Numbers of frames that were posted, in a ring. */
    private final int[] posted = new int[SENDS];
    private final Frame frame = new Frame();
    /** The frame was found by {@link #await}, and is still to be received. */
    private boolean early;
    private @Nullable Flow flow;
    private int freeFrames;
    private long sends;
    private long sent;
    private long looked = System.nanoTime();

    private QueuePairWire(Context context, int mtu) throws VerbsException {
        this.context = context;
        this.mtu = mtu;
        DeviceAttributes d = context.queryDevice();
        chunk = d.rawReceiveBuffer().orElseThrow(() -> new VerbsException("open a stack on " + context.device().name(),
                Errno.EOPNOTSUPP, "the device has no queue pairs for raw packets; those called tap_ and xdp_ have"));
        offset = d.rawReceiveOffset().orElse(0);
        int stride = Math.ceilDiv(BEFORE + ETHERNET + mtu, chunk) * chunk;
        pd = context.allocateProtectionDomain();
        channel = context.createCompletionChannel();
        receiveCq = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(RECEIVES).channel(channel)
                .build());
        sendCq = context.createCompletionQueue(SENDS);
        qp = pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, receiveCq).type(QueuePairType.RAW_PACKET)
                .maxSendWr(SENDS).maxReceiveWr(RECEIVES).maxSendSge(1).build());
        region = pd.allocate((long) RECEIVES * chunk + (long) SENDS * stride, AccessFlags.LOCAL_WRITE);
        ByteBuffer bytes = region.segment().asByteBuffer();
        for (int i = 0; i < SENDS; i++) {
            frames[i] = new SendFrame(region.segment(), bytes, (long) RECEIVES * chunk + (long) i * stride + BEFORE, i);
            free[freeFrames++] = i;
        }
    }

    /** Takes over a device that has no other queue pair of this kind; {@code mtu} is the interface's. */
    public static QueuePairWire open(Context context, int mtu) throws VerbsException {
        QueuePairWire w = new QueuePairWire(context, mtu);
        try {
            w.start();
        } catch (VerbsException | RuntimeException e) {
            w.close();
            throw e;
        }
        return w;
    }

    private void start() throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).build());
        for (int i = 0; i < RECEIVES; i++) {
            post(i);
        }
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build());
        flow = qp.createFlow(FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build());
    }

    private void post(int place) throws VerbsException {
        int wrong = qp.receiveQueue().post(place, region, (long) place * chunk, chunk);
        if (wrong != 0) {
            throw new VerbsException("post a receive", wrong, "no frame can be received");
        }
    }

    @Override
    public int mtu() {
        return mtu;
    }

    @Override
    public @Nullable ReceivedFrame receive() throws IOException {
        if (early) {
            early = false;
            return frame;
        }
        while (receiveCq.startPoll() == 0) {
            try {
                do {
                    if (frame.take()) {
                        return frame;
                    }
                } while (receiveCq.nextPoll() == 0);
            } finally {
                receiveCq.endPoll();
            }
        }
        return null;
    }

    @Override
    public @Nullable SendFrame acquire() throws IOException {
        if (freeFrames == 0) {
            reap();
        }
        return freeFrames == 0 ? null : frames[free[--freeFrames]];
    }

    /** Takes back the frames that were sent. */
    private void reap() throws IOException {
        if (sendCq.startPoll() != 0) {
            return;
        }
        try {
            do {
                check(sendCq);
                while (sent <= sendCq.wrId()) {
                    free[freeFrames++] = posted[(int) (sent++ % SENDS)];
                }
            } while (sendCq.nextPoll() == 0);
        } finally {
            sendCq.endPoll();
        }
    }

    private static void check(CompletionQueue cq) throws IOException {
        if (cq.status() != WcStatus.SUCCESS) {
            throw new IOException("the queue pair of the stack has failed: " + WcStatus.toString(cq.status()));
        }
    }

    @Override
    public void send(SendFrame f, int bytes) throws IOException {
        // The last free frame is signalled, too: who waits for frames waits for a completion.
        boolean signal = (sends + 1) % SIGNAL_EVERY == 0 || freeFrames == 0;
        posted[(int) (sends % SENDS)] = f.number();
        int wrong = qp.sendQueue().postSend(sends, signal ? SendFlags.SIGNALED : SendFlags.NONE, region, f.at(), bytes);
        if (wrong != 0) {
            giveBack(f);
            throw new VerbsException("post a send", wrong, "a frame of " + bytes + " bytes");
        }
        sends++;
    }

    @Override
    public void giveBack(SendFrame f) {
        free[freeFrames++] = f.number();
    }

    @Override
    public void await(long nanos) throws IOException {
        int wrong = receiveCq.requestNotify(false);
        if (wrong != 0) {
            throw new VerbsException("wait for frames", wrong, "the completion queue cannot wake");
        }
        early = receive() != null; // one that came before the request wakes nobody
        if (early) {
            return;
        }
        channel.await(Duration.ofNanos(nanos));
        if (System.nanoTime() - looked >= LOOK_EVERY) {
            looked = System.nanoTime();
            context.queryPort(1); // ENODEV: a receiver learns in no other way that the interface of an xdp_ device is gone
        }
    }

    @Override
    public void close() throws VerbsException {
        if (flow != null) {
            flow.close();
        }
        qp.close();
        sendCq.close();
        receiveCq.close();
        channel.close();
        region.close();
        pd.close();
    }

    /** The one frame that is looked at, until it is released. */
    private final class Frame extends ReceivedFrame {
        private final int[] chunks = new int[MOST_PARTS];
        private int held;
        private boolean whole = true;
        private boolean tooLong;

        /** Takes the completion that is current; true if it is the last of a frame. */
        private boolean take() throws IOException {
            check(receiveCq);
            if (whole) {
                clear();
                held = 0;
                tooLong = false;
            }
            int place = (int) receiveCq.wrId();
            int flags = receiveCq.flags();
            whole = (flags & WcFlags.CONTINUES) == 0;
            if ((flags & (WcFlags.IP_CSUM_OK | WcFlags.CSUM_PARTIAL)) != 0) {
                setChecked();
            }
            if (tooLong || !add((long) place * chunk + offset, (int) receiveCq.byteLength())) {
                tooLong = true;
                post(place);
            } else {
                chunks[held++] = place;
            }
            if (whole && tooLong) {
                release();
            }
            return whole && !tooLong;
        }

        @Override
        public MemorySegment memory() {
            return region.segment();
        }

        @Override
        public void release() throws IOException {
            for (int i = 0; i < held; i++) {
                post(chunks[i]);
            }
            held = 0;
        }
    }
}
