// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.sockets.telemetry.SocketLayout;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/**
 * The remote memory of a connected socket: what SMC-ERM is to an SMC socket. Each end registers memory and gives it
 * rights, the other end finds it in its table, and bytes are copied from memory to memory, in both directions.
 *
 * {@snippet :
 * RemoteMemory memory = RemoteMemory.of(channel, Duration.ofSeconds(5)).orElseThrow(
 *         () -> new IOException(RemoteMemory.whyNot(channel)));
 * LocalRegion mine = memory.allocate(1 << 20, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE, 7);
 * // the other end's program gets an event, finds the region by its id or its tag, and copies
 * }
 *
 * <p>Both programs have to ask, by {@link #of(SocketChannel)}: an end whose program has not asked cannot be reached. It
 * needs a Verbena channel whose bytes go through rings; over the TCP fallback there is no remote memory, and
 * {@link #whyNot} returns the reason.
 *
 * <p>Bytes written to the channel after a copy's completion was polled are read after the copied bytes have arrived. No
 * order is guaranteed for bytes written before that.
 *
 * <p>It ends with the channel, with the other end's, with either process, and when a copy that was started fails; the
 * channel may then go on without it. Thread-safe, but {@link #copies()} and {@link #events()} are for one thread at a
 * time each.
 */
public final class RemoteMemory implements AutoCloseable {
    /** For {@link #arm} and {@link #await}: copies that this end has started have completed. */
    public static final int COMPLETIONS = 1;
    /** For {@link #arm} and {@link #await}: events of the other end. */
    public static final int EVENTS = 1 << 1;

    /** Delay before a failed release is retried: the first and the longest one. */
    static final long FIRST_RETRY_MILLIS = 100;
    static final long MAX_RETRY_MILLIS = 5_000;
    private static final int ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private final SocketChannel channel;
    private final ProgressExecutor executor;
    private final PeerLink link;
    private final Regions regions;
    private final CopyQueue copies;
    private final EventQueue events;
    private final Control control;
    private final Consumer<String> onEnded;
    /** Completes when no copy can happen any more. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    /** Completes when all resources have been released. */
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Object releasing = new Object();
    private final @Nullable PublishedMemory published;
    /** The program needs neither this nor its regions any more. */
    private volatile boolean releasable;

    /**
     * @param number under which the statistics of the connection are published
     * @param side of this end, see {@link RegionId}
     * @param generations see {@link Generations}
     */
    RemoteMemory(SocketChannel channel, long number, ProgressExecutor executor, PeerLink link, Handshake peer, int side,
            IntSupplier generations, Consumer<String> whenEnded) {
        this.channel = channel;
        this.executor = executor;
        this.link = link;
        this.onEnded = whenEnded;
        regions = new Regions(side, Math.min(Limits.REGIONS, peer.regions()), generations);
        copies = new CopyQueue(regions, link, peer.credits());
        events = new EventQueue(regions, link, this::scheduleCreditReturn);
        control = new Control(regions, link, copies, events, peer, executor);
        copies.events(events);
        events.copies(copies);
        published = PublishedMemory.publish(this, number, side == 0 ? SocketLayout.CLIENT : SocketLayout.SERVER);
    }

    private void scheduleCreditReturn() {
        executor.schedule(control);
    }

    /** The queue pairs are connected. */
    void start() throws VerbsException {
        link.start(control.sends()::progress, control::receive, this::onLinkFailed);
        executor.submit(control::receive); // messages that arrived before the handler was set
    }

    // ---- to get it

    /**
     * Asks for the remote memory of a channel, and does not wait.
     *
     * @return the remote memory if both ends have asked and are connected; otherwise empty, and {@link #whyNot} returns
     *         the reason
     */
    public static Optional<RemoteMemory> of(SocketChannel channel) {
        try {
            Peering peering = Peering.request(channel);
            return peering == null ? Optional.empty() : Optional.ofNullable(peering.now());
        } catch (LinuxException e) {
            return Optional.empty();
        }
    }

    /**
     * Asks for the remote memory of a channel, and waits until it is there or known to be impossible.
     *
     * @param timeout how long to wait at most
     * @return the remote memory; otherwise empty, and {@link #whyNot} returns the reason
     * @throws InterruptedException if the thread is interrupted
     */
    public static Optional<RemoteMemory> of(SocketChannel channel, Duration timeout) throws InterruptedException {
        try {
            Peering peering = Peering.request(channel);
            return peering == null ? Optional.empty() : Optional.ofNullable(peering.await(timeout));
        } catch (LinuxException e) {
            return Optional.empty();
        }
    }

    /** Why a channel has no remote memory, or not yet, as a sentence; empty if it has. Does not ask for it. */
    public static String whyNot(SocketChannel channel) {
        Peering peering = Peering.of(channel);
        if (peering != null) {
            return peering.why();
        }
        String none = Peering.whyUnsupported(channel);
        String problem = Engine.startFailure();
        return !none.isEmpty() ? none : problem.isEmpty() ? Peering.NOT_REQUESTED : problem;
    }

    /** The channel that it belongs to. */
    public SocketChannel channel() {
        return channel;
    }

    /** Name of the device that carries the copies, for instance {@code "shm0"}. */
    public String device() {
        return link.data().context().device().name();
    }

    /** Whether copies are possible. */
    public boolean isOpen() {
        return link.failure() == null;
    }

    /** Why it has ended, as a sentence; empty if it has not. */
    public String endReason() {
        String why = link.failure();
        return why == null ? "" : why;
    }

    Control control() {
        return control;
    }

    PeerLink link() {
        return link;
    }

    // ---- regions

    /** Registers memory with tag 0, as {@link #register(MemorySegment, int, long)}. */
    public LocalRegion register(MemorySegment memory, int access) throws VerbsException {
        return register(memory, access, 0);
    }

    /**
     * Registers existing memory, {@code SMC_ERM_CMD_REG_MR}. With remote rights it is announced to the other end, which
     * has the region when this returns.
     *
     * @param memory native, of at least one byte, and not of a confined arena. Its arena cannot be closed until the
     *        region is closed: {@code Arena.close()} throws {@link IllegalStateException} as long as copies to or from
     *        it are possible
     * @param access {@link AccessFlags#LOCAL_WRITE}, {@link AccessFlags#REMOTE_READ}, {@link AccessFlags#REMOTE_WRITE},
     *        combined; {@code REMOTE_WRITE} requires {@code LOCAL_WRITE}, as do copies of this end into the region. 0
     *        is memory that only this end copies from
     * @param tag passed to the other end's program
     * @throws VerbsException {@code EINVAL} for heap memory, empty memory, a confined arena or one that is closed,
     *        unknown or contradictory rights, rights to write on a read-only segment; {@code ENOSPC} beyond the limits
     *        of either end; {@code ENOTCONN} if the remote memory has ended; {@code ETIMEDOUT} if the other end does
     *        not answer within {@code verbena.erm.patience}; errors of the provider
     */
    public LocalRegion register(MemorySegment memory, int access, long tag) throws VerbsException {
        String verb = "register " + memory.byteSize() + " bytes";
        if (memory.isNative() && !memory.isAccessibleBy(Probe.THREAD)) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "memory of a confined arena is one thread's alone: use Arena.ofShared() or ofAuto(), a direct buffer, or allocate()");
        }
        return add(verb, memory.byteSize(), access, tag, () -> RegionMemory.register(link.pd(), memory, access));
    }

    /** A thread that owns no arena. */
    private static final class Probe {
        static final Thread THREAD = Thread.ofPlatform().unstarted(() -> {});

        private Probe() {}
    }

    /**
     * Allocates memory and registers it: the kind of memory that the provider prefers. With shm the other end maps it
     * and copies straight into it.
     *
     * @param bytes at least 1; the memory is zeroed
     * @param access as {@link #register(MemorySegment, int, long)}
     * @param tag passed to the other end's program
     * @throws VerbsException as {@link #register(MemorySegment, int, long)}; {@code ENOMEM}, {@code EMFILE}
     */
    public LocalRegion allocate(long bytes, int access, long tag) throws VerbsException {
        return add("allocate " + bytes + " bytes", bytes, access, tag, () -> RegionMemory.allocate(link.pd(), bytes,
                access));
    }

    /** Rejects rights that remote memory does not support. */
    static void checkAccess(String verb, int access) throws VerbsException {
        if ((access & ~ACCESS) != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "access " + AccessFlags.toString(access)
                    + ": remote memory supports LOCAL_WRITE, REMOTE_READ and REMOTE_WRITE");
        }
    }

    /** Creates memory. */
    @FunctionalInterface
    private interface MemoryFactory {
        RegionMemory make() throws VerbsException;
    }

    private LocalRegion add(String verb, long bytes, int access, long tag, MemoryFactory making) throws VerbsException {
        checkAccess(verb, access);
        if (!isOpen()) {
            throw new VerbsException(verb, Errno.ENOTCONN, endReason());
        }
        long size = Math.max(0, bytes);
        regions.reserve(verb, size);
        RegionMemory memory;
        try {
            memory = making.make();
        } catch (VerbsException | RuntimeException | Error e) {
            regions.unreserve(size);
            throw e;
        }
        LocalRegion region = regions.add(this, memory, access, tag);
        if (region == null) {
            regions.unreserve(size);
            memory.close();
            throw new VerbsException(verb, Errno.ENOTCONN, endReason());
        }
        try {
            if ((access & Regions.REMOTE_ACCESS) != 0) {
                announce(verb, region);
            }
        } finally {
            region.announced();
        }
        return region;
    }

    private void announce(String verb, LocalRegion region) throws VerbsException {
        Integer answer = await(control.announce(region), Limits.REPLY_TIMEOUT_NANOS);
        if (answer != null && answer == 0) {
            return;
        }
        int errno = answer == null ? Errno.ETIMEDOUT : answer;
        VerbsException failure = new VerbsException(verb, errno, switch (errno) {
            case Errno.ETIMEDOUT -> "the other end does not answer: is it stopped? (-Dverbena.erm.patience)";
            case Errno.ENOTCONN -> endReason();
            default -> "the other end accepts no more regions";
        });
        try {
            region.close();
        } catch (VerbsException e) {
            failure.addSuppressed(e);
        }
        throw failure;
    }

    /** Waits uninterruptibly; null after the timeout. */
    @Nullable
    Integer await(Future<Integer> answer, long nanos) {
        return executor.awaitReply(answer, nanos);
    }

    /**
     * Gives a region of this end other rights and another tag, as {@link LocalRegion#update}.
     *
     * @param id of a region of this end
     * @throws VerbsException {@code ENOENT} if this end has no such region, or it was closed; as
     *        {@link LocalRegion#update}
     */
    public void update(int id, int access, long tag) throws VerbsException {
        LocalRegion region = regions.local(id);
        if (region == null) {
            throw new VerbsException("update region " + id, Errno.ENOENT, regions.remote(id) != null
                    ? "it is the other end's, which alone can update it"
                    : "this end has no such region, or it was closed");
        }
        region.update(access, tag);
    }

    /** Likewise; no other thread may change or close the region meanwhile. */
    void update(LocalRegion region, int access, long tag) throws VerbsException {
        new RegionUpdate(this, region).run(access, tag);
    }

    /** Deregisters a region; see {@link LocalRegion#close}. */
    void deregister(LocalRegion region) throws VerbsException {
        region.revoke();
        if (isOpen() && !control.awaitCopies(Limits.REPLY_TIMEOUT_NANOS)) {
            link.fail("copies of this end do not complete while a region is deregistered");
        }
        if ((region.access() & Regions.REMOTE_ACCESS) != 0 && isOpen()) {
            if (await(control.revoke(region.id()), Limits.REPLY_TIMEOUT_NANOS) == null) {
                link.fail("the other end does not answer while a region is deregistered: is it stopped?");
            }
            control.forget(region.id());
        }
        if (!isOpen()) {
            await(ended.thenApply(done -> 0), Limits.REPLY_TIMEOUT_NANOS);
        }
        region.releaseMemory();
        regions.remove(region);
        if (ended.isDone()) {
            executor.submit(() -> executor.executeBlocking(() -> release(FIRST_RETRY_MILLIS)));
        }
    }

    /** A region of this end by its id; null if there is none, or it was closed. */
    public @Nullable LocalRegion localRegion(int id) {
        return regions.local(id);
    }

    /** A region of the other end by its id; null if there is none, or it was deregistered. */
    public @Nullable RemoteRegion remoteRegion(int id) {
        return regions.remote(id);
    }

    /** The regions of this end. */
    public List<LocalRegion> localRegions() {
        return regions.locals();
    }

    /** The regions of the other end that this end may copy to or from. */
    public List<RemoteRegion> remoteRegions() {
        return regions.remotes();
    }

    // ---- copies

    /** The queue on which one thread copies and polls completions. */
    public CopyQueue copies() {
        return copies;
    }

    /** The queue from which one thread polls events of the other end. */
    public EventQueue events() {
        return events;
    }

    /**
     * Copies, and completes a future: for any number of threads, also virtual ones, which park on it. Such copies are
     * done in the order in which they were started, and in no order relative to those of {@link #copies()}. A copy
     * without credit, since the other end's program has too many unpolled events, waits until that program has polled
     * some; a copy whose region is being updated waits until that is done; copies behind either wait with it.
     *
     * @param from as {@link CopyQueue#copy(int, long, int, long, long, int, long, long)}
     * @param flags see {@link CopyFlags}; {@link CopyFlags#UNSIGNALED} has no meaning
     * @return completes when the bytes have arrived; fails with a {@link VerbsException} of the errno that
     *         {@link CopyQueue#copy(int, long, int, long, long, int, long, long)} returns, or {@code EIO} if this
     *         copy's failure ended the remote memory. Dependents run in the common pool, or in the caller
     */
    public CompletableFuture<Void> copyAsync(int from, long fromOffset, int to, long toOffset, long length, int flags,
            long userData) {
        return control.sends().copy(from, fromOffset, to, toOffset, length, flags, userData);
    }

    // ---- waiting

    /**
     * Arms the notification: {@link #readiness(int)} becomes ready, and {@link #await} returns, at the next completion
     * or event. To be called by the thread that polls, each time before it waits. Resets an earlier notification.
     *
     * @param what {@link #COMPLETIONS} or {@link #EVENTS}
     * @return whether there is one already: then poll instead of waiting
     */
    public boolean arm(int what) {
        return switch (what) {
            case COMPLETIONS -> copies.arm();
            case EVENTS -> events.arm();
            default -> throw new IllegalArgumentException("COMPLETIONS or EVENTS is to be armed, not " + what);
        };
    }

    /**
     * Waits until there is a completion or an event. For the thread that polls; a virtual thread parks.
     *
     * @param what {@link #COMPLETIONS} or {@link #EVENTS}
     * @param timeout how long to wait at most
     * @return whether there may be one; false after the timeout
     * @throws InterruptedException if the thread is interrupted
     */
    public boolean await(int what, Duration timeout) throws InterruptedException {
        return arm(what) || wakeup(what).await(Math.max(0, TimeUnit.NANOSECONDS.convert(timeout)));
    }

    private Wakeup wakeup(int what) {
        return what == COMPLETIONS ? link.copyWakeup() : link.eventWakeup();
    }

    /**
     * A channel that becomes readable when there is a completion or an event after it was {@linkplain #arm armed}: for
     * the selector that has the socket's channel, Verbena's or the JDK's. It is the source of a pipe and must never be
     * read; it stays ready when the remote memory has ended, and is closed with the socket's channel, not by the
     * program. Each call returns the same channel.
     *
     * @param what {@link #COMPLETIONS} or {@link #EVENTS}
     * @throws IOException if the process is out of descriptors
     */
    public SelectableChannel readiness(int what) throws IOException {
        if (what != COMPLETIONS && what != EVENTS) {
            throw new IllegalArgumentException("there is COMPLETIONS and EVENTS, not " + what);
        }
        return wakeup(what).pipe(channel);
    }

    // ---- the end

    /** Called when the link has failed. Any thread; does not block. */
    private void onLinkFailed(String reason) {
        onEnded.accept(reason);
        executor.executeBlocking(() -> end(reason));
    }

    private void end(String reason) {
        link.disconnect();
        link.flush();
        copies.end();
        events.end(executor);
        control.end(reason);
        regions.remotes().forEach(region -> regions.removeRemote(region.id()));
        List<LocalRegion> left = regions.close();
        left.forEach(LocalRegion::revoke);
        ended.complete(null);
        link.copyWakeup().close();
        link.eventWakeup().close();
        // the engine's thread may still be polling a queue, and does not any more after this
        executor.submit(() -> executor.executeBlocking(() -> release(FIRST_RETRY_MILLIS)));
    }

    /** Lets all regions be released: the program has closed this, or the channel. Any thread; does not block. */
    void allowRelease() {
        releasable = true;
        if (ended.isDone()) {
            executor.submit(() -> executor.executeBlocking(() -> release(FIRST_RETRY_MILLIS)));
        }
    }

    /** As {@link #allowRelease}, and no thread of this end waits any more. Any thread; does not block. */
    void channelClosed() {
        allowRelease();
        link.copyWakeup().closePipe();
        link.eventWakeup().closePipe();
    }

    /**
     * Releases what can be released: as long as the program has not closed its regions, or the channel, copied bytes
     * stay readable. A release that a stopped process holds up is retried until that process has resumed or ended.
     */
    private void release(long pauseMillis) {
        VerbsException refused = null;
        synchronized (releasing) {
            if (releasable) {
                for (LocalRegion region : regions.locals()) {
                    try {
                        region.releaseMemory();
                        regions.remove(region);
                    } catch (VerbsException e) {
                        refused = e;
                    }
                }
            }
            VerbsException left = link.closeAll();
            if (regions.localCount() == 0) {
                refused = left;
            }
            if (refused == null && left == null) {
                if (published != null) {
                    published.close();
                }
                closed.complete(null);
            }
        }
        if (refused != null) {
            Engine.debug("not given back yet: " + refused.getMessage());
            CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS, executor::executeBlocking)
                    .execute(() -> release(Math.min(2 * pauseMillis, MAX_RETRY_MILLIS)));
        }
    }

    /**
     * Ends the remote memory of the connection, for both ends: all regions are deregistered, outstanding copies fail,
     * events that have arrived can still be polled. The channel stays open, but does not get remote memory again. Waits
     * until all resources have been released, but for a stopped process no longer than {@code verbena.erm.patience}.
     * Closing twice does nothing.
     */
    @Override
    public void close() {
        link.fail("closed by this end");
        allowRelease();
        await(closed.thenApply(done -> 0), Limits.REPLY_TIMEOUT_NANOS);
    }

    /** Counters of this connection. Thread-safe. */
    public RemoteMemoryStatistics statistics() {
        long[] async = control.sends().totals();
        return new RemoteMemoryStatistics(regions.localCount(), regions.localBytes(), regions.remoteCount(), regions
                .remoteBytes(), copies.copies() + async[0], copies.bytesWritten() + async[1], copies.bytesRead()
                        + async[2], copies.failed() + async[3], copies.remoteCompletions(), events.polled(), copies
                                .stalls(),
                events.late());
    }

    /** The device, and the reason if it has ended. */
    @Override
    public String toString() {
        String why = endReason();
        return "remote memory by " + device() + (why.isEmpty() ? "" : " (" + why + ")");
    }
}
