// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.Supplier;

import org.verbena.telemetry.FlightRecording;

/**
 * The events of sockets in the Java Flight Recorder. See {@code docs/jfr.md}.
 *
 * <p>To be called for rare events. Without a recording, or where the Java runtime has no recorder, a call
 * does nothing and allocates nothing. Safe for use by several threads.
 */
public final class StreamEvents {
    private StreamEvents() {}

    /** What a connection has come to: bytes by what carried them, and how often. */
    public record Carried(long sentByRing, long sentByTcp, long receivedByRing, long receivedByTcp, long doorbells,
            long wakeUps, long stalls) {}

    /**
     * A ring carries one direction of a connection from here on.
     *
     * @param tcp the connection; the addresses of a closed one are unknown
     * @param direction {@code in} or {@code out}
     * @param bytesByTcp that TCP has carried in this direction
     */
    public static void byRing(SocketChannel tcp, String direction, long bytesByTcp) {
        if (FlightRecording.isOn()) {
            SocketByRingEvent.commit(local(tcp), remote(tcp), direction, bytesByTcp);
        }
    }

    /** TCP carries a connection to its end, for this reason. */
    public static void byTcp(SocketChannel tcp, String reason) {
        if (FlightRecording.isOn()) {
            SocketByTcpEvent.commit(local(tcp), remote(tcp), reason);
        }
    }

    /**
     * A program has closed a connection.
     *
     * @param lifetimeMillis since it was connected
     * @param carried its totals, requested during a recording
     */
    public static void closed(SocketChannel tcp, long lifetimeMillis, Supplier<Carried> carried) {
        if (FlightRecording.isOn()) {
            SocketClosedEvent.commit(local(tcp), remote(tcp), lifetimeMillis, carried.get());
        }
    }

    /**
     * How much waits in the rings of a connection, as far as the peer has reported.
     *
     * @param outRing size of the ring that goes out, in bytes; 0 if there is none
     * @param outOccupied bytes in it that the peer has not read
     * @param inRing size of the ring that comes in
     * @param inOccupied bytes in it that the program has not read
     */
    public record Rings(SocketChannel tcp, int outRing, long outOccupied, int inRing, long inOccupied) {}

    /**
     * Has the bytes that wait in rings recorded periodically while a recording runs.
     *
     * @param waiting connections that have bytes in a ring; asked by a thread of the recorder's
     */
    public static void recordRings(Supplier<List<Rings>> waiting) {
        if (FlightRecording.isAvailable()) {
            FlightRecording.periodically(SocketRingsEvent.class, () -> SocketRingsEvent.commitAll(waiting.get()));
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
}
