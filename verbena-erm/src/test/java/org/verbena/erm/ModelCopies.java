// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.IntUnaryOperator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;

/** The copies that the programs of an {@link ErmModel} start: whether each may be refused, and the event that is expected of it. */
final class ModelCopies {
    /**
     * Copies of a kind go to these offsets in turn; asynchronous ones to as many behind them, unsignaled ones behind
     * those.
     */
    private static final int PLACES = 32;
    private static final int BYTES = Long.BYTES;
    /** Half the unit of immediate completions: every other copy can have one. */
    private static final int STRIDE = 32;
    /** Of the regions that are copied to. */
    static final int REGION_BYTES = 3 * PLACES * STRIDE;
    /** More than the number of outstanding copies. */
    private static final int SOURCES = 256;
    /** Bytes of the memory that an end copies from, and to. */
    static final int OWN_BYTES = 2 * SOURCES * BYTES;

    /** A copy whose event is expected; asynchronous ones have their own numbers, from -1 down. */
    record Expected(long number, int region, long offset, boolean write) {}

    private final CreditLimit creditLimit;
    private final IntUnaryOperator choice;

    /** @param choice one of that many alternatives */
    ModelCopies(CreditLimit creditLimit, IntUnaryOperator choice) {
        this.creditLimit = creditLimit;
        this.choice = choice;
    }

    private @Nullable RemoteRegion target(ModelEnd end) {
        List<RemoteRegion> all = end.memory.remoteRegions();
        return all.isEmpty() ? null : all.get(choice.applyAsInt(all.size()));
    }

    private static long source(ModelEnd end, long value) {
        long at = end.copies % SOURCES * BYTES;
        end.own.segment().set(ValueLayout.JAVA_LONG, at, value);
        return at;
    }

    private static long place(long number) {
        return number % PLACES * STRIDE;
    }

    /** User data of a copy: 0 where it may have an immediate completion, else the copy's number. */
    private static long data(long number, long at, boolean write) {
        return write && ImmediateCompletion.canEncode(1, at, 0) ? 0 : number;
    }

    int copy(ModelEnd end, boolean write, int flags) {
        RemoteRegion theirs = target(end);
        if (theirs == null) {
            return Errno.ENOENT;
        }
        boolean completion = (flags & CopyFlags.REMOTE_COMPLETION) != 0;
        Mood mood = mood(theirs, write);
        long at = completion ? place(end.number) : 2 * PLACES * STRIDE + place(end.copies);
        long here = write ? source(end, end.number) : (SOURCES + end.copies % SOURCES) * BYTES;
        long data = data(end.number, at, write);
        int error = write
                ? end.memory.copies().copy(end.own.id(), here, theirs.id(), at, BYTES, flags, end.copies, data)
                : end.memory.copies().copy(theirs.id(), at, end.own.id(), here, BYTES, flags, end.copies, end.number);
        checkResult(end, error, 1, completion ? 1 : 0, mood);
        if (error == 0) {
            started(end, theirs.id(), at, write, flags);
        }
        return error;
    }

    private void started(ModelEnd end, int region, long at, boolean write, int flags) {
        if ((flags & CopyFlags.REMOTE_COMPLETION) != 0) {
            end.expected.add(new Expected(end.number++, region, at, write));
        }
        end.outstanding.add(end.copies++);
        end.unsignaled.add((flags & CopyFlags.UNSIGNALED) != 0);
    }

    /**
     * Checks the result of a copy or a batch that is valid in the model, so that it may be refused temporarily
     * only.
     */
    private void checkResult(ModelEnd end, int error, int copies, int events, Mood mood) {
        if (events > 0 && mood == Mood.READY) { // EAGAIN may be returned before credits are checked, or after
            end.refusedCredits = error == Errno.ENOBUFS
                    ? events
                    : error == Errno.EAGAIN ? -Math.abs(end.refusedCredits) : 0;
        }
        end.refusals += error == Errno.ENOBUFS ? 1 : 0;
        boolean right = switch (error) {
            case 0 -> mood == Mood.READY && (end.memory.isOpen() || !isEnded(end));
            case Errno.ENOBUFS -> events > 0;
            case Errno.EAGAIN -> end.memory.copies().outstanding() > 0 || mood == Mood.HELD;
            case Errno.EACCES -> mood == Mood.REFUSED;
            case Errno.ENOTCONN -> !end.memory.isOpen();
            default -> false;
        };
        assertThat(right).as("%s: %d copies with %d events answer %s", end.name, copies, events, Errno.name(error))
                .isTrue();
    }

    /** The current state of a region of the other end for a copy. */
    private enum Mood {
        READY, REFUSED, HELD
    }

    private static Mood mood(RemoteRegion theirs, boolean write) {
        int right = write ? AccessFlags.REMOTE_WRITE : AccessFlags.REMOTE_READ;
        return theirs.isHeld() ? Mood.HELD : (theirs.access() & right) != 0 ? Mood.READY : Mood.REFUSED;
    }

    /** Whether it has failed, and its queues have ended. */
    private static boolean isEnded(ModelEnd end) {
        return !end.memory.isOpen() && end.tasks.isEmpty() && end.jobs.isEmpty();
    }

