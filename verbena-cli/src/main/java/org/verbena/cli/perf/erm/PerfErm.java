// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.erm;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.sockets.PerfNio;
import org.verbena.cli.perf.sockets.PerfTcp;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.OpenDevices;
import org.verbena.erm.CopyFlags;
import org.verbena.erm.CopyQueue;
import org.verbena.erm.EventQueue;
import org.verbena.erm.EventType;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.linux.Errno;
import org.verbena.sockets.Verbena;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/**
 * One end of a test of remote memory: a channel of Verbena over rings, the source memory of its copies, and the target
 * memory of the copies of the peer. Both begin with a place for empty copies, followed by the same buffers.
 */
public final class PerfErm implements AutoCloseable {
    /** The offset of the first buffer, which is on its own page, like those of verbs. */
    static final long FIRST = 4096;

    private static final int ONLY_COPIED_FROM = 0;
    private static final long SET_UP_SECONDS = PerfControl.PATIENCE_SECONDS + 10;
    private static final Duration TURN = Duration.ofMillis(100);

    final PerfJob job;
    final PerfControl peer;
    final CopyQueue copies;
    final EventQueue events;
    final int slots;
    /** The source of copies. */
    final MemorySegment out;
    /** The target of the peer's copies. */
    final MemorySegment in;

    private final SocketChannel channel;
    private final RemoteMemory memory;
    private final int outId;
    private final int inId;
    private final int remoteId;

