// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.verbena.sockets.stream.SwitchModel.End;
import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.stream.memory.Memory;

/**
 * The state of a {@link SwitchModel} as a number, the same for states that go on alike: all fields of the streams and
 * of what they are made of, the words in the control blocks, the bytes in TCP, and what the model itself records.
 *
 * <p>A field counts unless it is named here: those with places in memory, those that only count, and how often an
 * end has asked to be woken, of which it matters whether it is answered. The two ends are alike, so which is which does
 * not matter either. The bytes themselves follow from their positions.
 */
final class ModelState {
    private static final Map<Class<?>, List<String>> SKIPPED = Map.ofEntries(
            Map.entry(RingStream.class, List.of("tcp", "handshake", "listener", "rendezvous", "taken", "doorbells",
                    "files")),
            Map.entry(Inbound.class, List.of("tcp", "ending", "changed", "bell")),
            Map.entry(RingReader.class, List.of("doorbells", "ending", "start", "armSequence", "seenSpaceArm")),
            Map.entry(Outbound.class, List.of("tcp", "waited")),
            Map.entry(CarrierDecision.class, List.of("tcp")),
            Map.entry(RingWriter.class, List.of("own", "ending", "direct", "peerWaitsOver", "ringKey", "ringAddress",
                    "seenDataArm",
                    "armSequence", "bytes", "stalls")),
            Map.entry(PeerBlock.class, List.of("own", "key", "address", "index", "view", "bell")),
            Map.entry(Ending.class, List.of("tcp", "out", "changed", "since")),
            Map.entry(Doorbells.class, List.of("tcp", "lock", "bytes", "taken")),
            Map.entry(Link.class, List.of("session", "index", "blockMemory", "block")),
            Map.entry(FakeTcp.class, List.of("peer", "whileReading")),
            Map.entry(End.class, List.of("session", "other", "offered", "released")));

    /**
     * Words that are taken as they are; the others are addresses, or are compared together with the ends that have seen
     * them.
     */
    private static final int[] WORDS = {BlockLayout.PRODUCED, BlockLayout.LANE, BlockLayout.LAP, BlockLayout.END,
        BlockLayout.WANTED,
        BlockLayout.CONSUMED, BlockLayout.GRANTED, BlockLayout.CLOSED, BlockLayout.URGENT};

    private static final VarHandle WRITER = handle(Outbound.class, "ring");
    private static final VarHandle READER = handle(Inbound.class, "ring");
    private static final VarHandle SEEN_DATA_ARM = handle(RingWriter.class, "seenDataArm");
    private static final VarHandle SEEN_SPACE_ARM = handle(RingReader.class, "seenSpaceArm");
    private static final VarHandle CALLS = handle(Session.class, "calls");

    private static final Map<Class<?>, List<VarHandle>> FIELDS = new HashMap<>();

    private ModelState() {}

    /** For one thread at a time. */
    static long of(SwitchModel model) {
        long a = of(model.a);
        long b = of(model.b);
        return mix(mix(0, Math.min(a, b)), Math.max(a, b));
    }

    private static long of(End end) {
        long hash = object(1, end);
        hash = mix(hash, (long) CALLS.get(end.session) == end.session.ready().answered() ? 1 : 2);
        if (end.link != null) {
            for (int word : WORDS) {
                hash = mix(hash, BlockLayout.getAcquire(end.link.block, word));
            }
            hash = mix(hash, answer(end.link, BlockLayout.DATA_ARM, SEEN_DATA_ARM,
                    WRITER.get(end.stream.out())));
            hash = mix(hash, answer(end.link, BlockLayout.SPACE_ARM, SEEN_SPACE_ARM,
                    READER.get(end.stream.in())));
        }
        return hash;
    }

    /** Whether the peer has armed, and been signalled since. */
    private static int answer(Link link, int word, VarHandle seen, Object by) {
        long arm = BlockLayout.getAcquire(link.block, word);
        return arm == 0 ? 0 : by != null && arm == (long) seen.get(by) ? 1 : 2;
    }

    private static long object(long hash, Object of) {
        long all = hash;
        for (VarHandle field : FIELDS.computeIfAbsent(of.getClass(), ModelState::fields)) {
            all = value(all, field.get(of));
        }
        return all;
    }

    private static long value(long hash, Object value) {
        return switch (value) {
            case null -> mix(hash, -7);
            case Boolean b -> mix(hash, b ? 1 : 2);
            case Byte b -> mix(hash, b);
            case Integer i -> mix(hash, i);
            case Long l -> mix(hash, l);
            case Enum<?> e -> mix(hash, e.name().hashCode());
            case Throwable t -> mix(hash, String.valueOf(t.getMessage()).hashCode());
            case ByteBuffer b -> mix(hash, b.remaining());
            case Memory m -> mix(hash, m.size());
            case ArrayDeque<?> queue -> {
                long all = mix(hash, queue.size());
                for (Object one : queue) {
                    all = value(all, one);
                }
                yield all;
            }
            default -> {
                if (!value.getClass().getPackageName().startsWith(ModelState.class.getPackageName())) {
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
        List<String> skipped = SKIPPED.getOrDefault(of, List.of());
        skipped.forEach(name -> handle(of, name)); // all of them are there
        List<VarHandle> all = new ArrayList<>();
        for (Field field : of.getDeclaredFields()) { // not those of superclasses, which have its identity and age
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
