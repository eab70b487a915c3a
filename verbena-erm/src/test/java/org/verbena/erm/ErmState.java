// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;

/**
 * The state of an {@link ErmModel} as a number, equal for states with the same future: all fields of the queues of both
 * ends and of their parts, the messages in memory, the pending work of the transport, and the model's own knowledge.
 *
 * <p>Each field counts unless it is listed here: statistics, and values that have been read and are not used any more.
 */
final class ErmState {
    private static final Map<Class<?>, Set<String>> SKIPPED = Map.of(
            CopyQueue.class, Set.of("regions", "link", "queue", "guard", "wakeup", "quiescing", "outgoing",
                    "outgoingAddress", "events", "batch", "copies", "bytesWritten", "bytesRead"),
            CopyCompletions.class, Set.of("link", "done", "contexts", "context", "status", "failed"),
            EventQueue.class, Set.of("regions", "receiveCompletions", "receives", "link", "completionBuffer", "slots",
                    "guard", "wakeup", "returnCredits", "quiescing", "engineEvents", "dirty", "reported", "copies",
                    "polled", "late", "lateEngineEvents", "foundKind", "foundRegion", "foundOffset", "foundLength",
                    "foundData"),
            ControlSender.class, Set.of("regions", "link", "executor", "queue", "completionQueue", "message", "lock",
                    "deferred", "inFlight", "copiesStarted", "written", "read", "failed"),
            Credit.class, Set.of("wakeup", "stalls"),
            Wakeup.class, Set.of("pipe"),
            Fabric.Completion.class, Set.of("of"),
            ControlSender.AsyncCopy.class, Set.of("done"),
            FabricQueuePair.class, Set.of("fabric", "domain", "sent", "received", "number", "sends", "receiveQueue",
                    "peer"));

    private static final Map<Class<?>, List<VarHandle>> FIELDS = new HashMap<>();

    private ErmState() {}

    /** For one thread at a time. */
    static long of(ErmModel model) {
        return of(of(1, model.a), model.b);
    }

    private static long of(long before, ModelEnd end) {
        long hash = object(before, end.memory.copies());
        hash = object(hash, end.memory.events());
        hash = object(hash, end.memory.control().sends());
        hash = object(object(hash, end.link.copyWakeup()), end.link.eventWakeup());
        hash = object(object(hash, end.data()), end.control());
        for (Object queue : new Object[] {end.link.copyCompletions(), end.link.remoteCompletions(), end.link
                .controlSendCompletions(), end.link.controlReceiveCompletions()}) {
            Fabric.Completions entries = (Fabric.Completions) queue;
            hash = mix(value(hash, entries.entries()), entries.isArmed() ? 1 : 2);
        }
        hash = bytes(bytes(hash, end.link.completionBuffer().segment()), end.link.controlBuffer());
        hash = mix(mix(mix(hash, end.port.channel.events()), end.coalesced.size()), 64 * end.jobs.size() + end.tasks
                .size());
        hash = mix(mix(hash, end.refusedCredits), (end.awaitsEvents ? 1 : 0) + (end.awaitsCompletions ? 2 : 0));
        return mix(mix(hash, end.expected.size()), end.asyncExpected.size());
    }

    private static long bytes(long hash, MemorySegment memory) {
        long all = hash;
        long[] words = memory.toArray(ValueLayout.JAVA_LONG); // which costs less than to read each from the segment
        for (int i = 0; i < words.length; i++) {
            if (words[i] != 0) {
                all = mix(all, words[i] ^ (long) i * Long.BYTES << 48);
            }
        }
        return all;
    }

    private static long object(long hash, Object of) {
        long all = hash;
        for (VarHandle field : FIELDS.computeIfAbsent(of.getClass(), ErmState::fields)) {
            all = value(all, field.get(of));
        }
        return all;
    }

    private static long value(long hash, Object value) {
        return switch (value) {
            case null -> mix(hash, -7);
            case Boolean b -> mix(hash, b ? 1 : 2);
            case Integer i -> mix(hash, i);
            case Long l -> mix(hash, l);
            case Enum<?> e -> mix(hash, e.name().hashCode());
            case int[] all -> mix(hash, Arrays.hashCode(all));
            case long[] all -> mix(hash, Arrays.hashCode(all));
            case boolean[] all -> mix(hash, Arrays.hashCode(all));
            case byte[] all -> mix(hash, Arrays.hashCode(all));
            case Semaphore s -> mix(hash, s.availablePermits());
            case ArrayDeque<?> queue -> {
                long all = mix(hash, queue.size());
                for (Object one : queue) {
                    all = object(all, one);
                }
                yield all;
            }
            default -> {
                if (value.getClass().getPackage() != ErmState.class.getPackage()) {
                    throw new IllegalStateException("it is not known what of it makes a difference: " + value
                            .getClass());
                }
                yield object(mix(hash, 3), value);
            }
        };
    }

    private static long mix(long hash, long value) {
        long h = (hash ^ value) * 0x9e37_79b9_7f4a_7c15L;
        h = (h ^ h >>> 29) * 0xbf58_476d_1ce4_e5b9L;
        return h ^ h >>> 32;
    }

    private static List<VarHandle> fields(Class<?> of) {
        Set<String> skipped = SKIPPED.getOrDefault(of, Set.of());
        skipped.forEach(name -> handle(of, name)); // all of them are there
        List<VarHandle> all = new ArrayList<>();
        for (Field field : of.getDeclaredFields()) { // not those of superclasses, which are identity
            if (!Modifier.isStatic(field.getModifiers()) && !skipped.contains(field.getName())) {
                all.add(handle(of, field.getName()));
            }
        }
        return all;
    }

    private static VarHandle handle(Class<?> of, String name) {
        try {
            return MethodHandles.privateLookupIn(of, MethodHandles.lookup())
                    .unreflectVarHandle(of.getDeclaredField(name));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
