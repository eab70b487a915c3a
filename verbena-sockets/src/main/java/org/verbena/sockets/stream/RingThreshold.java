// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

/**
 * How much TCP has to have carried of a connection before its ends take rings: to agree on them costs the process classes,
 * compilations, memory and a thread, which a connection of few bytes never gives back. Both ends see the same bytes, so they
 * begin their handshakes at about the same time. They see about the same messages, too, where they take turns; where they do
 * not, one of them may come too early and find nobody: then it tries once more, when the bytes are enough.
 *
 * <p>{@link #sent} and {@link #received} are for the thread that writes and the one that reads; all else is for any thread.
 */
final class RingThreshold {
    /** Bytes, both directions together, where {@value #PROPERTY} does not say otherwise. */
    private static final long DEFAULT_BYTES = 1 << 20;
    private static final String PROPERTY = "verbena.stream.earn";
    private static final int BYTES_OF_MESSAGE = 4096;
    private static final long BYTES;
    private static final int MESSAGES;
    /** Whether the property says how much, for all programs the same. */
    private static final boolean PROPERTY_IS_SET = System.getProperty(PROPERTY) != null;
    /** Whether it says that nothing is to be carried first. */
    private static final boolean PROPERTY_IS_ZERO;
    /** For programs that have not asked for Verbena's channels by their names. */
    private static volatile boolean dropIn;

    static {
        long set = Long.getLong(PROPERTY, DEFAULT_BYTES);
        PROPERTY_IS_ZERO = set <= 0;
        BYTES = PROPERTY_IS_ZERO ? DEFAULT_BYTES : set;
        MESSAGES = Math.clamp(BYTES / BYTES_OF_MESSAGE, 1, Integer.MAX_VALUE);
    }

    private enum State {
        /** For the caller to say when the handshake begins. */
        AT_ONCE,
        /** For more bytes or messages. */
        WAITING,
        /** A handshake has begun. */
        REACHED,
        /** No further handshake will begin. */
        OVER
    }

    private volatile State state;
    /** Messages are not enough any more: nobody was there when they were. */
    private boolean bytesOnly;
    /** Times the direction changed. Two threads count; what they lose of it when both do matters to nobody. */
    private int messages;
    private boolean lastWasSent;

    /** @param earns whether the handshake is to begin when it is reached, rather than when the caller says so */
    RingThreshold(boolean earns) {
        state = earns ? State.WAITING : State.AT_ONCE;
    }

    /** Has the connections of this process earn their rings, where {@value #PROPERTY} does not say otherwise. */
    static void applyToDropIn() {
        dropIn = true;
    }

    /** Whether connections of this process begin their handshakes at once. */
    static boolean isZero() {
        return PROPERTY_IS_SET ? PROPERTY_IS_ZERO : !dropIn || Outbound.WAITS;
    }

    /** Whether what TCP carries is to be compared with it. */
    boolean isWaiting() {
        return state == State.WAITING;
    }

    /** TCP has taken bytes of the program. */
    void sent() {
        if (!lastWasSent) {
            lastWasSent = true;
            messages++;
        }
    }

    /** TCP has brought bytes for the program. */
    void received() {
        if (lastWasSent) {
            lastWasSent = false;
            messages++;
        }
    }

    /**
     * Whether it is reached.
     *
     * @param bytes that TCP has carried, both ways
     */
    boolean isReached(long bytes) {
        return bytes >= BYTES || messages >= MESSAGES && !bytesOnly;
    }

    /** Whether the caller is to begin a handshake. */
    synchronized boolean begin() {
        boolean begins = hasNotBegun();
        if (begins) {
            state = State.REACHED;
        }
        return begins;
    }

    /**
     * A handshake has found nobody.
     *
     * @param bytes that TCP has carried meanwhile
     * @return whether there may be another one later
     */
    synchronized boolean continueAfter(long bytes) {
        boolean continues = state == State.REACHED && bytes < BYTES;
        bytesOnly |= messages >= MESSAGES; // before the state, by which other threads see it
        state = continues ? State.WAITING : State.OVER;
        return continues;
    }

    /** Prevents handshakes that have not begun; whether none has, or is under way. */
    synchronized boolean end() {
        boolean ends = hasNotBegun();
        if (ends) {
            state = State.OVER;
        }
        return ends;
    }

    private boolean hasNotBegun() {
        return state == State.WAITING || state == State.AT_ONCE;
    }
}
