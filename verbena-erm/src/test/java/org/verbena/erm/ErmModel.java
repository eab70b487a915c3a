// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntUnaryOperator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * A model of both ends of a connection, the transport between them and their executors, driven step by step by one
 * thread: the product's remote memory on a {@link Fabric} that carries out requests on demand. Each step checks its
 * results: events arrive in order, none is lost or duplicated, and the bytes arrive before; completions arrive in
 * order; each sleeper is woken; no message is sent without a posted receive at the other end, no copy accesses
 * deregistered memory.
 *
 * <p>While a call waits, as deregistration does, other steps are interleaved.
 */
final class ErmModel {
    /** The steps of one end. */
    enum Step {
        WRITE, READ, WRITE_UNSIGNALED, BATCH, ASYNC, STALE, TAKE, POLL, SLEEP_FOR_EVENTS, SLEEP_FOR_COMPLETIONS,
        CARRY_DATA,
        CARRY_CONTROL, LEARN_OF_END, PROGRESS, REFUSE, REGISTER, UPDATE, DEREGISTER, CLOSE
    }

    private static final int ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
    private static final int[] RIGHTS = {ALL, ALL, ALL & ~AccessFlags.REMOTE_READ, ALL & ~AccessFlags.REMOTE_WRITE};
    private static final int MAX_REGIONS = 3;
    private static final int MAX_DEPTH = 3;
    private static final int MAX_STEPS = 1_000_000;
    private static final SocketChannel CHANNEL = channel();

