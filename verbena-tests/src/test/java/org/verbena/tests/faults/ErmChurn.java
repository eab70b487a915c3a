// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.erm.CopyFlags;
import org.verbena.erm.EventType;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.linux.Errno;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/**
 * Connections that are opened and closed, each with all operations of remote memory: an end connects repeatedly, until
 * it is killed in the middle; the other one answers, and has to finish each.
 */
final class ErmChurn {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int BYTES = 1 << 16;
    private static final int READ = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ;
    private static final int ALL = READ | AccessFlags.REMOTE_WRITE;

    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger under = new AtomicInteger();
    private final AtomicInteger updates = new AtomicInteger();
    /** At the end that accepts. */
    private final List<String> unexpected = new ArrayList<>();

    // ---- the end that connects

    /** Ends only by an exception other than {@link IOException}. */
    void connect(String host, int port) throws InterruptedException {
        while (true) {
            try (SocketChannel channel = VerbenaSocketChannel.open()) {
                channel.connect(new InetSocketAddress(host, port));
                Optional<RemoteMemory> found = RemoteMemory.of(channel, LONG);
                if (found.isPresent()) {
                    use(found.get());
                }
            } catch (IOException e) {
                Peer.say("FAILED " + e); // nothing kills the other end
            }
        }
    }

    private static void use(RemoteMemory memory) throws IOException, InterruptedException {
        int theirs = event(memory, EventType.REGION_ADDED);
        for (int i = 0; i < 3; i++) {
            LocalRegion mine = i == 1
                    ? memory.register(Arena.ofAuto().allocate(BYTES), ALL)
                    : memory.allocate(BYTES, ALL, i);
            copy(memory, mine.id(), theirs, CopyFlags.REMOTE_COMPLETION);
            copy(memory, theirs, mine.id(), CopyFlags.FENCE);
            CompletableFuture<Void> async = memory.copyAsync(mine.id(), 0, theirs, 0, BYTES,
                    CopyFlags.REMOTE_COMPLETION, i);
            mine.update(READ, 5);
            while (memory.copies().poll() || memory.copies().outstanding() > 0) {
                Thread.onSpinWait();
            }
            finish(async);
            mine.close();
        }
        if ((System.nanoTime() & 1) == 0) {
            memory.close(); // else it goes with the channel
        }
    }

    private static int event(RemoteMemory memory, int type) throws IOException, InterruptedException {
        while (true) {
            while (!memory.events().poll()) {
                if (!memory.await(RemoteMemory.EVENTS, LONG)) {
                    throw new IOException("no event " + EventType.toString(type));
                }
            }
            if (memory.events().type() == type) {
                return memory.events().region();
            }
            if (memory.events().type() == EventType.CLOSED) {
                throw new IOException(memory.endReason());
            }
        }
    }

    private static void copy(RemoteMemory memory, int from, int to, int flags) throws IOException {
        int error;
        while ((error = memory.copies().copy(from, 0, to, 0, BYTES, flags, 0)) == Errno.EAGAIN
                || error == Errno.ENOBUFS) {
            while (memory.copies().poll()) {
                // there is room again
            }
        }
        if (error != 0) {
            throw new IOException("copy: " + Errno.name(error) + " " + memory.endReason());
        }
    }

    private static void finish(CompletableFuture<Void> copy) throws IOException, InterruptedException {
        try {
            copy.get(LONG.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException(e);
        }
    }

    // ---- the end that accepts

    /** Accepts connections until the listener is closed, each on its own thread. */
    void accept(ServerSocketChannel server) {
        while (true) {
            SocketChannel channel;
            try {
                channel = server.accept();
            } catch (IOException closed) {
                return;
            }
            begun.incrementAndGet();
            under.incrementAndGet();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    answer(channel);
                } catch (Exception | Error e) {
                    note(e.toString());
                } finally {
                    under.decrementAndGet();
                }
            });
        }
    }

    private void answer(SocketChannel channel) throws IOException, InterruptedException {
        try (channel) {
            Optional<RemoteMemory> found = RemoteMemory.of(channel, LONG);
            if (found.isEmpty()) {
                if (RemoteMemory.whyNot(channel).isEmpty()) {
                    note("no remote memory, and no reason");
                }
                return;
            }
            try {
                answer(found.get());
            } catch (VerbsException e) {
                if (found.get().isOpen()) {
                    throw e;
                }
            }
        }
    }

    /** Copies to each region of the other end, and changes its own rights, until the end. */
    private void answer(RemoteMemory memory) throws IOException, InterruptedException {
        LocalRegion mine = memory.allocate(BYTES, ALL, 0);
        LocalRegion another = memory.register(Arena.ofAuto().allocate(BYTES), ALL, 1);
        while (true) {
            while (memory.events().poll()) {
                switch (memory.events().type()) {
                    case EventType.REGION_ADDED, EventType.REGION_UPDATED -> {
                        int theirs = memory.events().region();
                        memory.copies().copy(mine.id(), 0, theirs, 0, BYTES, CopyFlags.REMOTE_COMPLETION, 0);
                        var _ = memory.copyAsync(theirs, 0, mine.id(), 0, BYTES, 0, 0);
                        boolean updated = memory.events().type() == EventType.REGION_UPDATED;
                        updates.addAndGet(updated ? 1 : 0);
                        another.update(updated ? ALL : READ, 2);
                    }
                    case EventType.CLOSED -> {
                        if (memory.endReason().isEmpty() || memory.endReason().contains("protocol")) {
                            throw new IllegalStateException("ended: " + memory.endReason());
                        }
                        mine.close();
                        return; // the other region goes with the channel
                    }
                    default -> {}
                }
            }
            while (memory.copies().poll()) {
                // done, or flushed
            }
            memory.await(RemoteMemory.EVENTS, LONG);
        }
    }

    /** How often the other end has reached this step. */
    int updates() {
        return updates.get();
    }

    private void note(String what) {
        synchronized (unexpected) {
            unexpected.add(what);
        }
    }

    /** Waits until each accepted connection has ended; returns how many, or the failure. */
    String ended() throws InterruptedException {
        long end = System.nanoTime() + LONG.toNanos();
        while (under.get() > 0) {
            if (System.nanoTime() - end > 0) {
                return "ENDED " + under.get() + " connections have not";
            }
            Thread.sleep(5);
        }
        synchronized (unexpected) {
            String all = unexpected.isEmpty() ? "ok, " + begun.getAndSet(0) : String.join("; ", unexpected);
            unexpected.clear();
            return "ENDED " + all;
        }
    }
}
