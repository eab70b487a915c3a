// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.Supplier;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * What providers tell the Java Flight Recorder: connections, errors, waits, sleeps, sockets; and, by itself, the counters. See
 * {@code docs/jfr.md}.
 *
 * <p>To be called where something seldom happens. While nobody records, or where the Java runtime has no recorder, a call
 * does nothing and allocates nothing. Safe for use by several threads.
 */
public final class FlightEvents {
    /** On the class path of a runtime image without the module jdk.jfr, its classes are not there. */
    private static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightEvents() {}

    /** True from the first recording on. */
    private static boolean isOn() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }

    /** Has the counters of this process recorded from time to time, as soon as somebody records. */
    static void recordCounters() {
        if (AVAILABLE) {
            PeriodicEvent.offer(CounterEvent.class, () -> CounterEvent.commitAll());
        }
    }

    /**
     * A queue pair has a peer now.
     *
     * @param peer number of the peer's queue pair
     * @param process the peer's process; 0 if that is not known
     */
    public static void connected(String device, int queuePair, int peer, long process) {
        if (isOn()) {
            ConnectionEvent.commit(device, queuePair, peer, process, "connected");
        }
    }

    /** A queue pair has no peer any more; parameters as of {@link #connected}. */
    public static void disconnected(String device, int queuePair, int peer, long process) {
        if (isOn()) {
            ConnectionEvent.commit(device, queuePair, peer, process, "disconnected");
        }
    }

    /**
     * A request or a receive completed with an error; not one that was flushed.
     *
     * @param opcode of the completion, see {@link org.verbena.verbs.WcOpcode}
     * @param status see {@link org.verbena.verbs.WcStatus}
     */
    public static void failed(String device, int queuePair, int opcode, long wrId, int status) {
        if (isOn()) {
            ErrorEvent.commit(device, queuePair, opcode, wrId, status);
        }
    }

    /** A queue pair went to state ERR, for this reason. */
    public static void broken(String device, int queuePair, String reason) {
        if (isOn()) {
            ErrorEvent.commit(device, queuePair, reason);
        }
    }

    /**
     * A request has to wait, and is tried again.
     *
     * @param reason what it waits for
     */
    public static void retries(String device, int queuePair, String reason) {
        if (isOn()) {
            RetryEvent.commit(device, queuePair, reason);
        }
    }

    /** What a connection has come to: bytes by what carried them, and how often. */
    public record Carried(long sentByRing, long sentByTcp, long receivedByRing, long receivedByTcp, long doorbells,
            long wakeUps, long stalls) {}

    /**
     * A ring carries one direction of a connection from here on.
     *
     * @param tcp the connection; of one that is closed nobody knows the addresses
     * @param direction {@code in} or {@code out}
     * @param bytesByTcp that TCP has carried in this direction
     */
    public static void socketByRing(SocketChannel tcp, String direction, long bytesByTcp) {
        if (isOn()) {
            SocketByRingEvent.commit(local(tcp), remote(tcp), direction, bytesByTcp);
        }
    }

    /** TCP carries a connection to its end, for this reason. */
    public static void socketByTcp(SocketChannel tcp, String reason) {
        if (isOn()) {
            SocketByTcpEvent.commit(local(tcp), remote(tcp), reason);
        }
    }

    /**
     * A program has closed a connection.
     *
     * @param lifetimeMillis since it was connected
     * @param carried what it has come to, asked for if somebody records
     */
    public static void socketClosed(SocketChannel tcp, long lifetimeMillis, Supplier<Carried> carried) {
        if (isOn()) {
            SocketClosedEvent.commit(local(tcp), remote(tcp), lifetimeMillis, carried.get());
        }
    }

    /**
     * How much waits in the rings of a connection, as far as this end knows.
     *
     * @param outRing size of the ring that goes out, in bytes; 0 if there is none
     * @param outOccupied bytes in it that the peer has not read
     * @param inRing size of the ring that comes in
     * @param inOccupied bytes in it that the program has not read
     */
    public record Rings(SocketChannel tcp, int outRing, long outOccupied, int inRing, long inOccupied) {}

    /**
     * Has what waits in rings recorded from time to time, as soon as somebody records.
     *
     * @param waiting connections that have bytes in a ring; asked by a thread of the recorder's
     */
    public static void recordRings(Supplier<List<Rings>> waiting) {
        if (AVAILABLE) {
            PeriodicEvent.offer(SocketRingsEvent.class, () -> SocketRingsEvent.commitAll(waiting.get()));
        }
    }

    static String local(SocketChannel tcp) {
        try {
            return String.valueOf(tcp.getLocalAddress());
        } catch (IOException closed) {
            return "";
        }
    }

    static String remote(SocketChannel tcp) {
        try {
            return String.valueOf(tcp.getRemoteAddress());
        } catch (IOException closed) {
            return "";
        }
    }

    /** A thread that waits for something is about to sleep. */
    public interface Sleep {
        /**
         * It was woken.
         *
         * @param by what it slept on, for instance {@code "completion channel 1 of shm0"}
         */
        void wokenBy(String by);
    }

    /**
     * A thread is about to sleep until something happens on a device.
     *
     * @return to be told of the end; null if nobody wants to know
     */
    public static @Nullable Sleep sleeps(String device) {
        return isOn() ? WakeUpEvent.begin(device) : null;
    }
}