    private static SocketChannel channel() {
        try {
            return SocketChannel.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    final Fabric fabric = new Fabric();
    final CreditLimit creditLimit;
    private final boolean supportUpdates;
    final ModelEnd a;
    final ModelEnd b;
    private final ModelEnd[] ends;
    private final IntUnaryOperator choice;
    private final ModelCopies copies;
    /** Steps that are interleaved while a call waits; null if only background work continues. */
    private final @Nullable Runnable interleaved;
    /** Nesting of waiting calls; at the maximum only background work continues. */
    private int depth = MAX_DEPTH;

    /**
     * @param leeway of both ends
     * @param choice one of that many alternatives
     * @param meanwhile a step that is interleaved while a call waits; null for background work only
     */
    ErmModel(CreditLimit leeway, IntUnaryOperator choice, @Nullable Runnable meanwhile) throws VerbsException {
        this(leeway, Handshake.UPDATES, choice, meanwhile);
    }

    /** @param features the features that each end announces */
    ErmModel(CreditLimit leeway, int features, IntUnaryOperator choice, @Nullable Runnable meanwhile)
            throws VerbsException {
        this.creditLimit = leeway;
        supportUpdates = (features & Handshake.UPDATES) != 0;
        this.choice = choice;
        copies = new ModelCopies(leeway, choice);
        this.interleaved = meanwhile;
        a = new ModelEnd(this, "a");
        b = new ModelEnd(this, "b");
        ends = new ModelEnd[] {a, b};
        a.other = b;
        b.other = a;
        FabricQueuePair.connect(a.data(), b.data());
        FabricQueuePair.connect(a.control(), b.control());
        Handshake peer = new Handshake(Handshake.VERSION, Handshake.COPIES, features, 1, 2, leeway.completions(),
                leeway
                        .asyncCompletions(), MAX_REGIONS + 1);
        for (ModelEnd end : ends) {
            end.memory = new RemoteMemory(CHANNEL, 0, end, end.link, peer, end == a ? 0 : 1, () -> 1,
                    reason -> {});
            end.memory.start();
        }
        for (ModelEnd end : ends) {
            end.own = end.memory.allocate(ModelCopies.OWN_BYTES, AccessFlags.LOCAL_WRITE, 0);
            register(end);
        }
        runToIdle();
        depth = 0;
    }

    // ---- background work

    private List<Runnable> possible() {
        List<Runnable> all = new ArrayList<>();
        for (ModelEnd end : ends) {
            if (end.data().canGoOn()) {
                all.add(() -> end.data().carryOut());
            }
            if (end.control().canGoOn()) {
                all.add(() -> end.control().carryOut());
            }
            if (end.data().hasNews()) {
                all.add(() -> end.data().receive());
            }
            if (end.control().hasNews()) {
                all.add(() -> end.control().receive());
            }
            if (end.hasWork()) {
                all.add(end::progress);
            }
        }
        return all;
    }

    /** One of that many alternatives. */
    int choose(int among) {
        return choice.applyAsInt(among);
    }

    /** A call of an end waits: runs one step meanwhile. */
    void runMeanwhile(String who) {
        List<Runnable> all = possible();
        if (all.isEmpty()) {
            throw new AssertionError(who + ", and nothing is under way");
        }
        depth++;
        try {
            if (interleaved != null && depth < MAX_DEPTH && choice.applyAsInt(3) == 0) {
                interleaved.run();
            } else {
                all.get(choice.applyAsInt(all.size())).run();
            }
        } finally {
            depth--;
        }
    }

    /** Runs all background work until idle. */
    private void runToIdle() {
        int steps = 0;
        for (List<Runnable> all = possible(); !all.isEmpty(); all = possible()) {
            all.get(choice.applyAsInt(all.size())).run();
            assertThat(++steps).as("it never becomes idle").isLessThan(MAX_STEPS);
        }
        check();
    }

    /** Checks the invariants. */
    void check() {
        assertThat(fabric.faults()).isEmpty();
        for (ModelEnd end : ends) {
            if (end.data().lacksReceive()) {
                throw new AssertionError(end.name + " sends a notice that there is no receive for");
            }
            if (!a.closed && !b.closed && !end.memory.isOpen()) {
                throw new AssertionError(end.name + " has ended: " + end.memory.endReason());
            }
        }
    }

    // ---- steps

    boolean isPossible(Step step, ModelEnd end) {
        return switch (step) {
            case CARRY_DATA -> end.data().canGoOn();
            case CARRY_CONTROL -> end.control().canGoOn();
            case LEARN_OF_END -> end.data().hasNews() || end.control().hasNews();
            case PROGRESS -> end.hasWork();
            case WRITE, READ, WRITE_UNSIGNALED, BATCH -> end.isAwakeForCompletions(); // it is the same thread
            case REGISTER -> depth == 0 && end.memory.isOpen() && end.regions.size() < MAX_REGIONS;
            case UPDATE, DEREGISTER -> depth < 2 && !end.regions.isEmpty();
            case CLOSE -> depth == 0 && !end.closed;
            default -> true;
        };
    }

    void step(Step step, ModelEnd end) throws VerbsException {
        switch (step) {
            case WRITE -> copies.copy(end, true, CopyFlags.REMOTE_COMPLETION);
            case READ -> copies.copy(end, false, CopyFlags.REMOTE_COMPLETION);
            case WRITE_UNSIGNALED -> copies.copy(end, true, CopyFlags.UNSIGNALED);
            case BATCH -> copies.batch(end);
            case ASYNC -> copies.async(end);
            case STALE -> copies.stale(end);
            case TAKE -> take(end);
            case POLL -> poll(end);
            case SLEEP_FOR_EVENTS -> sleepForEvents(end);
            case SLEEP_FOR_COMPLETIONS -> sleepForCompletions(end);
            case CARRY_DATA -> end.data().carryOut();
            case CARRY_CONTROL -> end.control().carryOut();
            case LEARN_OF_END -> {
                if (end.data().hasNews()) {
                    end.data().receive();
                } else {
                    end.control().receive();
                }
            }
            case PROGRESS -> end.progress();
            case REFUSE -> end.data().refuseOnce();
            case REGISTER -> register(end);
            case UPDATE -> update(end);
            case DEREGISTER -> deregister(end);
            case CLOSE -> close(end);
        }
        check();
    }

    private boolean take(ModelEnd end) {
        boolean found = end.isAwakeForEvents() && end.memory.events().poll();
        if (found) {
            event(end);
        }
        return found;
    }

    private void event(ModelEnd end) {
        EventQueue e = end.memory.events();
        assertThat(end.sawEnd).as("an event after the end").isFalse();
        switch (e.type()) {
            case EventType.CLOSED -> {
                assertThat(end.memory.isOpen()).isFalse();
                end.sawEnd = true;
            }
            case EventType.REGION_ADDED -> assertThat(end.knownRegions.put(e.region(), true)).as("region %d", e
                    .region())
                    .isNull();
            case EventType.REGION_UPDATED -> assertThat(end.knownRegions.get(e.region())).as("region %d", e.region())
                    .isEqualTo(true);
            case EventType.REGION_REMOVED -> assertThat(end.knownRegions.put(e.region(), false)).as("region %d", e
                    .region())
                    .isEqualTo(true);
            default -> copies.copied(end, e);
        }
    }

    private boolean poll(ModelEnd end) {
        boolean found = end.isAwakeForCompletions() && end.memory.copies().poll();
        if (found) {
            completion(end);
        }
        return found;
    }

    private void completion(ModelEnd end) {
        CopyQueue queue = end.memory.copies();
        boolean good = queue.status() == WcStatus.SUCCESS;
        assertThat(good || !end.memory.isOpen() || a.closed || b.closed).as(WcStatus.toString(queue.status()))
                .isTrue();
        while (Boolean.TRUE.equals(end.unsignaled.peek()) && end.outstanding.element() != queue.context()) {
            end.unsignaled.remove();
            end.outstanding.remove();
        }
        assertThat(end.outstanding.poll()).as("completion of").isEqualTo(queue.context());
        assertThat(end.unsignaled.remove() && good).as("a completion of an unsignaled copy").isFalse();
    }

    private void sleepForEvents(ModelEnd end) {
        if (end.isAwakeForEvents() && !end.memory.arm(RemoteMemory.EVENTS)) {
            end.awaitsEvents = true;
        }
    }

    private void sleepForCompletions(ModelEnd end) {
        if (!end.isAwakeForCompletions()) {
            return;
        }
        if (!end.memory.arm(RemoteMemory.COMPLETIONS)) {
            end.awaitsCompletions = true;
        } else if (!poll(end) && end.memory.isOpen()) {
            assertThat(end.refusedCredits).as("nothing is there, and nothing was refused").isNotZero();
            assertThat(end.memory.copies().credit().hasRoom(Math.abs(end.refusedCredits))).as("room for %d",
                    end.refusedCredits)
                    .isTrue();
            end.refusedCredits = 0;
        }
    }

    private void register(ModelEnd end) throws VerbsException {
        try {
            end.regions.add(end.memory.allocate(ModelCopies.REGION_BYTES, ALL, end.regions.size()));
        } catch (VerbsException e) {
            assertThat(end.memory.isOpen()).as(e.getMessage()).isFalse();
        }
    }

    /** The {@link Fabric} reports copies that are carried out with a key without the right as faults. */
    private void update(ModelEnd end) {
        LocalRegion region = end.regions.get(choice.applyAsInt(end.regions.size()));
        if (region.isRevoked() || !end.changing.add(region)) {
            return;
        }
        int access = RIGHTS[choice.applyAsInt(RIGHTS.length)];
        try {
            region.update(access, ++end.updates);
            assertThat(supportUpdates).as("the other end supports updates").isTrue();
            assertThat(region.access()).isEqualTo(access);
        } catch (VerbsException e) {
            assertThat(e.errno() == Errno.EOPNOTSUPP ? supportUpdates : end.memory.isOpen()).as(e.getMessage())
                    .isFalse();
        } finally {
            end.changing.remove(region);
        }
    }

    private void deregister(ModelEnd end) throws VerbsException {
        LocalRegion region = end.regions.get(choice.applyAsInt(end.regions.size()));
        if (!region.isRevoked() && !end.changing.contains(region)) { // otherwise a waiting call is about to do it, and another thread would wait for that call
            region.close();
            end.regions.remove(region);
            end.gone.add(region.id());
        }
    }

    private void close(ModelEnd end) {
        end.closed = true;
        end.link.fail("closed by this end"); // as when the channel is closed
        end.memory.allowRelease();
    }

    // ---- the end of a schedule

    /** Everything is delivered and processed, and each sleeper with something to poll has been woken. */
    void checkSleepers() {
        runToIdle();
        for (ModelEnd end : ends) {
            if (!end.isAwakeForEvents()) {
                assertThat(end.memory.events().poll()).as("%s sleeps, and there is an event", end.name).isFalse();
            }
            if (!end.isAwakeForCompletions()) {
                assertThat(end.memory.copies().poll()).as("%s sleeps, and there is a completion", end.name).isFalse();
                assertThat(end.memory.isOpen()).as("%s sleeps, and all has ended", end.name).isTrue();
                assertThat(end.refusedCredits > 0 && end.memory.copies().credit().hasRoom(end.refusedCredits)).as(
                        "%s sleeps, and there is room for %d events", end.name, end.refusedCredits).isFalse();
            }
        }
    }

    /** Both programs poll all they can: all sent events arrive, and there are credits again. */
    void settle() {
        depth = MAX_DEPTH;
        checkSleepers();
        for (ModelEnd end : ends) {
            end.awaitsEvents = false;
            end.awaitsCompletions = false;
        }
        if (!a.closed && !b.closed) {
            ModelEnd waits = ends[choice.applyAsInt(2)]; // it waits for credit, and polls nothing until that arrives
            consumeAll(waits.other);
            checkRoom(waits);
        }
        consumeAll(ends);
        if (!a.closed && !b.closed) {
            for (ModelEnd end : ends) {
                ModelCopies.skipStale(end.other, end.expected, Long.MAX_VALUE);
                ModelCopies.skipStale(end.other, end.asyncExpected, Long.MAX_VALUE);
            }
            for (ModelEnd end : ends) {
                assertThat(end.expected).as("%s has sent", end.name).isEmpty();
                assertThat(end.asyncExpected).as("%s has sent", end.name).isEmpty();
                assertThat(end.unsignaled).as("copies of %s that have not completed: %s", end.name, end.outstanding)
                        .doesNotContain(false);
                assertThat(end.memory.statistics().lateEvents()).isBetween(end.late, end.late + end.lateAsync);
                awaitAsync(end);
            }
            for (ModelEnd end : ends) {
                for (LocalRegion region : end.regions) {
                    RemoteRegion theirs = end.other.memory.remoteRegion(region.id());
                    assertThat(theirs).as("%s of %s", region, end.name).isNotNull();
                    assertThat(theirs.isHeld()).as("%s of %s is held", region, end.name).isFalse();
                    assertThat(theirs.access()).as("rights of %s of %s", region, end.name).isEqualTo(region.access()
                            & Regions.REMOTE_ACCESS);
                    assertThat(theirs.tag()).as("tag of %s of %s", region, end.name).isEqualTo(region.tag());
                }
                checkRoom(end);
            }
            consumeAll(ends);
        }
    }

    /** Waits for futures that threads of the common pool complete. */
    private void awaitAsync(ModelEnd end) {
        for (CompletableFuture<Void> copy : end.futures) {
            try {
                copy.get(30, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                assertThat(e.getCause()).isInstanceOfSatisfying(VerbsException.class, why -> assertThat(why.errno())
                        .isIn(Errno.EACCES,
                                Errno.ENOENT, a.closed || b.closed ? Errno.ENOTCONN : Errno.ENOENT, a.closed || b.closed
                                        ? Errno.EIO
                                        : Errno.ENOENT));
            } catch (InterruptedException | TimeoutException e) {
                throw new AssertionError("asynchronous copies of " + end.name, e);
            }
        }
    }

    private void consumeAll(ModelEnd... who) {
        boolean more = true;
        while (more || !possible().isEmpty()) { // a poll that finds nothing consumes the last event
            runToIdle();
            more = false;
            for (ModelEnd end : who) {
                while (take(end)) {
                    more = true;
                }
                while (poll(end)) {
                    more = true;
                }
            }
        }
        check();
    }

    /** All consumed completions have been returned, but for less than half of the limit. */
    private void checkRoom(ModelEnd end) {
        int least = creditLimit.completions() - Math.max(0, creditLimit.completions() / 2 - 1);
        for (int i = 0; i < least && !end.memory.remoteRegions().isEmpty(); i++) {
            int error = copies.copy(end, true, CopyFlags.REMOTE_COMPLETION);
            boolean more = true;
            while (error == Errno.EAGAIN && more) { // the queue is full, or one copy is still to be refused
                runToIdle();
                more = poll(end);
                error = copies.copy(end, true, CopyFlags.REMOTE_COMPLETION);
            }
            if (error != Errno.EACCES) { // memory that is not writable needs no credit
                assertThat(error).as("copy %d of %d that %s has room for", i, least, end.name).isZero();
            }
        }
    }

    /** Closes both ends: each program gets the event once, and all resources are released. */
    void end() {
        for (ModelEnd end : ends) {
            if (!end.closed) {
                close(end);
                consumeAll(ends);
            }
        }
        consumeAll(ends);
        for (ModelEnd end : ends) {
            assertThat(end.sawEnd).as("%s received CLOSED", end.name).isTrue();
            while (Boolean.TRUE.equals(end.unsignaled.peek())) {
                end.unsignaled.remove();
                end.outstanding.remove();
            }
            assertThat(end.outstanding).as("copies of %s", end.name).isEmpty();
            assertThat(end.memory.copies().outstanding()).isZero();
            awaitAsync(end);
            assertThat(end.memory.localRegions()).isEmpty();
        }
        assertThat(fabric.open()).isEmpty();
        assertThat(fabric.faults()).isEmpty();
    }
}
