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

    private final AtomicReferenceArray<long[]> chunks = new AtomicReferenceArray<>(CHUNKS);
    private final long every;
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();
    private long duplicated;
    private long unexpected;

    /** @param every which messages ask for an answer: those whose number is a multiple of it; 0: none */
    Times(long every) {
        this.every = every;
    }

    /** How many there is memory for at most, so that a run is refused before it begins. */
    static void requireRoom(double messages) throws CommandException {
        double bytes = messages * WORDS * Long.BYTES;
        long most = Runtime.getRuntime().maxMemory() / 2;
        if (messages > (double) CHUNK * CHUNKS || bytes > most) {
            throw new CommandException(String.format(
                    "the times of %,.0f messages take %,.0f MB of the heap, of which half is %,d MB:"
                            + " send fewer (--mps, --time), or have fewer answered (--reply-every)", messages, bytes
                                    / 1e6, most
                                            / 1_000_000));
        }
    }

    boolean asks(long sequence) {
        return every > 0 && sequence % every == 0;
    }

    /** Before a message is sent. */
    void sending(long sequence, long planned, long now) throws CommandException {
        if (asks(sequence)) {
            long index = sequence / every;
            int chunk = (int) (index >>> CHUNK_BITS);
            long[] c = chunks.get(chunk);
            if (c == null) {
                c = chunk(sequence, chunk);
            }
            int at = at(index);
            c[at + PLANNED] = planned;
            c[at + SENT] = now;
        }
        sent.setRelease(sequence);
    }

    private long[] chunk(long sequence, int number) throws CommandException {
        try {
            long[] c = new long[CHUNK * WORDS];
            chunks.set(number, c);
            return c;
        } catch (OutOfMemoryError e) {
            throw new CommandException("no memory is left for the times of more than " + sequence
                    + " messages: send fewer (--mps, --time), or have fewer answered (--reply-every)", e);
        }
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
