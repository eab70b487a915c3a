// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import jdk.internal.access.JavaNioAccess;
import jdk.internal.access.SharedSecrets;
import org.jspecify.annotations.Nullable;

/**
 * Memory of an operation whose arenas stay open until the operation ends, as with the JDK's own channels:
 * {@code Arena.close()} fails meanwhile. To take hold also throws what the JDK throws for memory that is not
 * accessible, before the first byte is moved: that of an arena that is closed, or another thread's. Thread-safe.
 *
 * <p>The one public way to hold an arena is a downcall, which has to end before anything else is done. So this takes
 * the way of the JDK's channels, package {@code jdk.internal.access}. Where that is not exported to this module memory
 * is checked, and not held: closing an arena under an operation makes that fail at its next access.
 */
public final class MemoryHold {
    private static final boolean HOLDS = Object.class.getModule().isExported("jdk.internal.access", MemoryHold.class
            .getModule());

    private final ByteBuffer buffer;
    private final @Nullable MemoryHold rest;

    private MemoryHold(ByteBuffer buffer, @Nullable MemoryHold rest) {
        this.buffer = buffer;
        this.rest = rest;
    }

    /** Loaded only where the package is exported. */
    private static final class Jdk {
        static final JavaNioAccess NIO = SharedSecrets.getJavaNioAccess();

        private Jdk() {}
    }

    /** Whether arenas are held in this process, and not only checked. */
    public static boolean holds() {
        return HOLDS;
    }

    /**
     * Takes hold of what remains in a buffer; nothing is allocated.
     *
     * @return whether there is something to {@linkplain #release(ByteBuffer) release}
     * @throws IllegalStateException if its arena is closed
     * @throws WrongThreadException if its arena is another thread's
     */
    public static boolean take(ByteBuffer buffer) {
        if (!buffer.hasRemaining()) {
            return false; // as the JDK's channels, which never check it
        }
        if (!HOLDS) {
            buffer.get(buffer.position());
            return false;
        }
        if (!Jdk.NIO.hasSession(buffer)) {
            return false;
        }
        Jdk.NIO.acquireSession(buffer);
        return true;
    }

    /** Lets go of what {@link #take(ByteBuffer)} has taken. */
    public static void release(ByteBuffer buffer) {
        Jdk.NIO.releaseSession(buffer);
    }

    /**
     * Takes hold of buffers, of all or of none.
     *
     * @return what to {@linkplain #release(MemoryHold) release}; null if no buffer is of an arena
     * @throws NullPointerException if one is null
     * @throws IllegalStateException if the arena of one is closed
     * @throws WrongThreadException if the arena of one is another thread's
     */
    public static @Nullable MemoryHold take(ByteBuffer[] buffers, int offset, int length) {
        MemoryHold held = null;
        for (int i = offset; i < offset + length; i++) {
            held = add(buffers[i], held);
        }
        return held;
    }

    private static @Nullable MemoryHold add(ByteBuffer buffer, @Nullable MemoryHold held) {
        try {
            if (!HOLDS) {
                take(buffer);
                return held;
            }
            if (!Jdk.NIO.hasSession(buffer)) {
                return held;
            }
            Jdk.NIO.acquireSession(buffer);
            return new MemoryHold(buffer, held);
        } catch (RuntimeException e) {
            release(held);
            throw e;
        }
    }

    /**
     * Takes hold for an operation that other threads do.
     *
     * @param many null for one
     * @throws IllegalStateException for memory of a confined arena, too; else as the others
     */
    public static @Nullable MemoryHold takeForOthers(@Nullable ByteBuffer one, ByteBuffer @Nullable [] many) {
        if (many == null) {
            return one == null ? null : addForOthers(one, null);
        }
        MemoryHold held = null;
        for (ByteBuffer b : many) {
            held = addForOthers(b, held);
        }
        return held;
    }

    private static @Nullable MemoryHold addForOthers(ByteBuffer buffer, @Nullable MemoryHold held) {
        if (HOLDS ? Jdk.NIO.isThreadConfined(buffer) : !MemorySegment.ofBuffer(buffer).isAccessibleBy(Probe.THREAD)) {
            release(held);
            throw new IllegalStateException("Confined session not supported");
        }
        return add(buffer, held);
    }

    /** A thread that owns no arena. */
    private static final class Probe {
        static final Thread THREAD = Thread.ofPlatform().unstarted(() -> {});

        private Probe() {}
    }

    /**
     * Takes hold of native memory.
     *
     * @throws IllegalStateException if its arena is closed
     * @throws WrongThreadException if its arena is another thread's
     */
    public static @Nullable MemoryHold take(MemorySegment memory) {
        return HOLDS ? add(memory.asSlice(0, 0).asByteBuffer(), null) : null;
    }

    /** Lets go. Once for each that was taken; null is nothing. */
    public static void release(@Nullable MemoryHold held) {
        for (MemoryHold h = held; h != null; h = h.rest) {
            Jdk.NIO.releaseSession(h.buffer);
        }
    }
}
