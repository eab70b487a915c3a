// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.model;

import java.time.Duration;

/** How connections of TCP behave. Immutable. */
public final class TcpSettings {
    /** Those of Linux where RFCs leave a choice, with buffers of 1 MiB. */
    public static final TcpSettings DEFAULT = new Builder().build();

    /** The largest buffer. */
    public static final int MOST_BUFFER = 1 << 26;

    private static final int LEAST_BUFFER = 1 << 10;
    private static final int LEAST_SEGMENT = 88;
    private static final int MOST_SEGMENT = 65_495;
    private static final Duration LONGEST = Duration.ofDays(100);

    private final int receiveBuffer;
    private final int sendBuffer;
    private final boolean cubic;
    private final boolean noDelay;
    private final boolean timestamps;
    private final boolean windowScale;
    private final boolean sack;
    private final boolean ecn;
    private final int maximumSegment;
    private final boolean keepAlive;
    private final long keepAliveIdle;
    private final long keepAliveInterval;
    private final int keepAliveProbes;
    private final long userTimeout;
    private final long delayedAck;
    private final int quickAcks;
    private final long timeWait;

    private TcpSettings(Builder b) {
        receiveBuffer = b.receiveBuffer;
        sendBuffer = b.sendBuffer;
        cubic = b.cubic;
        noDelay = b.noDelay;
        timestamps = b.timestamps;
        windowScale = b.windowScale;
        sack = b.sack;
        ecn = b.ecn;
        maximumSegment = b.maximumSegment;
        keepAlive = b.keepAlive;
        keepAliveIdle = b.keepAliveIdle;
        keepAliveInterval = b.keepAliveInterval;
        keepAliveProbes = b.keepAliveProbes;
        userTimeout = b.userTimeout;
        delayedAck = b.delayedAck;
        quickAcks = b.quickAcks;
        timeWait = b.timeWait;
    }

    /** Begins with {@link #DEFAULT}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Bytes that may wait for the reader: 1 KiB to 64 MiB. */
    public int receiveBuffer() {
        return receiveBuffer;
    }

    /** Bytes that may wait to be sent or acknowledged: 1 KiB to 64 MiB. */
    public int sendBuffer() {
        return sendBuffer;
    }

    /** Whether CUBIC (RFC 9438) controls congestion, else NewReno (RFC 6582). */
    public boolean cubic() {
        return cubic;
    }

    /** Whether small segments are sent while others are not acknowledged yet, against Nagle's algorithm. */
    public boolean noDelay() {
        return noDelay;
    }

    /** Whether timestamps and PAWS (RFC 7323) are offered and accepted. */
    public boolean timestamps() {
        return timestamps;
    }

    /** Whether windows above 64 KiB (RFC 7323) are offered and accepted. */
    public boolean windowScale() {
        return windowScale;
    }

    /** Whether selective acknowledgments (RFC 2018) are offered and accepted. */
    public boolean sack() {
        return sack;
    }

    /** Whether congestion notification (RFC 3168) is offered; it is always accepted. */
    public boolean ecn() {
        return ecn;
    }

    /** The longest segment that is sent or asked for, without headers: 88 to 65,495; 0 for what the link takes. */
    public int maximumSegment() {
        return maximumSegment;
    }

    /** Whether a peer that is silent is asked whether it is there (RFC 9293, 3.8.4). */
    public boolean keepAlive() {
        return keepAlive;
    }

    /** Silence before the first question; in nanoseconds. */
    public long keepAliveIdle() {
        return keepAliveIdle;
    }

    /** Time between questions; in nanoseconds. */
    public long keepAliveInterval() {
        return keepAliveInterval;
    }

    /** Questions without an answer after which the connection fails. */
    public int keepAliveProbes() {
        return keepAliveProbes;
    }

    /** Time without progress after which the connection fails (RFC 9293, 3.8.3); 0 for 15 retransmissions; in nanoseconds. */
    public long userTimeout() {
        return userTimeout;
    }

    /** How long an acknowledgment may wait for data to go with; in nanoseconds. */
    public long delayedAck() {
        return delayedAck;
    }

    /** Segments at the begin that are acknowledged at once, so that the peer's slow start is not held up. */
    public int quickAcks() {
        return quickAcks;
    }

    /** How long a pair of ports is kept after the connection (RFC 9293, 3.4.1); in nanoseconds. */
    public long timeWait() {
        return timeWait;
    }

    /** The window scale (RFC 7323, 2.2) that makes the whole receive buffer known. */
    public int scale() {
        int s = 0;
        while (receiveBuffer >>> s > 0xffff) {
            s++;
        }
        return s;
    }

