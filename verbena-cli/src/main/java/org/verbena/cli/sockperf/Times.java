// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;

/**
 * When the messages that ask for an answer were to be sent, were sent, and were answered, of {@link System#nanoTime}; 0 for not.
 * One thread notes the sending, one the answers. Numbers are from 1.
 */
final class Times {
    private static final int CHUNK_BITS = 16;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int CHUNKS = 1 << 16;
    private static final int WORDS = 3;
    private static final int PLANNED = 0;
    private static final int SENT = 1;
    private static final int ANSWERED = 2;

    /** A message's times, those that {@link Observations} keeps, and the latencies that are sorted. */
    private static final int BYTES_EACH = 3 * WORDS * Long.BYTES;
    private static final double SHARE = 0.8;

    private final AtomicReferenceArray<long[]> chunks = new AtomicReferenceArray<>(CHUNKS);
    private final long every;
    private final long most = room() - 1;
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();
    private long duplicated;
    private long unexpected;

    /** @param every which messages ask for an answer: those whose number is a multiple of it; 0: none */
    Times(long every) {
        this.every = every;
    }

    /** How many messages can ask for an answer, such that there is memory for their times and for what is made of them. */
    static long room() {
        return Math.min((long) CHUNK * CHUNKS, (long) (Runtime.getRuntime().maxMemory() * SHARE) / BYTES_EACH);
    }

    /** Refuses a run before it begins that has more than {@link #room}. */
    static void requireRoom(double messages) throws CommandException {
        if (messages > room()) {
            throw new CommandException(String.format(
                    "the times of %,.0f messages do not fit into the heap, those of %,d do: send fewer (--mps, --time), or have fewer answered (--reply-every)",
                    messages, room()));
        }
    }

    /** Whether there is room for no more. */
    boolean isFull(long sequence) {
        return every > 0 && sequence / every >= most;
    }

    boolean asks(long sequence) {
        return every > 0 && sequence % every == 0;
    }

    /** Before a message is sent. */
    void sending(long sequence, long planned, long now) {
        if (asks(sequence)) {
            long index = sequence / every;
            int chunk = (int) (index >>> CHUNK_BITS);
            long[] c = chunks.get(chunk);
            if (c == null) {
                c = new long[CHUNK * WORDS];
                chunks.set(chunk, c);
            }
            int at = at(index);
            c[at + PLANNED] = planned;
            c[at + SENT] = now;
        }
        sent.setRelease(sequence);
    }

    /** It was not sent after all; its number is given to the next one. */
    void skipped(long sequence) {
        if (asks(sequence)) {
            long[] c = chunks.get((int) (sequence / every >>> CHUNK_BITS));
            if (c != null) {
                c[at(sequence / every) + SENT] = 0;
            }
        }
        sent.setRelease(sequence - 1);
    }

    /** The answer of a message has come; false if that message asked for none, or was never sent. */
    boolean answered(long sequence, long now) {
        if (sequence < 1 || sequence > sent.getAcquire() || !asks(sequence)) {
            unexpected++;
            return false;
        }
        long[] c = chunk(sequence);
        int at = at(sequence / every);
        if (c == null) {
            unexpected++;
            return false;
        }
        if (c[at + ANSWERED] != 0) {
            duplicated++;
            return false;
        }
        c[at + ANSWERED] = now;
        answered.setRelease(answered.getPlain() + 1); // by this thread alone
        return true;
    }

    /** Whether an answer may still come. */
    boolean isUnanswered() {
        return answered.get() < lastIndex();
    }

    private long @Nullable [] chunk(long sequence) {
        return chunks.get((int) (sequence / every >>> CHUNK_BITS));
    }

    private static int at(long index) {
        return (int) (index & CHUNK - 1) * WORDS;
    }

    private long get(long index, int word) {
        long[] c = chunks.get((int) (index >>> CHUNK_BITS));
        return c == null ? 0 : c[at(index) + word];
    }

    // after the run

    /** The number of the last message. */
    long sent() {
        return sent.get();
    }

    /** How many answers came, without repeated ones. */
    long answered() {
        return answered.get();
    }

    long duplicated() {
        return duplicated;
    }

    /** Answers to what was never sent, or did not ask. */
    long unexpected() {
        return unexpected;
    }

    /** The number of the last message that asked for an answer, divided by how often one does: from 1. */
    long lastIndex() {
        return every == 0 ? 0 : sent.get() / every;
    }

    long every() {
        return every;
    }

    long planned(long index) {
        return get(index, PLANNED);
    }

    long sent(long index) {
        return get(index, SENT);
    }

    long answered(long index) {
        return get(index, ANSWERED);
    }
}
