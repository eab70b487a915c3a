// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.TcpOptions;
import org.verbena.stack.ip.Path;
import org.verbena.stack.model.TcpInfo;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/**
 * A connection (RFC 9293). What it is told and asked runs at once, on the caller's thread; none of it waits. Errors are numbers of errno.
 */
public final class Connection implements Flow {
    final TcpPorts ports;
    final TcpSettings settings;
    /** Of the timer wheel. */
    final int number;
    final Path path;
    final int remotePort;
    final int port;
    final Receiver receiver;
    final Sender sender;
    final Recovery recovery;
    final Timers timers;
    /** Who it will be given to, until it is. */
    @Nullable Listener listener;
    /** May be accepted. */
    boolean queued;
    /** SYN, or its answer, was sent more than once. */
    boolean synAgain;
    TcpState state = TcpState.CLOSED;
    boolean timestamps;
    boolean sack;
    /** Windows are scaled; before the peer has answered, whether that is offered, as with the others. */
    boolean scaled;
    /** Both ends mark packets (RFC 3168). */
    boolean ecn;
    /** Congestion was seen, which the peer is to be told until it says that it knows. */
    boolean ecnEcho;
    /** The peer is to be told that the window was reduced. */
    boolean ecnReduced;
    /** An open from this end, which an answer to SYN ends. */
    boolean active;
    int timestampOffset;
    /** TS.Recent, and when it was heard (RFC 7323, 5). */
    int recent;
    long recentAt;
    /** Last.ACK.sent: what was acknowledged last. */
    int acknowledged;
    /** An acknowledgment is due at once, or with data. */
    boolean ackNow;
    /** Segments that are still acknowledged at once. */
    int quickAcks;
    /** Is among those that the ports look at before the turn ends. */
    boolean pending;
    /** Nobody has the connection any more. */
    boolean released;
    /** The reader is gone: what comes is answered with a reset. */
    boolean deaf;
    /** More is about to be written: segments that are not full wait. */
    boolean corked;
    boolean noDelay;
    /** The peer's maximum segment size, and the path's. */
    int peerSegment;
    int pathSegment;
    /** About the longest segments of late, to acknowledge every second one. */
    int heardSegment;
    int challenges;
    long challengedAt;
    long heardAt;
    private int error;
    /** What an ICMP error has said, which matters only if nothing else comes (RFC 5461). */
    private int softError;
    private Runnable change = Connection::nobody;

    Connection(TcpPorts ports, TcpSettings settings, int number, Path path, int remotePort, int port) {
        this.ports = ports;
        this.settings = settings;
        this.number = number;
        this.path = path;
        this.remotePort = remotePort;
        this.port = port;
        receiver = new Receiver(ports.blocks, settings.receiveBuffer());
        sender = new Sender(ports.blocks, settings.sendBuffer());
        recovery = new Recovery(this, settings.cubic() ? new Cubic() : new NewReno());
        timers = new Timers(this);
        noDelay = settings.noDelay();
        timestamps = settings.timestamps();
        sack = settings.sack();
        scaled = settings.windowScale();
        quickAcks = settings.quickAcks();
    }

    private static void nobody() {}

    /** Has {@code r} called whenever something may have changed for who reads, writes or waits. */
    public void onChange(Runnable r) {
        change = r;
    }

    void changed() {
        change.run();
    }

    /** The port of this end. */
    public int port() {
        return port;
    }

    /** The addresses of both ends. */
    public Path path() {
        return path;
    }

    @Override
    public boolean is(Path p, int from, int to) {
        return remotePort == from && port == to && path.isSame(p);
    }

    /** The port of the peer. */
    public int remotePort() {
        return remotePort;
    }

    /** Where the connection is. */
    public TcpState state() {
        return state;
    }

    /** What ended the connection, until {@link #clearError}; 0 if nothing did. */
    public int error() {
        return error;
    }

    /** Forgets the error, as SO_ERROR does. */
    public void clearError() {
        error = 0;
    }

    /** Whether the peer has said that it has sent all, and all was read. */
    public boolean isFinished() {
        return receiver.finished && receiver.readable() == 0;
    }

    int softError() {
        return softError;
    }

    void softError(int errno) {
        softError = errno;
    }

    /** Bytes that {@link #read} would answer. */
    public int readable() {
        return receiver.readable();
    }

    /** Whether the peer has sent all, or the connection is gone, and nothing is left to read. */
    public boolean isAtEnd() {
        return receiver.readable() == 0 && (receiver.finished || state == TcpState.CLOSED || deaf);
    }

    /** Bytes that {@link #write} would take. */
    public int writable() {
        return mayWrite() ? sender.room() : 0;
    }

    private boolean mayWrite() {
        return !sender.finished && (state == TcpState.ESTABLISHED || state == TcpState.CLOSE_WAIT);
    }

    /** Takes bytes that have come; 0 if there are none, -1 at the end. */
    public int read(ByteBuffer into, long now) throws IOException {
        int n = receiver.read(into, false);
        if (n > 0) {
            consumed(now);
            return n;
        }
        return isAtEnd() && into.hasRemaining() ? -1 : 0;
    }