    /** Sets what is to be other than {@link #DEFAULT}. For one thread. */
    public static final class Builder {
        private int receiveBuffer = 1 << 20;
        private int sendBuffer = 1 << 20;
        private boolean cubic = true;
        private boolean noDelay;
        private boolean timestamps = true;
        private boolean windowScale = true;
        private boolean sack = true;
        private boolean ecn;
        private int maximumSegment;
        private boolean keepAlive;
        private long keepAliveIdle = Duration.ofHours(2).toNanos();
        private long keepAliveInterval = Duration.ofSeconds(75).toNanos();
        private int keepAliveProbes = 9;
        private long userTimeout;
        private long delayedAck = Duration.ofMillis(40).toNanos();
        private int quickAcks = 16;
        private long timeWait = Duration.ofMinutes(1).toNanos();

        private Builder() {}

        /** Bytes that may wait for the reader: 1 KiB to 64 MiB. */
        public Builder receiveBuffer(int v) {
            receiveBuffer = buffer("receiveBuffer", v);
            return this;
        }

        /** Bytes that may wait to be sent or acknowledged: 1 KiB to 64 MiB. */
        public Builder sendBuffer(int v) {
            sendBuffer = buffer("sendBuffer", v);
            return this;
        }

        /** Whether CUBIC (RFC 9438) controls congestion, else NewReno (RFC 6582). */
        public Builder cubic(boolean v) {
            cubic = v;
            return this;
        }

        /** Whether small segments are sent while others are not acknowledged yet, against Nagle's algorithm. */
        public Builder noDelay(boolean v) {
            noDelay = v;
            return this;
        }

        /** Whether timestamps and PAWS (RFC 7323) are offered and accepted. */
        public Builder timestamps(boolean v) {
            timestamps = v;
            return this;
        }

        /** Whether windows above 64 KiB (RFC 7323) are offered and accepted. */
        public Builder windowScale(boolean v) {
            windowScale = v;
            return this;
        }

        /** Whether selective acknowledgments (RFC 2018) are offered and accepted. */
        public Builder sack(boolean v) {
            sack = v;
            return this;
        }

        /** Whether congestion notification (RFC 3168) is offered; it is always accepted. */
        public Builder ecn(boolean v) {
            ecn = v;
            return this;
        }

        /** The longest segment that is sent or asked for, without headers: 88 to 65,495; 0 for what the link takes. */
        public Builder maximumSegment(int v) {
            if (v != 0 && (v < LEAST_SEGMENT || v > MOST_SEGMENT)) {
                throw new IllegalArgumentException("maximumSegment " + v + " is neither 0 nor " + LEAST_SEGMENT + " to "
                        + MOST_SEGMENT);
            }
            maximumSegment = v;
            return this;
        }

        /** Whether a peer that is silent is asked whether it is there (RFC 9293, 3.8.4). */
        public Builder keepAlive(boolean v) {
            keepAlive = v;
            return this;
        }

        /** Silence before the first question. */
        public Builder keepAliveIdle(Duration v) {
            keepAliveIdle = nanos("keepAliveIdle", v);
            return this;
        }

        /** Time between questions. */
        public Builder keepAliveInterval(Duration v) {
            keepAliveInterval = nanos("keepAliveInterval", v);
            return this;
        }

        /** Questions without an answer after which the connection fails. */
        public Builder keepAliveProbes(int v) {
            keepAliveProbes = count("keepAliveProbes", v);
            return this;
        }

        /** Time without progress after which the connection fails (RFC 9293, 3.8.3); 0 for 15 retransmissions. */
        public Builder userTimeout(Duration v) {
            userTimeout = nanos("userTimeout", v);
            return this;
        }

        /** How long an acknowledgment may wait for data to go with. */
        public Builder delayedAck(Duration v) {
            delayedAck = nanos("delayedAck", v);
            return this;
        }

        /** Segments at the begin that are acknowledged at once, so that the peer's slow start is not held up. */
        public Builder quickAcks(int v) {
            quickAcks = count("quickAcks", v);
            return this;
        }

        /** How long a pair of ports is kept after the connection (RFC 9293, 3.4.1). */
        public Builder timeWait(Duration v) {
            timeWait = nanos("timeWait", v);
            return this;
        }

        private static int buffer(String name, int v) {
            if (v < LEAST_BUFFER || v > MOST_BUFFER) {
                throw new IllegalArgumentException(name + " " + v + " is not " + LEAST_BUFFER + " to " + MOST_BUFFER
                        + " bytes");
            }
            return v;
        }

        private static int count(String name, int v) {
            if (v < 0) {
                throw new IllegalArgumentException(name + " " + v + " is negative");
            }
            return v;
        }

        private static long nanos(String name, Duration v) {
            if (v.isNegative() || v.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException(name + " " + v + " is not 0 to 100 days");
            }
            return v.toNanos();
        }

        /** The settings. */
        public TcpSettings build() {
            return new TcpSettings(this);
        }
    }
}
