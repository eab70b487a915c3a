// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntUnaryOperator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
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
    /**
     * Copies of a kind go to these offsets in turn; asynchronous ones to as many behind them, unsignaled ones behind
     * those.
     */
    private static final int PLACES = 32;
    private static final int BYTES = Long.BYTES;
    /** Half the unit of immediate completions: every other copy can have one. */
    private static final int STRIDE = 32;
    private static final int[] RIGHTS = {ALL, ALL, ALL & ~AccessFlags.REMOTE_READ, ALL & ~AccessFlags.REMOTE_WRITE};
    private static final int REGION_BYTES = 3 * PLACES * STRIDE;
    /** More than the number of outstanding copies. */
    private static final int SOURCES = 256;
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

    /** A copy whose event is expected; asynchronous ones have their own numbers, from -1 down. */
    record Expected(long number, int region, long offset, boolean write) {}

    /** One end, and the model's knowledge of it. */
    final class End implements ProgressExecutor {
        final String name;
        final Fabric.Port port;
        final PeerLink link;
        final ArrayDeque<Runnable> jobs = new ArrayDeque<>();
        final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        final Set<Engine.CoalescedTask> coalesced = new LinkedHashSet<>();
        End other;
        RemoteMemory memory;
        LocalRegion own;
        final List<LocalRegion> regions = new ArrayList<>();
        final Set<Integer> gone = new HashSet<>();
        /** Regions of this end that a waiting call is about to update: another thread would wait for that call. */
        final Set<LocalRegion> changing = new HashSet<>();
        long updates;
        /** Regions of the other end that were reported to this end's program; false if they have been removed. */
        final Map<Integer, Boolean> knownRegions = new HashMap<>();

        final ArrayDeque<Expected> expected = new ArrayDeque<>();
        final ArrayDeque<Expected> asyncExpected = new ArrayDeque<>();
        final List<CompletableFuture<Void>> futures = new ArrayList<>();
        long number;
        long asyncNumber;
        /** Contexts of copies that have not completed, and whether they are unsignaled. */
        final ArrayDeque<Long> outstanding = new ArrayDeque<>();
        final ArrayDeque<Boolean> unsignaled = new ArrayDeque<>();
        long copies;
        long asyncCopies;
        /** The credits that the last call was refused for; negative if an earlier one may have been refused. */
        int refusedCredits;
        long events;
        long late;
        /** Late events of asynchronous copies, some of which were not even sent. */
        long lateAsync;
        long refusals;
        boolean awaitsEvents;
        boolean awaitsCompletions;
        boolean closed;
        boolean sawEnd;

        End(String name) throws VerbsException {
            this.name = name;
            port = fabric.port();
            link = new PeerLink(port.context, port.channel, creditLimit);
        }

        FabricQueuePair data() {
            return (FabricQueuePair) link.data();
        }

        FabricQueuePair control() {
            return (FabricQueuePair) link.control();
        }

        boolean hasWork() {
            return port.channel.events() > 0 || !jobs.isEmpty() || !tasks.isEmpty() || !coalesced.isEmpty();
        }

        /** Runs one task of the engine or its pools. */
        void progress() {
            List<Runnable> all = new ArrayList<>(4);
            if (port.channel.events() > 0) {
                all.add(() -> {
                    CompletionQueue queue = port.channel.await(Duration.ZERO);
                    ((Runnable) java.util.Objects.requireNonNull(queue.userContext())).run();
                });
            }
            if (!coalesced.isEmpty()) {
                all.add(() -> {
                    Engine.CoalescedTask duty = coalesced.iterator().next();
                    coalesced.remove(duty);
                    duty.run();
                });
            }
            if (!jobs.isEmpty()) {
                all.add(() -> jobs.remove().run());
            }
            if (!tasks.isEmpty()) {
                all.add(() -> tasks.remove().run());
            }
            all.get(choice.applyAsInt(all.size())).run();
        }

        @Override
        public void submit(Runnable job) {
            jobs.add(job);
        }

        @Override
        public void schedule(Engine.CoalescedTask duty) {
            coalesced.add(duty);
        }

        @Override
        public void executeBlocking(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void executeLong(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void executeCallback(Runnable told) {
            told.run();
        }

        @Override
        public void pause(long nanos) {
            runMeanwhile(name + " waits for its copies");
        }

        @Override
        public Integer awaitReply(Future<Integer> answer, long nanos) {
            while (!answer.isDone()) {
                runMeanwhile(name + " waits for an answer");
            }
            return answer.resultNow();
        }

        @Override
        public String toString() {
            return "%s: %d copies, %d of them told, %d refused, %d asynchronous; %d events; asleep %s %s, open %s"
                    .formatted(name, copies, number, refusals, asyncCopies, events, awaitsEvents,
                            awaitsCompletions, memory.isOpen());
        }
    }

    final Fabric fabric = new Fabric();
    final CreditLimit creditLimit;
    private final boolean supportUpdates;
    final End a;
    final End b;
    private final End[] ends;
    private final IntUnaryOperator choice;
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
        this.interleaved = meanwhile;
        a = new End("a");
        b = new End("b");
        ends = new End[] {a, b};
        a.other = b;
        b.other = a;
        FabricQueuePair.connect(a.data(), b.data());
        FabricQueuePair.connect(a.control(), b.control());
        Handshake peer = new Handshake(Handshake.VERSION, Handshake.COPIES, features, 1, 2, leeway.completions(),
                leeway
                        .asyncCompletions(), MAX_REGIONS + 1);
        for (End end : ends) {
            end.memory = new RemoteMemory(CHANNEL, 0, end, end.link, peer, end == a ? 0 : 1, () -> 1,
                    reason -> {});
            end.memory.start();
        }
        for (End end : ends) {
            end.own = end.memory.allocate(2L * SOURCES * BYTES, AccessFlags.LOCAL_WRITE, 0);
            register(end);
        }
        runToIdle();
        depth = 0;
    }

    // ---- background work

    private List<Runnable> possible() {
        List<Runnable> all = new ArrayList<>();
        for (End end : ends) {
            if (end.data().canGoOn()) {
                all.add(() -> end.data().carryOut());
            }
            if (end.control().canGoOn()) {
                all.add(() -> end.control().carryOut());
            }
            if (end.data().hasNews()) {
                all.add(() -> end.data().hear());
            }
            if (end.control().hasNews()) {
                all.add(() -> end.control().hear());
            }
            if (end.hasWork()) {
                all.add(end::progress);
            }
        }
        return all;
    }

    private void runMeanwhile(String who) {
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
        for (End end : ends) {
            if (end.data().lacksReceive()) {
                throw new AssertionError(end.name + " sends a notice that there is no receive for");
            }
            if (!a.closed && !b.closed && !end.memory.isOpen()) {
                throw new AssertionError(end.name + " has ended: " + end.memory.endReason());
            }
        }
    }

    // ---- steps

    boolean isPossible(Step step, End end) {
        return switch (step) {
            case CARRY_DATA -> end.data().canGoOn();
            case CARRY_CONTROL -> end.control().canGoOn();
            case LEARN_OF_END -> end.data().hasNews() || end.control().hasNews();
            case PROGRESS -> end.hasWork();
            case WRITE, READ, WRITE_UNSIGNALED, BATCH -> isAwakeForCompletions(end); // it is the same thread
            case REGISTER -> depth == 0 && end.memory.isOpen() && end.regions.size() < MAX_REGIONS;
            case UPDATE, DEREGISTER -> depth < 2 && !end.regions.isEmpty();
            case CLOSE -> depth == 0 && !end.closed;
            default -> true;
        };
    }

    void step(Step step, End end) throws VerbsException {
        switch (step) {
            case WRITE -> copy(end, true, CopyFlags.REMOTE_COMPLETION);
            case READ -> copy(end, false, CopyFlags.REMOTE_COMPLETION);
            case WRITE_UNSIGNALED -> copy(end, true, CopyFlags.UNSIGNALED);
            case BATCH -> batch(end);
            case ASYNC -> async(end);
            case STALE -> stale(end);
            case TAKE -> take(end);
            case POLL -> poll(end);
            case SLEEP_FOR_EVENTS -> sleepForEvents(end);
            case SLEEP_FOR_COMPLETIONS -> sleepForCompletions(end);
            case CARRY_DATA -> end.data().carryOut();
            case CARRY_CONTROL -> end.control().carryOut();
            case LEARN_OF_END -> {
                if (end.data().hasNews()) {
                    end.data().hear();
                } else {
                    end.control().hear();
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

    private @Nullable RemoteRegion target(End end) {
        List<RemoteRegion> all = end.memory.remoteRegions();
        return all.isEmpty() ? null : all.get(choice.applyAsInt(all.size()));
    }

    private static long source(End end, long value) {
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

    private int copy(End end, boolean write, int flags) {
        RemoteRegion theirs = target(end);
        if (theirs == null) {
            return Errno.ENOENT;
        }
        boolean tell = (flags & CopyFlags.REMOTE_COMPLETION) != 0;
        Mood mood = mood(theirs, write);
        long at = tell ? place(end.number) : 2 * PLACES * STRIDE + place(end.copies);
        long here = write ? source(end, end.number) : (SOURCES + end.copies % SOURCES) * BYTES;
        long data = data(end.number, at, write);
        int error = write
                ? end.memory.copies().copy(end.own.id(), here, theirs.id(), at, BYTES, flags, end.copies, data)
                : end.memory.copies().copy(theirs.id(), at, end.own.id(), here, BYTES, flags, end.copies, end.number);
        checkResult(end, error, 1, tell ? 1 : 0, mood);
        if (error == 0) {
            started(end, theirs.id(), at, write, flags);
        }
        return error;
    }

    private void started(End end, int region, long at, boolean write, int flags) {
        if ((flags & CopyFlags.REMOTE_COMPLETION) != 0) {
            end.expected.add(new Expected(end.number++, region, at, write));
        }
        end.outstanding.add(end.copies++);
        end.unsignaled.add((flags & CopyFlags.UNSIGNALED) != 0);
    }

    /**
     * Checks the result of a copy or a batch that the model knows to be valid, so that it may be refused temporarily
     * only.
     */
    private void checkResult(End end, int error, int copies, int events, Mood mood) {
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
    private static boolean isEnded(End end) {
        return !end.memory.isOpen() && end.tasks.isEmpty() && end.jobs.isEmpty();
    }

    private void batch(End end) {
        RemoteRegion theirs = target(end);
        if (theirs == null) {
            return;
        }
        int count = 1 + choice.applyAsInt(4);
        int[] flags = new int[count];
        boolean[] writes = new boolean[count];
        int tells = 0;
        Mood mood = Mood.READY;
        CopyQueue queue = end.memory.copies().start();
        for (int i = 0; i < count; i++) {
            flags[i] = choice.applyAsInt(8);
            writes[i] = choice.applyAsInt(4) > 0;
            mood = mood == Mood.READY ? mood(theirs, writes[i]) : mood;
            boolean tell = (flags[i] & CopyFlags.REMOTE_COMPLETION) != 0;
            long at = place(end.number + tells) + (tell ? 0 : 2 * PLACES * STRIDE);
            long here = ((writes[i] ? 0 : SOURCES) + (end.copies + i) % SOURCES) * BYTES;
            if (writes[i]) {
                end.own.segment().set(ValueLayout.JAVA_LONG, here, end.number + tells);
                long data = data(end.number + tells, at, true);
                queue.add(end.own.id(), here, theirs.id(), at, BYTES, flags[i], end.copies + i, data);
            } else {
                queue.add(theirs.id(), at, end.own.id(), here, BYTES, flags[i], end.copies + i, end.number + tells);
            }
            tells += tell ? 1 : 0;
        }
        if (tells > creditLimit.completions()) {
            queue.start(); // it would always be refused
            return;
        }
        int error = queue.commit();
        checkResult(end, error, count, tells, mood);
        for (int i = 0; i < count && error == 0; i++) {
            started(end, theirs.id(), place(end.number), writes[i], flags[i]);
        }
    }

    private void async(End end) {
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
    private void stale(End end) {
        for (int id : end.other.gone) {
            if (end.memory.remoteRegion(id) == null) {
                int error = end.memory.copies().copy(end.own.id(), 0, id, 0, 1, CopyFlags.REMOTE_COMPLETION, 0, 0);
                assertThat(error).isIn(Errno.ENOENT, end.memory.isOpen() ? Errno.ENOENT : Errno.ENOTCONN);
                return;
            }
        }
    }

    /** Whether the program is awake to poll events. */
    private static boolean isAwakeForEvents(End end) {
        if (end.awaitsEvents && isSignaled(end.link.eventWakeup())) {
            end.awaitsEvents = false;
        }
        return !end.awaitsEvents;
    }

    private static boolean isAwakeForCompletions(End end) {
        if (end.awaitsCompletions && isSignaled(end.link.copyWakeup())) {
            end.awaitsCompletions = false;
        }
        return !end.awaitsCompletions;
    }

    private static boolean isSignaled(Wakeup bell) {
        try {
            return bell.await(0);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private boolean take(End end) {
        boolean found = isAwakeForEvents(end) && end.memory.events().poll();
        if (found) {
            event(end);
        }
        return found;
    }

    private void event(End end) {
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
            default -> copied(end, e);
        }
    }

    private void copied(End end, EventQueue e) {
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
    private static void skipStale(End end, ArrayDeque<Expected> sent, long until) {
        while (!sent.isEmpty() && sent.element().number() != until && (end.gone.contains(sent.element().region())
                || isRefused(end.other, sent.element()))) {
            Expected skipped = sent.remove();
            end.late += skipped.number() >= 0 ? 1 : 0;
            end.lateAsync += skipped.number() < 0 ? 1 : 0;
        }
    }

    /** An asynchronous copy that had to wait may find its region gone then. */
    private static boolean isRefused(End from, Expected copy) {
        return copy.number() < 0 && from.futures.get((int) (-1 - copy.number())).isCompletedExceptionally();
    }

    private boolean poll(End end) {
        boolean found = isAwakeForCompletions(end) && end.memory.copies().poll();
        if (found) {
            completion(end);
        }
        return found;
    }

    private void completion(End end) {
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

    private void sleepForEvents(End end) {
        if (isAwakeForEvents(end) && !end.memory.arm(RemoteMemory.EVENTS)) {
            end.awaitsEvents = true;
        }
    }

    private void sleepForCompletions(End end) {
        if (!isAwakeForCompletions(end)) {
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

    private void register(End end) throws VerbsException {
        try {
            end.regions.add(end.memory.allocate(REGION_BYTES, ALL, end.regions.size()));
        } catch (VerbsException e) {
            assertThat(end.memory.isOpen()).as(e.getMessage()).isFalse();
        }
    }

    /** The {@link Fabric} reports copies that are carried out with a key without the right as faults. */
    private void update(End end) {
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

    private void deregister(End end) throws VerbsException {
        LocalRegion region = end.regions.get(choice.applyAsInt(end.regions.size()));
        if (!region.isRevoked() && !end.changing.contains(region)) { // otherwise a waiting call is about to do it, and another thread would wait for that call
            region.close();
            end.regions.remove(region);
            end.gone.add(region.id());
        }
    }

    private void close(End end) {
        end.closed = true;
        end.link.fail("closed by this end"); // as when the channel is closed
        end.memory.allowRelease();
    }

    // ---- the end of a schedule

    /** Everything is delivered and processed, and each sleeper with something to poll has been woken. */
    void checkSleepers() {
        runToIdle();
        for (End end : ends) {
            if (!isAwakeForEvents(end)) {
                assertThat(end.memory.events().poll()).as("%s sleeps, and there is an event", end.name).isFalse();
            }
            if (!isAwakeForCompletions(end)) {
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
        for (End end : ends) {
            end.awaitsEvents = false;
            end.awaitsCompletions = false;
        }
        if (!a.closed && !b.closed) {
            End waits = ends[choice.applyAsInt(2)]; // it waits for credit, and polls nothing until that arrives
            consumeAll(waits.other);
            checkRoom(waits);
        }
        consumeAll(ends);
        if (!a.closed && !b.closed) {
            for (End end : ends) {
                skipStale(end.other, end.expected, Long.MAX_VALUE);
                skipStale(end.other, end.asyncExpected, Long.MAX_VALUE);
            }
            for (End end : ends) {
                assertThat(end.expected).as("%s has sent", end.name).isEmpty();
                assertThat(end.asyncExpected).as("%s has sent", end.name).isEmpty();
                assertThat(end.unsignaled).as("copies of %s that have not completed: %s", end.name, end.outstanding)
                        .doesNotContain(false);
                assertThat(end.memory.statistics().lateEvents()).isBetween(end.late, end.late + end.lateAsync);
                awaitAsync(end);
            }
            for (End end : ends) {
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
    private void awaitAsync(End end) {
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

    private void consumeAll(End... who) {
        boolean more = true;
        while (more || !possible().isEmpty()) { // a poll that finds nothing consumes the last event
            runToIdle();
            more = false;
            for (End end : who) {
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
    private void checkRoom(End end) {
        int least = creditLimit.completions() - Math.max(0, creditLimit.completions() / 2 - 1);
        for (int i = 0; i < least && !end.memory.remoteRegions().isEmpty(); i++) {
            int error = copy(end, true, CopyFlags.REMOTE_COMPLETION);
            boolean more = true;
            while (error == Errno.EAGAIN && more) { // the queue is full, or one copy is still to be refused
                runToIdle();
                more = poll(end);
                error = copy(end, true, CopyFlags.REMOTE_COMPLETION);
            }
            if (error != Errno.EACCES) { // memory that is not writable needs no credit
                assertThat(error).as("copy %d of %d that %s has room for", i, least, end.name).isZero();
            }
        }
    }

    /** Closes both ends: each program gets the event once, and all resources are released. */
    void end() {
        for (End end : ends) {
            if (!end.closed) {
                close(end);
                consumeAll(ends);
            }
        }
        consumeAll(ends);
        for (End end : ends) {
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
