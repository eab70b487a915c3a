// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.verbena.linux.LinuxException;
import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Session;
import org.verbena.shm.control.SessionPart;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.verbs.VerbsException;

/**
 * The datagram rings of a session, both ways, see {@link DatagramLayout}. A ring is made by its writer, which announces
 * it to the reader; the reader answers with the address of its position. The memory is free again when neither end uses
 * the ring. Safe for use by several threads.
 */
public final class DatagramRings implements SessionPart {
    /** Limit of rings that a peer announces. */
    private static final int MAX_READERS = 65536;
    /** The reader's words are allocated from pages of the arena, a cache line each. */
    private static final int COUNTERS = 4096 / 64;

    private final DatagramReceivers receivers;
    private final Session session;
    private final AtomicLong keys = new AtomicLong();
    private final Map<Long, DatagramWriter> writers = new ConcurrentHashMap<>();
    private final Map<Long, DatagramReader> readers = new ConcurrentHashMap<>();
    /** Whether there has been a reader, which may find datagrams that were sent before the session ended. */
    private volatile boolean read;
    /** Free words for readers, addresses; guarded by itself. */
    private final java.util.ArrayDeque<Long> counters = new java.util.ArrayDeque<>();

    public DatagramRings(DatagramReceivers receivers, Session session) {
        this.receivers = receivers;
        this.session = session;
    }

    // ---- writing

    /**
     * Makes a ring to a queue pair of the peer, for the connection of that link, and announces it to the peer.
     *
     * @param records bytes of all records
     * @param hazard address of the word that is not 0 while a thread writes
     */
    DatagramWriter make(int number, long link, long records, long hazard) throws VerbsException {
        String verb = "make a datagram ring to " + session.peerName();
        long bytes = DatagramLayout.RECORDS + records;
        long at = session.mapping().heap().take(verb, bytes);
        DatagramWriter w;
        try {
            w = new DatagramWriter(session, keys.incrementAndGet(), at, bytes, hazard);
        } catch (LinuxException e) {
            session.mapping().heap().give(at, bytes);
            throw new VerbsException(verb, e);
        } catch (IllegalStateException e) {
            session.mapping().heap().give(at, bytes);
            throw new VerbsException(verb, org.verbena.linux.Errno.ECONNRESET, session.peerName() + " has ended");
        }
        writers.put(w.key, w);
        session.send(new ControlMessage.Writer(ControlMessage.DATAGRAM_RING).putLong(w.key).putInt(number).putLong(link)
                .putLong(session.mapping().heap().offset(at)).putLong(bytes), null);
        return w;
    }

    /** The writer does not use the ring any more. */
    void end(DatagramWriter w) {
        session.send(new ControlMessage.Writer(ControlMessage.DATAGRAM_END).putLong(w.key), null);
        done(w, true);
    }

    /**
     * Frees the memory of rings whose readers have left, before the queue pairs that write them notice it, which they do
     * at the next send, inside their hazard; one that is inside now keeps its rings.
     */
    void sweep() {
        List<DatagramWriter> gone = writers.values().stream().filter(w -> w.readerDone).toList();
        if (!gone.isEmpty()) {
            Membarrier.ownProcess();
            for (DatagramWriter w : gone) {
                if (RawMemory.getLongAcquire(w.hazard) == 0) {
                    done(w, true);
                }
            }
        }
    }

    private void done(DatagramWriter w, boolean writer) {
        synchronized (w) {
            w.writerDone |= writer;
            w.readerDone |= !writer;
            if (!w.writerDone || !w.readerDone) {
                return;
            }
        }
        if (writers.remove(w.key, w)) {
            session.mapping().heap().give(w.at, w.bytes);
        }
    }

    // ---- reading

    /** A reader has left its ring. */
    void leave(DatagramReader r) {
        if (readers.remove(r.key, r)) {
            synchronized (counters) {
                counters.push(r.counter);
            }
            sendDone(r.key);
        }
    }

    private void sendDone(long key) {
        session.send(new ControlMessage.Writer(ControlMessage.DATAGRAM_DONE).putLong(key), null);
    }

    private long takeCounter() throws VerbsException {
        synchronized (counters) {
            Long free = counters.poll();
            if (free == null) {
                String verb = "count datagrams of " + session.peerName();
                long page = session.mapping().heap().take(verb, 4096);
                try {
                    session.mapping().heap().reserve(page, 4096);
                } catch (LinuxException e) {
                    session.mapping().heap().give(page, 4096);
                    throw new VerbsException(verb, e);
                }
                for (int i = 1; i < COUNTERS; i++) {
                    counters.push(page + 64L * i);
                }
                free = page;
            }
            RawMemory.putLong(free + DatagramLayout.COUNTER_TAKEN, 0);
            RawMemory.putLongRelease(free, 0);
            return free;
        }
    }

    /** Handles a message; false if it is another kind. Engine's thread only. */
    @Override
    public boolean receive(ControlMessage.Reader m) throws ProtocolException {
        switch (m.type()) {
            case ControlMessage.DATAGRAM_RING -> {
                long key = m.getLong();
                int number = m.getInt();
                long link = m.getLong();
                long offset = m.getLong();
                long bytes = m.getLong();
                m.end();
                long size = bytes - DatagramLayout.RECORDS;
                if (size < DatagramLayout.MIN_BYTES || size > DatagramLayout.MAX_BYTES || Long.bitCount(size) != 1
                        || offset < LaneLayout.HEAP || (offset & 4095) != 0 || offset > LaneLayout.SIZE - bytes
                        || readers.size() >= MAX_READERS || readers.containsKey(key)) {
                    throw new ProtocolException("a datagram ring lies outside the arena or has a wrong size");
                }
                opened(key, number, link, offset, bytes);
            }
            case ControlMessage.DATAGRAM_END -> {
                DatagramReader r = readers.get(m.getLong());
                m.end();
                if (r != null) {
                    r.end();
                }
            }
            case ControlMessage.DATAGRAM_COUNT -> {
                DatagramWriter w = writers.get(m.getLong());
                long offset = m.getLong();
                m.end();
                if (offset < LaneLayout.HEAP || (offset & 7) != 0 || offset > LaneLayout.SIZE
                        - DatagramLayout.COUNTER_BYTES) {
                    throw new ProtocolException("a count of datagrams lies outside the arena");
                }
                if (w != null) {
                    w.setReaderPosition(session.mapping().arenaBase() + offset);
                }
            }
            case ControlMessage.DATAGRAM_DONE -> {
                DatagramWriter w = writers.get(m.getLong());
                m.end();
                if (w != null) {
                    done(w, false);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void opened(long key, int number, long link, long offset, long bytes) {
        DatagramReceiver receiver = receivers.receiver(number);
        if (receiver == null) {
            sendDone(key);
            return;
        }
        DatagramReader r;
        try {
            r = new DatagramReader(session, key, session.mapping().arenaBase() + offset, bytes, takeCounter());
        } catch (VerbsException e) {
            EngineLog.logSometimes(System.Logger.Level.WARNING, "datagrams of " + session.peerName() + " are lost", e);
            sendDone(key);
            return;
        }
        read = true;
        readers.put(key, r);
        session.send(new ControlMessage.Writer(ControlMessage.DATAGRAM_COUNT).putLong(key)
                .putLong(session.mapping().heap().offset(r.counter)), null);
        if (!receiver.add(r, link)) {
            leave(r);
        }
    }

    /** Whether a reader may still read datagrams of the peer. */
    @Override
    public boolean readsPeer() {
        return read;
    }

    @Override
    public void end() {
        writers.clear();
        readers.clear();
    }
}