    /** Copies bytes that have come without taking them. */
    public int peek(ByteBuffer into) {
        int n = receiver.read(into, true);
        return n > 0 ? n : isAtEnd() && into.hasRemaining() ? -1 : 0;
    }

    private void consumed(long now) throws IOException {
        if (state.receives() && receiver.wantsUpdate(sender.segment)) {
            ackNow = true;
            ports.output.flush(this, now);
        }
        timers.restIfEmpty(now);
    }

    /**
     * Gives bytes to be sent: as many as fit.
     *
     * @return how many, or {@code -EPIPE} after {@link #finish} or the end of the connection, {@code -ENOTCONN} before it stands, {@code -ENOMEM} if there is
     *     no memory for more
     */
    public int write(ByteBuffer bytes, long now) throws IOException {
        if (!mayWrite()) {
            return state == TcpState.SYN_SENT || state == TcpState.SYN_RECEIVED ? -Errno.ENOTCONN : -Errno.EPIPE;
        }
        int n = sender.write(bytes);
        if (n < 0) {
            return -Errno.ENOMEM;
        }
        if (n > 0) {
            ports.output.flush(this, now);
        }
        return n;
    }

    /** Sends a byte that is urgent (RFC 6093); as {@link #write}. */
    public int writeUrgent(byte b, long now) throws IOException {
        int before = sender.end;
        int old = sender.urgent;
        sender.urgent = before + 1; // what is sent first tells of it
        int n = write(ByteBuffer.wrap(new byte[] {b}), now);
        if (n <= 0) {
            sender.urgent = old;
        }
        return n;
    }

    /** Sends no more after what was written: FIN. */
    public void finish(long now) throws IOException {
        switch (state) {
            case ESTABLISHED -> finish(TcpState.FIN_WAIT_1, now);
            case CLOSE_WAIT -> finish(TcpState.LAST_ACK, now);
            case SYN_RECEIVED -> sender.finished = true; // when it stands
            default -> {}
        }
    }

    private void finish(TcpState s, long now) throws IOException {
        state = s;
        sender.finished = true;
        corked = false;
        ports.output.flush(this, now);
    }

    /** Nobody reads or writes any more. What was written is sent; unread bytes are told to the peer as a reset (RFC 2525, 2.17). */
    public void close(long now) throws IOException {
        released = true;
        deaf = true;
        change = Connection::nobody;
        if (state == TcpState.TIME_WAIT) {
            receiver.clear();
        } else if (state == TcpState.SYN_SENT || state == TcpState.CLOSED) {
            end(0, now);
        } else if (receiver.readable() > 0 || receiver.hasGaps()) {
            abort(now);
        } else {
            finish(now);
            timers.orphaned(now);
        }
    }

    /** Ends the connection at once, with a reset. */
    public void abort(long now) throws IOException {
        released = true;
        if (state.isSynchronized() && state != TcpState.TIME_WAIT || state == TcpState.SYN_RECEIVED) {
            ports.output.reset(this, now);
        }
        end(0, now);
    }

    /** The connection is gone. */
    void end(int errno, long now) throws IOException {
        if (state != TcpState.CLOSED || errno != 0) {
            error = errno == 0 ? error : errno;
        }
        state = TcpState.CLOSED;
        sender.clear();
        if (released || listener != null) { // else it is still to be read
            receiver.clear();
        }
        ports.forget(this, now);
        changed();
    }

    /** Whether nothing more is sent before more is written: false, and segments that are not full are sent. */
    public void cork(boolean on, long now) throws IOException {
        corked = on;
        if (!on) {
            ports.output.flush(this, now);
        }
    }

    /** Without Nagle's algorithm, or with it. What was written before is sent then, even if the connection is corked, as with Linux. */
    public void noDelay(boolean on, long now) throws IOException {
        noDelay = on;
        if (on) {
            boolean wasCorked = corked;
            corked = false;
            try {
                ports.output.flush(this, now);
            } finally {
                corked = wasCorked;
            }
        }
    }

    /** How the connection does. */
    public TcpInfo info() {
        RoundTrip r = recovery.roundTrip;
        CongestionControl c = recovery.congestion;
        return new TcpInfo(state, sender.segment, peerSegment, c.name(), c.window, c.threshold, r.smoothed(), r
                .variation(), r.least(), recovery.timeout(), sender.window, receiver.window(), sender.sent.inFlight(),
                sender
                        .unsent(), receiver.readable(), recovery.retransmitted, recovery.lost, timestamps, sack, ecn,
                sender.scale, receiver.scale);
    }

    /** The clock of timestamps, in milliseconds. */
    int timestamp(long now) {
        return (int) (now / 1_000_000) + timestampOffset;
    }

    /** Bytes of options in a segment without SACK. */
    int optionBytes() {
        return timestamps ? TcpOptions.TIMESTAMPS_BYTES : 0;
    }

    /** Recomputes how long segments are. */
    void resize() {
        int most = Math.min(peerSegment, pathSegment);
        sender.segment = Math.max(most - optionBytes(), 1);
        heardSegment = Math.max(heardSegment, sender.segment);
    }
}