    /** The side that is measured against. */
    public static PerfLoop serve(PerfJob job, PerfControl client, OpenDevices devices) throws IOException {
        String device = devices.own().isEmpty() ? job.device() : devices.own();
        if (needsRule(device)) {
            devices.leaveToStreams(device);
            rule("use stream tcp_server *:* device " + device);
        }
        try (ServerSocketChannel listener = PerfNio.provider(job, false).openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(client.localAddress(), 0));
            client.send("READY port=" + ((InetSocketAddress) listener.getLocalAddress()).getPort());
            return open(job, client, PerfTcp.accept(listener, client), device, false);
        }
    }

    /** The side that measures. */
    public static PerfLoop connect(PerfJob job, PerfControl server, InetSocketAddress address) throws IOException {
        if (needsRule(job.device())) {
            rule("use stream tcp_client *:" + address.getPort() + " device " + job.device());
        }
        SocketChannel channel = PerfNio.provider(job, true).openSocketChannel();
        try {
            channel.connect(address);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
        return open(job, server, channel, job.device(), true);
    }

    /** Whether streams need a device: processes of other hosts are reached through it, those of this host without. */
    public static boolean needsRule(String device) {
        return !device.isEmpty() && !device.equals(System.getProperty("verbena.stream.device", "shm0"));
    }

    private static void rule(String line) throws CommandException {
        try {
            Verbena.addRule(line);
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Creates everything; if something fails, the channel is closed with everything else. */
    private static PerfLoop open(PerfJob job, PerfControl peer, SocketChannel channel, String device,
            boolean initiator) throws IOException {
        try {
            PerfNio.awaitCarrier(job, channel, peer);
            RemoteMemory memory = memory(channel, peer);
            if (!memory.device().equals(device)) {
                throw new CommandException(memory.device() + " carries the connection, not " + device
                        + ": between processes of one host that is so, say --device=" + memory.device());
            }
            if (job.test().isErmRegistration()) {
                return initiator
                        ? new PerfErmRegistration(job, peer, channel, memory)
                        : new PerfErmRegistration.Target(peer, channel, memory);
            }
            PerfErm end = new PerfErm(job, peer, channel, memory);
            if (job.test() == PerfTest.ERM_LAT) {
                return new PerfErmLatency(end, initiator);
            }
            return initiator
                    ? new PerfErmBandwidth(end)
                    : job.followed() ? new PerfErmBandwidth.Follower(end) : new PerfErmBandwidth.Target(end);
        } catch (InterruptedException e) {
            channel.close();
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted", e);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static RemoteMemory memory(SocketChannel channel, PerfControl peer)
            throws CommandException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SET_UP_SECONDS);
        for (boolean first = true; System.nanoTime() < end; first = false) {
            RemoteMemory memory = RemoteMemory.of(channel, TURN).orElse(null);
            if (memory != null) {
                return memory;
            }
            peer.look(first);
        }
        throw new CommandException("the connection " + channel + " has no remote memory: " + RemoteMemory.whyNot(
                channel));
    }

    private PerfErm(PerfJob job, PerfControl peer, SocketChannel channel, RemoteMemory memory)
            throws IOException, InterruptedException {
        this.job = job;
        this.peer = peer;
        this.channel = channel;
        this.memory = memory;
        copies = memory.copies();
        events = memory.events();
        slots = job.test().isBandwidth() ? job.slots() : job.places();
        long bytes = FIRST + slots * job.stride();
        LocalRegion leaving = memory.allocate(bytes, ONLY_COPIED_FROM, 0);
        LocalRegion arriving = memory.allocate(bytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE, 0);
        outId = leaving.id();
        out = leaving.segment();
        inId = arriving.id();
        in = arriving.segment();
        remoteId = awaitRegion(bytes);
    }

    /** The peer registers one region that this end may copy to. */
    private int awaitRegion(long bytes) throws CommandException, InterruptedException {
        for (boolean first = true; !events.poll(); first = false) {
            peer.look(first);
            memory.await(RemoteMemory.EVENTS, TURN);
        }
        if (events.type() != EventType.REGION_ADDED || events.length() != bytes) {
            throw new CommandException("the peer's memory was expected, and " + event() + " came");
        }
        return events.region();
    }

    /** Starts a copy to the same offset in the memory of the peer; waits for room. */
    void copy(long offset, long length, int flags, long number, long userData) throws IOException {
        int error = copies.copy(outId, offset, remoteId, offset, length, flags, number, userData);
        long turns = 0;
        while (error != 0) {
            turns = makeRoom(error, turns);
            error = copies.copy(outId, offset, remoteId, offset, length, flags, number, userData);
        }
    }

    /** Adds such a copy, without user data, to the batch that is open. */
    void add(long offset, long length, int flags, long number) {
        copies.add(outId, offset, remoteId, offset, length, flags, number, 0);
    }

    /** Takes completions after a refusal; throws if the refusal was permanent. */
    long makeRoom(int error, long turns) throws CommandException {
        if (error != Errno.EAGAIN && error != Errno.ENOBUFS) {
            String reason = memory.endReason();
            throw new CommandException("a copy was refused with " + Errno.name(error) + (reason.isEmpty()
                    ? ""
                    : ": " + reason));
        }
        reap();
        return peer.spin(turns);
    }

    /** Takes the available completions. */
    void reap() throws CommandException {
        while (copies.poll()) {
            if (copies.status() != WcStatus.SUCCESS) {
                throw new CommandException("a copy failed with " + WcStatus.toString(copies.status()) + ": " + memory
                        .endReason());
            }
        }
    }

    /** Waits until all copies are done. */
    void finish() throws CommandException {
        long turns = 0;
        while (copies.outstanding() > 0) {
            reap();
            turns = peer.spin(turns);
        }
    }

    /** Spins until the peer reports a copy. */
    void awaitCopy() throws CommandException {
        long turns = 0;
        while (!events.poll()) {
            turns = peer.spin(turns);
        }
        requireCopy();
    }

    /** Throws unless the polled event is a copy of the peer. */
    void requireCopy() throws CommandException {
        if (events.type() != EventType.COPIED) {
            throw new CommandException("a copy was expected, and " + event() + " came");
        }
    }

    /** Throws unless the polled copy is message {@code number} at its offset. */
    void check(long offset, long number) throws CommandException {
        if (events.region() != inId || events.offset() != offset || events.length() != job.size()
                || events.userData() != 0) {
            throw new CommandException("message " + number + " arrived as " + event());
        }
        PerfPattern.check(in, offset, job.size(), number);
    }

    private String event() {
        return EventType.toString(events.type()) + " of " + events.length() + " bytes at " + events.offset()
                + " of region " + events.region() + " with " + events.userData() + (events.type() == EventType.CLOSED
                        ? ": " + memory.endReason()
                        : "");
    }

    /** Flags of a copy with a remote completion, with or without a local completion. */
    static int telling(boolean signal) {
        return signal ? CopyFlags.REMOTE_COMPLETION : CopyFlags.REMOTE_COMPLETION | CopyFlags.UNSIGNALED;
    }

    @Override
    public void close() throws IOException {
        memory.close();
        channel.close();
    }
}
