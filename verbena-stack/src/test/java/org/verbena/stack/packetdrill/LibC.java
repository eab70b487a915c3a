// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Functions of the C library, whose results are as of system calls: negative ones are error numbers. */
final class LibC {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Map<String, MethodHandle> FUNCTIONS = new ConcurrentHashMap<>();

    private LibC() {}

    /** Calls a function that takes integers and pointers, and returns an int, or a long that fits into one. */
    static long call(String name, long... arguments) {
        MethodHandle function = FUNCTIONS.computeIfAbsent(name, n -> link(n, arguments.length));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            Object[] all = new Object[arguments.length + 1];
            all[0] = state;
            for (int i = 0; i < arguments.length; i++) {
                all[i + 1] = arguments[i];
            }
            int result = (int) (long) function.invokeWithArguments(all);
            return result < 0
                    ? -(int) Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement(
                            "errno")).get(state, 0L)
                    : result;
        } catch (Throwable e) {
            throw new AssertionError(name, e);
        }
    }

    private static MethodHandle link(String name, int arguments) {
        MemoryLayout[] types = new MemoryLayout[arguments];
        Arrays.fill(types, ValueLayout.JAVA_LONG);
        return LINKER.downcallHandle(LINKER.defaultLookup().find(name).orElseThrow(), FunctionDescriptor.of(
                ValueLayout.JAVA_LONG, types), Linker.Option.captureCallState("errno"));
    }
}
