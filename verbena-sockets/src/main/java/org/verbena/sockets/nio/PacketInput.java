// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.sockets.extra.ReceiveFlags;
import org.verbena.sockets.memory.MemoryHold;
import org.verbena.sockets.stream.PacketHolder;
import org.verbena.sockets.stream.PacketProbe;
import org.verbena.sockets.stream.RingPackets;
import org.verbena.sockets.stream.SocketEvents;
import org.verbena.sockets.stream.Stream;
import org.verbena.verbs.VerbsException;

/** Receives from a channel without a copy where rings bring the bytes, and otherwise into the caller's buffer. */
final class PacketInput {
    private static final int END = -1;

    private final StreamSocketChannel channel;
    private final Input input;

    // guarded by the lock of the direction: the connection's addresses, once they are needed
    private @Nullable SocketAddress source;
    private @Nullable SocketAddress destination;

    PacketInput(StreamSocketChannel channel, Input input) {
        this.channel = channel;
        this.input = input;
    }

    /** As {@code ExtraApi.receive}; the flags are valid. */
    int receive(PacketHolder into, @Nullable ByteBuffer copy, int flags) throws IOException {
        into.clear();
        if (copy != null) {
            Buffers.checkWritable(copy);
        }
        if ((flags & ReceiveFlags.DONT_WAIT) == 0) {
            input.lock().lock(channel.blockingLock());
        } else if (!input.lock().tryLock()) {
            return 0; // another thread reads, and perhaps waits
        }
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            if (input.isShut()) {
                return END;
            }
            boolean recorded = SocketEvents.ofReads();
            long start = recorded ? SocketEvents.readBegins() : 0;
            boolean held = copy != null && MemoryHold.take(copy);
            try {
                int n = receive(stream, into, copy, flags);
                if (recorded) {
                    SocketEvents.read(start, n, channel.remoteOrNull(), 0);
                }
                return n;
            } finally {
                if (held && copy != null) {
                    MemoryHold.release(copy);
                }
            }
        } finally {
            input.lock().unlock();
        }
    }

    private int receive(Stream stream, PacketHolder into, @Nullable ByteBuffer copy, int flags) throws IOException {
        if (!channel.isBlocking()) {
            int n = attempt(stream, into, copy, flags);
            input.countEmptyReads(stream, n == 0);
            return n;
        }
        boolean waits = (flags & ReceiveFlags.DONT_WAIT) == 0;
        int n = waits && Thread.currentThread().isInterrupted() ? 0 : attempt(stream, into, copy, flags);
        return n != 0 || !waits ? n : await(stream, into, copy, flags);
    }

    /** As {@link Input}'s reads wait. */
    private int await(Stream stream, PacketHolder into, @Nullable ByteBuffer copy, int flags) throws IOException {
        long start = System.nanoTime();
        int n = 0;
        if (stream.isInputByRing() && input.spin().poll(stream, OP_READ, channel)
                && !Thread.currentThread().isInterrupted()) {
            n = attempt(stream, into, copy, flags);
        }
        if (n == 0) {
            input.begin();
            try {
                while (n == 0 && channel.isOpen() && !input.isShut()) {
                    n = attempt(stream, into, copy, flags);
                    if (n == 0) {
                        input.sleep(stream, 0);
                    }
                }
            } finally {
                end(stream, into, n > 0);
            }
        }
        input.spin().waited(System.nanoTime() - start);
        return n == 0 && input.isShut() ? END : n;
    }

    /** Where the thread was interrupted meanwhile, nobody learns of the packets: they are freed. */
    private void end(Stream stream, PacketHolder into, boolean received) throws AsynchronousCloseException {
        try {
            input.end(received);
        } catch (AsynchronousCloseException e) {
            RingPackets packets = RingPackets.of(stream);
            if (into.count() > 0 && packets != null) {
                packets.free(into.ids(), 0, into.count());
                into.freed();
            }
            throw e;
        }
    }

    /** What is there; 0 if nothing is. */
    private int attempt(Stream stream, PacketHolder into, @Nullable ByteBuffer copy, int flags) throws IOException {
        boolean copies = (flags & ReceiveFlags.FORCE) == 0 && copy != null && copy.hasRemaining();
        if (!copies || into.packetCapacity() > 0 && into.fragmentCapacity() > 0) {
            int n = RingPackets.receive(stream, into, channel);
            if (n == RingPackets.BY_TCP && !copies) {
                n = PacketProbe.next(stream);
                if (n == PacketProbe.RING) { // which it has just entered
                    n = RingPackets.receive(stream, into, channel);
                }
                if (n == PacketProbe.COPY) {
                    throw needsCopy(stream, flags);
                }
            }
            if (n == RingPackets.FULL) {
                throw failed(Errno.ENOBUFS, into.packetCapacity() == 0 || into.fragmentCapacity() == 0
                        ? "the packets have no room for one: make them with ExtraApi.newPackets(1, 1) at least"
                        : "too many packets are held, 65536 from the oldest on: free the oldest first");
            }
            if (n > 0) {
                named(stream, into);
            }
            if (n >= END) {
                return n;
            }
        }
        if (!copies || copy == null) {
            return 0;
        }
        int n = stream.read(copy);
        if (n > 0 && !copy.hasRemaining() && PacketProbe.hasMore(stream)) {
            into.truncated();
        }
        return n;
    }

    private VerbsException needsCopy(Stream stream, int flags) {
        String what = "TCP brings the next bytes" + reason(stream);
        return (flags & ReceiveFlags.FORCE) != 0
                ? failed(Errno.EIO, what + ", and FORCE allows no copy: receive without it, or read")
                : failed(Errno.ENOBUFS, what + ", and there is no room for a copy: pass a buffer with some");
    }

    private void named(Stream stream, PacketHolder into) {
        if (source == null) {
            source = channel.remoteOrNull();
            destination = channel.localOrNull();
            RingPackets packets = RingPackets.of(stream);
            if (packets != null) {
                packets.name(destination + " from " + source);
            }
        }
        into.of(channel, source, destination);
    }

    private static String reason(Stream stream) {
        String why = stream.fallbackReason();
        return why.isEmpty() ? "" : " (" + why + ")";
    }

    private VerbsException failed(int errno, String detail) {
        return new VerbsException("receive packets from " + channel.remoteOrNull(), errno, detail);
    }
}
