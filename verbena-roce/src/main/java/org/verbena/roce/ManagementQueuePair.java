// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.cm.CmAgent;
import org.verbena.roce.cm.CmCodec;
import org.verbena.roce.cm.CmTransport;
import org.verbena.roce.cm.PrivateData;
import org.verbena.roce.transport.Memory;
import org.verbena.roce.transport.Path;
import org.verbena.roce.transport.QueuePairOwner;
import org.verbena.roce.transport.ReceiveSource;
import org.verbena.roce.transport.ReceiveWqe;
import org.verbena.roce.transport.SendRing;
import org.verbena.roce.transport.SendWqe;
import org.verbena.roce.transport.Transport;
import org.verbena.roce.transport.TransportQueuePair;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * Queue pair 1 of a context, which carries management datagrams to and from queue pairs 1 of others (IBTA volume 1,
 * 13.5). Used under the context's lock. Datagrams that arrive are queued, since the transport must not be called from
 * inside its own calls, and are passed to the agent by {@link #deliver}.
 */
final class ManagementQueuePair implements QueuePairOwner, CmTransport {
    private static final int NUMBER = 1;
    private static final int QKEY = 0x8001_0000;
    private static final int SENDS = 256;
    private static final int RECEIVES = 256;
    private static final int STRIDE = GlobalRoutingHeader.BYTES + CmCodec.BYTES;
    /** Datagrams beyond this number, as of a flood between two deliveries, are dropped, as by a network. */
    private static final int MAX_ARRIVED = 4 * RECEIVES;
    private static final int PATHS = 256;

    private record Arrived(Gid to, Gid from, PrivateData mad) {}

    private record Ends(Gid from, Gid to) {}

    private final Port port;
    private final MemorySegment receives = Arena.ofAuto().allocate((long) RECEIVES * STRIDE, 64);
    private final MemorySegment inline = Arena.ofAuto().allocate((long) SENDS * CmCodec.BYTES, 64);
    private final SendRing sends = new SendRing(SENDS, 1, inline.address(), CmCodec.BYTES);
    private final Buffers buffers = new Buffers();
    private final TransportQueuePair transport;
    private final ArrayDeque<Arrived> arrived = new ArrayDeque<>();
    private long dropped;
    private final Map<Ends, Path> paths = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Ends, Path> eldest) {
            if (size() > PATHS) {
                eldest.getValue().close();
                return true;
            }
            return false;
        }
    };

    ManagementQueuePair(Transport transport, Port port) {
        this.port = port;
        this.transport = transport.create(NUMBER, QueuePairType.UD, this, sends);
        this.transport.modify(QueuePairState.INIT, QueuePairAttributes.to(QueuePairState.INIT).qkey(QKEY).build(),
                null);
        this.transport.modify(QueuePairState.RTR, QueuePairAttributes.to(QueuePairState.RTR).build(), null);
        this.transport.modify(QueuePairState.RTS, QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build(), null);
    }

    /** Passes the queued datagrams to the agent; returns how many there were. */
    int deliver(CmAgent agent) {
        int n = 0;
        for (Arrived a = arrived.poll(); a != null; a = arrived.poll()) {
            agent.received(a.to(), a.from(), a.mad().bytes());
            n++;
        }
        return n;
    }

    /** Number of datagrams that were not queued: with a wrong key or length, or too many at a time. */
    long dropped() {
        return dropped;
    }

    // ---- CmTransport

    @Override
    public long nanoTime() {
        return port.wire().nanoTime();
    }

    @Override
    public void send(Gid from, Gid to, byte[] mad) {
        if (sends.room() == 0) {
            return; // lost; the sender retransmits what it needs
        }
        Path path = path(from, to);
        if (path == null) {
            return;
        }
        SendWqe w = sends.free(0).begin(0, SendOpcode.SEND, SendFlags.INLINE);
        RawMemory.copyOut(MemorySegment.ofArray(mad), 0, w.inlineAddress, mad.length);
        w.inlineLength = mad.length;
        w.path = path;
        w.remoteQueuePair = NUMBER;
        w.remoteQkey = QKEY;
        transport.post(1);
    }

    private @Nullable Path path(Gid from, Gid to) {
        Ends ends = new Ends(from, to);
        Path path = paths.get(ends);
        try {
            int length = port.attributes().gidTableLength();
            for (int i = 0; path == null && i < length; i++) {
                if (port.gid(i).gid().equals(from)) {
                    path = port.wire().path(from, i, to, 0, 0, 0);
                    paths.put(ends, path);
                }
            }
        } catch (VerbsException unreachable) {
            return null;
        }
        return path;
    }

    // ---- QueuePairOwner

    @Override
    public Memory memory() {
        return buffers;
    }

    @Override
    public ReceiveSource receives() {
        return buffers;
    }

    @Override
    public @Nullable ReceiveSource sharedReceiveQueue(int number) {
        return null;
    }

    @Override
    public void sent(SendWqe wqe) {
        // nothing waits for it
    }

    @Override
    public void received(ReceiveSource source, ReceiveWqe wqe) {
        if (wqe.status == WcStatus.SUCCESS && wqe.byteLength == STRIDE && arrived.size() < MAX_ARRIVED) {
            MemorySegment datagram = receives.asSlice(wqe.wrId * STRIDE, STRIDE);
            GlobalRoutingHeader header = GlobalRoutingHeader.of(datagram);
            byte[] mad = datagram.asSlice(GlobalRoutingHeader.BYTES).toArray(ValueLayout.JAVA_BYTE);
            arrived.add(new Arrived(header.destination(), header.source(), PrivateData.of(mad)));
        } else {
            dropped++;
        }
        buffers.putBack(wqe);
    }

    @Override
    public void stateChanged(QueuePairState state, String reason, int event) {
        // it is never connected, and its memory is its own: nothing makes it fail
    }

    @Override
    public void event(int type) {
        // as above
    }

    @Override
    public void count(int samplePoint, long n) {
        if (samplePoint == SamplePoint.QP_RX_LOST) { // everything else is counted by the agent
            dropped += n;
        }
    }

    /** Its own receive buffers, and nothing else. */
    private final class Buffers implements Memory, ReceiveSource {
        private final ArrayDeque<ReceiveWqe> free = new ArrayDeque<>();

        Buffers() {
            for (int i = 0; i < RECEIVES; i++) {
                ReceiveWqe w = new ReceiveWqe(1);
                w.wrId = i;
                w.addSge(0, receives.address() + (long) i * STRIDE, STRIDE);
                free.add(w);
            }
        }

        @Override
        public @Nullable ReceiveWqe take() {
            return free.poll();
        }

        @Override
        public void putBack(ReceiveWqe wqe) {
            free.addFirst(wqe);
        }

        @Override
        public boolean isShared() {
            return true;
        }

        @Override
        public Memory memory() {
            return this;
        }

        @Override
        public long local(int lkey, long address, long length, int access) {
            long offset = address - receives.address();
            return offset < 0 || length < 0 || offset > receives.byteSize() - length ? BAD_RANGE : address;
        }

        @Override
        public long remote(int queuePair, int rkey, long address, long length, int access) {
            return BAD_KEY;
        }

        @Override
        public long remoteAgain(int queuePair, int rkey, long address, long length, int access) {
            return BAD_KEY;
        }

        @Override
        public long invalidate(int queuePair, int rkey, boolean remote) {
            return BAD_KEY;
        }

        @Override
        public long bind(int queuePair, SendWqe wqe) {
            return BAD_KEY;
        }
    }
}
