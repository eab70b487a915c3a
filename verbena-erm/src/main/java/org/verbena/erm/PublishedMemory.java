// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketState;
import org.verbena.sockets.telemetry.SocketAddresses;
import org.verbena.sockets.telemetry.SocketLayout;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;
import org.verbena.verbs.spi.PublishedObjects;

/**
 * The statistics of the remote memory of a connection that this process publishes in its {@link CounterFile}. They are
 * updated on demand, by the reading thread or the file's own: publishing costs a copy nothing. Thread-safe.
 */
final class PublishedMemory {
    private static final int POINTS = RemoteMemorySamplePoint.REMOTE_MEMORY_LATE_EVENTS
            - RemoteMemorySamplePoint.REMOTE_MEMORY_COPIES + 1;

    /** All instances to update. */
    private static final class Registered {
        static final Set<PublishedMemory> ALL = ConcurrentHashMap.newKeySet();

        static {
            CounterFile.own().onGather(() -> ALL.forEach(PublishedMemory::update));
        }

        private Registered() {}
    }

    private final RemoteMemory memory;
    private final CounterEntry entry;
    private boolean closed;

    private PublishedMemory(RemoteMemory memory, CounterEntry entry) {
        this.memory = memory;
        this.entry = entry;
    }

    /**
     * Publishes the remote memory of a connection from now on.
     *
     * @param number under which the statistics of the connection are published
     * @param role {@link SocketLayout#CLIENT} or {@link SocketLayout#SERVER}
     * @return to be {@linkplain #close closed}; null with {@code -Dverbena.counters=off}: then nothing is published
     */
    static @Nullable PublishedMemory publish(RemoteMemory memory, long number, int role) {
        if (!PublishedObjects.COUNTING) {
            return null;
        }
        CounterEntry entry = CounterFile.own().take(RemoteMemorySamplePoint.OBJECT_TYPE, (int) number, memory.device(),
                0,
                CounterLayout.SMALL_CELLS, (1L << POINTS) - 1);
        SocketChannel channel = memory.channel();
        try {
            SocketAddresses.put(entry, internet(channel.getLocalAddress()), internet(channel.getRemoteAddress()),
                    role << SocketLayout.ROLE);
        } catch (IOException closed) {
            Engine.debug("remote memory is shown without addresses: " + closed.getMessage());
        }
        PublishedMemory shown = new PublishedMemory(memory, entry);
        shown.update();
        Registered.ALL.add(shown);
        return shown;
    }

    private static @Nullable InetSocketAddress internet(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress a ? a : null;
    }

    private synchronized void update() {
        if (closed) {
            return; // the entry may belong to another object by now
        }
        RemoteMemoryStatistics s = memory.statistics();
        entry.setState(memory.isOpen() ? SocketState.OPEN : SocketState.CLOSING);
        entry.setAttribute(SocketLayout.REGIONS, (long) s.localRegions() << 32 | s.remoteRegions());
        entry.setAttribute(SocketLayout.LOCAL_BYTES, s.localBytes());
        entry.setAttribute(SocketLayout.REMOTE_BYTES, s.remoteBytes());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_COPIES, s.copies());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_WRITE_BYTES, s.bytesWritten());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_READ_BYTES, s.bytesRead());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_FAILED, s.failed());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_REMOTE_COMPLETIONS, s.remoteCompletions());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_EVENTS, s.events());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_STALLS, s.stalls());
        set(RemoteMemorySamplePoint.REMOTE_MEMORY_LATE_EVENTS, s.lateEvents());
    }

    private void set(int point, long value) {
        entry.raise(PublishedObjects.cell(point), value);
    }

    /** Withdraws the entry: the remote memory has ended. */
    void close() {
        Registered.ALL.remove(this);
        synchronized (this) {
            if (!closed) {
                closed = true;
                entry.close();
            }
        }
    }
}