    void batch(ModelEnd end) {
        RemoteRegion theirs = target(end);
        if (theirs == null) {
            return;
        }
        int count = 1 + choice.applyAsInt(4);
        int[] flags = new int[count];
        boolean[] writes = new boolean[count];
        int completions = 0;
        Mood mood = Mood.READY;
        CopyQueue queue = end.memory.copies().start();
        for (int i = 0; i < count; i++) {
            flags[i] = choice.applyAsInt(8);
            writes[i] = choice.applyAsInt(4) > 0;
            mood = mood == Mood.READY ? mood(theirs, writes[i]) : mood;
            boolean completion = (flags[i] & CopyFlags.REMOTE_COMPLETION) != 0;
            long at = place(end.number + completions) + (completion ? 0 : 2 * PLACES * STRIDE);
            long here = ((writes[i] ? 0 : SOURCES) + (end.copies + i) % SOURCES) * BYTES;
            if (writes[i]) {
                end.own.segment().set(ValueLayout.JAVA_LONG, here, end.number + completions);
                long data = data(end.number + completions, at, true);
                queue.add(end.own.id(), here, theirs.id(), at, BYTES, flags[i], end.copies + i, data);
            } else {
                queue.add(theirs.id(), at, end.own.id(), here, BYTES, flags[i], end.copies + i, end.number
                        + completions);
            }
            completions += completion ? 1 : 0;
        }
        if (completions > creditLimit.completions()) {
            queue.start(); // it would always be refused
            return;
        }
        int error = queue.commit();
        checkResult(end, error, count, completions, mood);
        for (int i = 0; i < count && error == 0; i++) {
            started(end, theirs.id(), place(end.number), writes[i], flags[i]);
        }
    }

    void async(ModelEnd end) {
        RemoteRegion theirs = target(end);
        if (theirs == null || !end.memory.isOpen()) {
            return;
        }
        long number = end.asyncNumber++;
        long at = PLACES * STRIDE + place(number);
        // from separate memory, since it may be copied at any time
        LocalRegion from = end.own;
        long here = (SOURCES + number % SOURCES) * BYTES;
        long data = -1 - number;
        end.asyncExpected.add(new Expected(data, theirs.id(), at, false));
        end.asyncCopies++;
        end.futures.add(end.memory.copyAsync(theirs.id(), at, from.id(), here, BYTES, CopyFlags.REMOTE_COMPLETION,
                data));
    }

    /** Copies to deregistered memory are refused. */
    void stale(ModelEnd end) {
        for (int id : end.other.gone) {
            if (end.memory.remoteRegion(id) == null) {
                int error = end.memory.copies().copy(end.own.id(), 0, id, 0, 1, CopyFlags.REMOTE_COMPLETION, 0, 0);
                assertThat(error).isIn(Errno.ENOENT, end.memory.isOpen() ? Errno.ENOENT : Errno.ENOTCONN);
                return;
            }
        }
    }

    /** An end's program has found the event of a copy of the other's: that is the next one of those that are expected. */
    void copied(ModelEnd end, EventQueue e) {
        boolean async = e.userData() < 0;
        ArrayDeque<Expected> sent = async ? end.other.asyncExpected : end.other.expected;
        long number = sent.stream().filter(t -> matches(t, e)).mapToLong(Expected::number).findFirst().orElse(e
                .userData());
        skipStale(end, sent, number);
        Expected expected = sent.poll();
        assertThat(expected).as("%s gets event %d", end.name, e.userData()).isNotNull();
        assertThat(number).isEqualTo(expected.number());
        assertThat(e.region()).isEqualTo(expected.region());
        assertThat(e.offset()).isEqualTo(expected.offset());
        assertThat(e.length()).isEqualTo(BYTES);
        assertThat(e.type()).isEqualTo(expected.write() ? EventType.COPIED : EventType.COPIED_FROM);
        end.events++;
        if (expected.write()) {
            LocalRegion region = end.memory.localRegions().stream().filter(r -> r.id() == e.region()).findAny()
                    .orElseThrow();
            long value = region.segment().get(ValueLayout.JAVA_LONG, e.offset());
            assertThat(value).as("bytes of event %d", expected.number()).isGreaterThanOrEqualTo(expected.number());
            assertThat(value % PLACES).isEqualTo(expected.number() % PLACES);
        }
    }

    private static boolean matches(Expected copy, EventQueue event) {
        return copy.region() == event.region() && copy.offset() == event.offset() && data(copy.number(), copy.offset(),
                copy
                        .write()) == event.userData();
    }

    /** Events of deregistered memory may have arrived too late; no others. */
    static void skipStale(ModelEnd end, ArrayDeque<Expected> sent, long until) {
        while (!sent.isEmpty() && sent.element().number() != until && (end.gone.contains(sent.element().region())
                || isRefused(end.other, sent.element()))) {
            Expected skipped = sent.remove();
            end.late += skipped.number() >= 0 ? 1 : 0;
            end.lateAsync += skipped.number() < 0 ? 1 : 0;
        }
    }

    /** An asynchronous copy that had to wait may find its region gone then. */
    private static boolean isRefused(ModelEnd from, Expected copy) {
        return copy.number() < 0 && from.futures.get((int) (-1 - copy.number())).isCompletedExceptionally();
    }
}
