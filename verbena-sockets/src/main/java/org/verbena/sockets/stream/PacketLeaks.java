// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.ref.Cleaner;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.extra.ExtraApi;

/** Finds packets that nobody frees: the garbage collector reports objects without which a program cannot. Thread-safe. */
public final class PacketLeaks {
    private static final Cleaner CLEANER = Cleaner.create();

    private PacketLeaks() {}

    /** The packets that a holder has received last; for the thread that receives, and after it for the one that cleans. */
    static final class Last implements Runnable {
        private @Nullable RingPackets from;
        private int first;
        private int count;

        void set(@Nullable RingPackets of, int number, int packets) {
            from = of;
            first = number;
            count = packets;
        }

        @Override
        public void run() {
            RingPackets of = from;
            if (of != null) {
                of.holderGone(first, count);
            }
        }
    }

    static void watch(PacketHolder holder, Last last) {
        CLEANER.register(holder, last);
    }

    /** When a channel is unreachable, frees what it has left. */
    static void watch(Object channel, RingPackets packets) {
        CLEANER.register(channel, packets::channelGone);
    }

    /** The line of the program that calls the Extra API, as a stack trace has it. */
    static String caller() {
        return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk(frames -> frames
                .dropWhile(f -> !isApi(f)).dropWhile(PacketLeaks::isApi)
                .findFirst().map(f -> f.toStackTraceElement().toString()).orElse("an unknown place"));
    }

    private static boolean isApi(StackWalker.StackFrame frame) {
        return ExtraApi.class.isAssignableFrom(frame.getDeclaringClass());
    }
}
