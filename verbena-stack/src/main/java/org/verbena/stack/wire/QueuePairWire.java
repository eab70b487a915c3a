// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueAttributes;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.WorkQueueState;

/** A queue pair for raw packets that takes all frames of its device, or those of flows alone. */
public final class QueuePairWire implements SteeredWire {
    private static final int RECEIVES = 512;
    private static final int SENDS = 256;
    /** Buffers of frames that are cut, which are as long as IPv4 allows. */
    private static final int LONG_SENDS = 16;
    private static final int MOST_CUT = 65_535;
    /** Ethernet, IPv4 and TCP with all options. */
    private static final int MOST_HEADERS = 14 + VlanWire.TAG + 60 + 60;
    private static final int SIGNAL_EVERY = 32;
    /** Of packets over a single work queue: whatever it answers, they come there. */
    private static final RxHashConfiguration ANY_HASH = RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ,
            new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES], RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4);
    private static final int ETHERNET = 14;
    private static final int BELL = 1;
    private static final int WATCHED = 2;
    private static final int NANOS_PER_MILLI = 1_000_000;
    /** RFC 791, 3.2. */
    private static final int LEAST_MTU = 68;
    /** What AF_XDP wants free before a frame that it sends from where it is; a cache line begins there. */
    private static final int BEFORE = 64;

    private final Context context;
    /** What is to be closed, the last first. */
    private final Deque<VerbsObject> opened;
    private final CompletionChannel channel;
    /** Of {@link #channel} and {@link #bell}. */
    private final Epoll epoll;
    private final Fd bell;
    private final CompletionQueue receiveCq;
    private final CompletionQueue sendCq;
    private final QueuePair qp;
    private final ReceiveQueue receiveQueue;
    /** Buffers of receives, then those of sends. */
    private final MemoryRegion region;
    private final int chunk;
    private final int offset;
    private final int mtu;
    private final int receives;
    /** Those of an MTU, then the long ones. */
    private final SendFrame[] frames;
    private final int shortFrames;
    /** Numbers of frames that are free, as a stack. */
    private final int[] free;
    private final int[] freeLong;
    /** Numbers of frames that were posted, in a ring. */
    private final int[] posted;
    private final Frame frame = new Frame();
    /** The frame was found by {@link #arm}, and is still to be received. */
    private boolean early;
    private @Nullable Capture capture;
    private @Nullable Runnable readable;
    private int freeFrames;
    private int freeLongFrames;
    /** How many were posted, and where the next one goes in the ring. */
    private long sends;
    private int next;
    /** How many were sent of them, and where the next one is in the ring. */
    private long sent;
    private int oldest;

    private QueuePairWire(Context context, int mtu, boolean steered, boolean tagged, Deque<VerbsObject> opened)
            throws VerbsException {
        this.context = context;
        this.mtu = mtu;
        this.opened = opened;
        DeviceAttributes d = context.queryDevice();
        chunk = d.rawReceiveBuffer().orElseThrow();
        offset = d.rawReceiveOffset().orElse(0);
        receives = Math.min(RECEIVES, d.maxQpWr());
        int sends = Math.min(SENDS, d.maxQpWr() - LONG_SENDS);
        int before = BEFORE + (tagged ? VlanWire.TAG : 0);
        int stride = Math.ceilDiv(before + ETHERNET + mtu, chunk) * chunk;
        int longStride = Math.ceilDiv(before + ETHERNET + MOST_CUT, chunk) * chunk;
        ProtectionDomain pd = opened(context.allocateProtectionDomain());
        long firstShort = (long) receives * chunk;
        long firstLong = firstShort + (long) sends * stride;
        region = opened(pd.allocate(firstLong + (long) LONG_SENDS * longStride, AccessFlags.LOCAL_WRITE));
        channel = opened(context.createCompletionChannel());
        receiveCq = opened(context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(receives).channel(
                channel)
                .build()));
        sendCq = opened(context.createCompletionQueue(sends + LONG_SENDS));
        QueuePairInitAttributes.Builder a = QueuePairInitAttributes.builder(sendCq, receiveCq).type(
                QueuePairType.RAW_PACKET).maxSendWr(sends + LONG_SENDS).maxSendSge(1);
        // With several receive queues, packets come on any of them. A queue pair has one of them, a work queue all.
        WorkQueue work = d.maxQp() > 1 ? createWorkQueue(pd) : null;
        if (work == null) {
            a.maxReceiveWr(receives);
        } else {
            a.receiveSideScaling(opened(context.createRwqIndirectionTable(0, List.of(work))), ANY_HASH);
        }
        QueuePair cutting = createCutting(pd, a);
        int longs = cutting == null ? 0 : LONG_SENDS;
        qp = cutting == null ? opened(pd.createQueuePair(a.maxTsoHeader(0).build())) : cutting;
        receiveQueue = work == null ? qp.receiveQueue() : work.receiveQueue();
        frames = new SendFrame[sends + longs];
        shortFrames = sends;
        free = new int[sends];
        freeLong = new int[longs];
        posted = new int[sends + longs];
        ByteBuffer bytes = region.segment().asByteBuffer();
        for (int i = 0; i < sends; i++) {
            frames[i] = new SendFrame(region.segment(), bytes, firstShort + (long) i * stride + before, i);
            free[freeFrames++] = i;
        }
        for (int i = 0; i < longs; i++) {
            frames[sends + i] = new SendFrame(region.segment(), bytes, firstLong + (long) i * longStride + before, sends
                    + i);
            freeLong[freeLongFrames++] = sends + i;
        }
        start(steered);
        Fd b = null;
        Epoll all = null;
        try {
            b = Eventfd.create();
            all = Epoll.create();
            all.add(Fd.of(channel.descriptor()), Epoll.IN, 0);
            all.add(b, Epoll.IN, BELL);
        } catch (LinuxException e) {
            if (b != null) {
                b.close();
            }
            if (all != null) {
                all.close();
            }
            throw new VerbsException("open a stack on " + context.device().name(), e);
        }
        bell = b;
        epoll = all;
    }

    /** A queue pair that cuts frames; null if this process may not have one: that goes by a packet socket on some devices. */
    private @Nullable QueuePair createCutting(ProtectionDomain pd, QueuePairInitAttributes.Builder a)
            throws VerbsException {
        try {
            return opened(pd.createQueuePair(a.maxTsoHeader(MOST_HEADERS).build()));
        } catch (VerbsException e) {
            if (e.errno() == Errno.EPERM || e.errno() == Errno.EACCES || e.errno() == Errno.EOPNOTSUPP || e
                    .errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }

    private WorkQueue createWorkQueue(ProtectionDomain pd) throws VerbsException {
        WorkQueue q = opened(context.createWorkQueue(WorkQueueInitAttributes.builder(pd, receiveCq).maxWr(receives)
                .build()));
        q.modify(WorkQueueAttributes.to(WorkQueueState.RDY));
        return q;
    }

    private <T extends VerbsObject> T opened(T o) {
        opened.push(o);
        return o;
    }

    /**
     * Takes over a device that has no other queue pair of this kind.
     *
     * @param mtu the interface's
     * @param tagged whether frames to send have {@link VlanWire#TAG} bytes before them
     * @param steered whether only packets come that {@link #steer} says; else all
     * @throws VerbsException {@code EOPNOTSUPP} for a device without raw packets, {@code EBUSY} if another has one of its queues
     */
    public static QueuePairWire open(Context context, int mtu, boolean steered, boolean tagged)
            throws VerbsException {
        String verb = "open a stack on " + context.device().name();
        requireRawPackets(context);
        // A context knows the MTU that was when it was opened.
        long most = Math.min(mtu, context.queryPort(1).maxMessageSize() - ETHERNET - VlanWire.TAG);
        if (most < LEAST_MTU) {
            throw new VerbsException(verb, Errno.EINVAL, "the interface's MTU is " + most + ", and IPv4 needs "
                    + LEAST_MTU);
        }
        Deque<VerbsObject> opened = new ArrayDeque<>();
        try {
            return new QueuePairWire(context, (int) most, steered, tagged, opened);
        } catch (VerbsException | RuntimeException | Error e) {
            close(opened).ifPresent(e::addSuppressed);
            throw e;
        }
    }

    /** Throws {@code EOPNOTSUPP} for a device without raw packets. */
    public static void requireRawPackets(Context context) throws VerbsException {
        if (context.queryDevice().rawReceiveBuffer().isEmpty()) {
            throw new VerbsException("open a stack on " + context.device().name(), Errno.EOPNOTSUPP,
                    "the device has no queue pairs for raw packets; those called tap_ and xdp_ have");
        }
    }

    private void start(boolean steered) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).build());
        for (int i = 0; i < receives; i++) {
            post(i);
        }
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build());
        if (!steered) {
            opened(qp.createFlow(FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build()));
        }
    }

    private void post(int place) throws VerbsException {
        int wrong = receiveQueue.post(place, region, (long) place * chunk, chunk);
        if (wrong != 0) {
            throw new VerbsException("post a receive", wrong, "no frame can be received");
        }
    }

    @Override
    public AutoCloseable steer(int protocol, InetAddress to, int port) throws IOException {
        FlowSpec ip = to instanceof Inet4Address
                ? FlowSpec.ipv4().match(FlowField.IPV4_DESTINATION, ByteBuffer.wrap(to.getAddress()).getInt()
                        & 0xffff_ffffL)
                : FlowSpec.ipv6().match(FlowField.IPV6_DESTINATION, to.getAddress());
        FlowSpec ports = protocol == Ipv4Header.TCP ? FlowSpec.tcp() : FlowSpec.udp();
        return qp.createFlow(FlowAttributes.builder().spec(ip).spec(ports.match(FlowField.DESTINATION_PORT, port))
                .build());
    }

    @Override
    public void watch(Fd fd, Runnable r) throws IOException {
        readable = r;
        epoll.add(fd, Epoll.IN, WATCHED);
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
                        Capture c = capture;
                        if (c != null) {
                            c.received(frame);
                        }
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

    @Override
    public int mostCut() {
        return freeLong.length == 0 ? 0 : MOST_CUT;
    }

    @Override
    public @Nullable SendFrame acquireLong() throws IOException {
        if (freeLongFrames == 0) {
            reap();
        }
        return freeLongFrames == 0 ? null : frames[freeLong[--freeLongFrames]];
    }

    private void free(int number) {
        if (number < shortFrames) {
            free[freeFrames++] = number;
        } else {
            freeLong[freeLongFrames++] = number;
        }
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
                    free(posted[oldest]);
                    oldest = oldest + 1 == posted.length ? 0 : oldest + 1;
                    sent++;
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
        boolean signal = (sends + 1) % SIGNAL_EVERY == 0 || freeFrames == 0 || f.headers() > 0;
        posted[next] = f.number();
        long at = f.at() - f.before();
        int length = bytes + f.before();
        Capture c = capture;
        if (c != null) {
            c.sent(f, length);
        }
        int flags = signal ? SendFlags.SIGNALED : SendFlags.NONE;
        int headers = f.headers() + f.before();
        int wrong = f.headers() == 0
                ? qp.sendQueue().postSend(sends, flags, region, at, length)
                : qp.sendQueue().start().sendSegmented(sends, flags, region.segment(), at, headers, f.segment()).sge(
                        region, at + headers, length - headers).complete();
        if (wrong != 0) {
            giveBack(f);
            throw new VerbsException("post a send", wrong, "a frame of " + length + " bytes");
        }
        f.reset();
        sends++;
        next = next + 1 == posted.length ? 0 : next + 1;
    }

    @Override
    public void giveBack(SendFrame f) {
        f.reset();
        free(f.number());
    }

    @Override
    public boolean arm() throws IOException {
        int wrong = receiveCq.requestNotify(false);
        if (wrong != 0) {
            throw new VerbsException("wait for frames", wrong, "the completion queue cannot wake");
        }
        early = receive() != null; // one that came before the request wakes nobody
        return !early;
    }

    @Override
    public void sleep(long nanos) throws IOException {
        int n = epoll.await((int) Math.min(Math.ceilDiv(nanos, NANOS_PER_MILLI), Integer.MAX_VALUE));
        for (int i = 0; i < n; i++) {
            if (epoll.token(i) == BELL) {
                Eventfd.drain(bell);
            } else if (epoll.token(i) == WATCHED) {
                Runnable r = readable;
                if (r != null) {
                    r.run();
                }
            } else {
                channel.await(Duration.ZERO);
            }
        }
    }

    @Override
    public void wake() throws IOException {
        Eventfd.signal(bell);
    }

    @Override
    public boolean hasFree(int n) throws IOException {
        if (freeFrames < n) {
            reap();
        }
        return freeFrames >= n;
    }

    @Override
    public void requireLink() throws IOException {
        try {
            context.queryPort(1);
        } catch (VerbsException e) {
            if (e.errno() == Errno.ENODEV) { // others are of the question
                throw e;
            }
        }
    }

    @Override
    public void capture(@Nullable Capture c) {
        capture = c;
    }

    @Override
    public void close() throws VerbsException {
        epoll.close();
        bell.close();
        Optional<VerbsException> e = close(opened);
        if (e.isPresent()) {
            throw e.get();
        }
    }

    /** Closes all, the last first, whatever one of them says; answers the first that is said. */
    private static Optional<VerbsException> close(Deque<VerbsObject> all) {
        VerbsException first = null;
        while (!all.isEmpty()) {
            try {
                all.pop().close();
            } catch (VerbsException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        return Optional.ofNullable(first);
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
