// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SocketState;
import org.verbena.verbs.spi.CounterEntry;
import org.verbena.verbs.spi.CounterFile;
import org.verbena.verbs.spi.CounterLayout;
import org.verbena.verbs.spi.ShownObjects;
import org.verbena.verbs.spi.SocketAddresses;
import org.verbena.verbs.spi.SocketLayout;

/**
 * What this process shows of the remote memory of a connection in its {@link CounterFile}. It is brought up to date when
 * somebody looks, by the thread that looks or the file's own: copying costs nothing for being shown. Thread-safe.
 */
final class PublishedMemory {
    private static final int POINTS = SamplePoint.REMOTE_MEMORY_LATE_EVENTS - SamplePoint.REMOTE_MEMORY_COPIES + 1;

    /** Those that are to be brought up to date. */
    private static final class Registered {
        static final Set<PublishedMemory> ALL = ConcurrentHashMap.newKeySet();

        static {
            CounterFile.own().onLook(() -> ALL.forEach(PublishedMemory::update));
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
     * Shows the remote memory of a connection from now on.
     *
     * @param number by which the connection is shown
     * @param role {@link SocketLayout#CLIENT} or {@link SocketLayout#SERVER}
     * @return ends it; null if {@code -Dverbena.counters=off} is given: then nothing is shown
     */
    static @Nullable PublishedMemory publish(RemoteMemory memory, long number, int role) {
        if (!ShownObjects.COUNTING) {
            return null;
        }
        CounterEntry entry = CounterFile.own().take(ObjectType.REMOTE_MEMORY, (int) number, memory.device(), 0,
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
            return; // the entry may be another object's
        }
        RemoteMemoryStatistics s = memory.statistics();
        entry.setState(memory.isOpen() ? SocketState.OPEN : SocketState.CLOSING);
        entry.setAttribute(SocketLayout.REGIONS, (long) s.localRegions() << 32 | s.remoteRegions());
        entry.setAttribute(SocketLayout.LOCAL_BYTES, s.localBytes());
        entry.setAttribute(SocketLayout.REMOTE_BYTES, s.remoteBytes());
        set(SamplePoint.REMOTE_MEMORY_COPIES, s.copies());
        set(SamplePoint.REMOTE_MEMORY_WRITE_BYTES, s.bytesWritten());
        set(SamplePoint.REMOTE_MEMORY_READ_BYTES, s.bytesRead());
        set(SamplePoint.REMOTE_MEMORY_FAILED, s.failed());
        set(SamplePoint.REMOTE_MEMORY_NOTICES, s.notices());
        set(SamplePoint.REMOTE_MEMORY_EVENTS, s.events());
        set(SamplePoint.REMOTE_MEMORY_STALLS, s.stalls());
        set(SamplePoint.REMOTE_MEMORY_LATE_EVENTS, s.lateEvents());
    }

    private void set(int point, long value) {
        entry.raise(ShownObjects.cell(point), value);
    }

    /** There is no such remote memory any more. */
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
