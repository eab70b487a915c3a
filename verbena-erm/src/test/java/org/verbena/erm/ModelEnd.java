// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.VerbsException;

/** One end of an {@link ErmModel}: its remote memory, the executor of that, and what is known of its program. */
final class ModelEnd implements ProgressExecutor {
    private final ErmModel model;
    final String name;
    final Fabric.Port port;
    final PeerLink link;
    final ArrayDeque<Runnable> jobs = new ArrayDeque<>();
    final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    final Set<Engine.CoalescedTask> coalesced = new LinkedHashSet<>();
    ModelEnd other;
    RemoteMemory memory;
    LocalRegion own;
    final List<LocalRegion> regions = new ArrayList<>();
    final Set<Integer> gone = new HashSet<>();
    /** Regions of this end that a waiting call is about to update: another thread would wait for that call. */
    final Set<LocalRegion> changing = new HashSet<>();
    long updates;
    /** Regions of the other end that were reported to this end's program; false if they have been removed. */
    final Map<Integer, Boolean> knownRegions = new HashMap<>();

    final ArrayDeque<ModelCopies.Expected> expected = new ArrayDeque<>();
    final ArrayDeque<ModelCopies.Expected> asyncExpected = new ArrayDeque<>();
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

    ModelEnd(ErmModel model, String name) throws VerbsException {
        this.model = model;
        this.name = name;
        port = model.fabric.port();
        link = new PeerLink(port.context, port.channel, model.creditLimit);
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
                ((Runnable) Objects.requireNonNull(queue.userContext())).run();
            });
        }
        if (!coalesced.isEmpty()) {
            all.add(() -> {
                Engine.CoalescedTask task = coalesced.iterator().next();
                coalesced.remove(task);
                task.run();
            });
        }
        if (!jobs.isEmpty()) {
            all.add(() -> jobs.remove().run());
        }
        if (!tasks.isEmpty()) {
            all.add(() -> tasks.remove().run());
        }
        all.get(model.choose(all.size())).run();
    }

    @Override
    public void submit(Runnable job) {
        jobs.add(job);
    }

    @Override
    public void schedule(Engine.CoalescedTask task) {
        coalesced.add(task);
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
    public void executeCallback(Runnable callback) {
        callback.run();
    }

    @Override
    public void pause(long nanos) {
        model.runMeanwhile(name + " waits for its copies");
    }

    @Override
    public Integer awaitReply(Future<Integer> answer, long nanos) {
        while (!answer.isDone()) {
            model.runMeanwhile(name + " waits for an answer");
        }
        return answer.resultNow();
    }

    /** Whether the program is awake to poll events. */
    boolean isAwakeForEvents() {
        if (awaitsEvents && isSignaled(link.eventWakeup())) {
            awaitsEvents = false;
        }
        return !awaitsEvents;
    }

    /** Whether the program is awake to poll completions. */
    boolean isAwakeForCompletions() {
        if (awaitsCompletions && isSignaled(link.copyWakeup())) {
            awaitsCompletions = false;
        }
        return !awaitsCompletions;
    }

    private static boolean isSignaled(Wakeup bell) {
        try {
            return bell.await(0);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String toString() {
        return "%s: %d copies, %d of them with completions, %d refused, %d asynchronous; %d events; asleep %s %s, open %s"
                .formatted(name, copies, number, refusals, asyncCopies, events, awaitsEvents,
                        awaitsCompletions, memory.isOpen());
    }
}
