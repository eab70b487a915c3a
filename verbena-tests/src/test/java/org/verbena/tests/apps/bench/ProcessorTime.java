// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Processor time of processes, user and system, in seconds. */
final class ProcessorTime {
    private static final double TICKS_A_SECOND = 100; // USER_HZ, a constant of the kernel's interface on all of Java's platforms
    /** Of the fields after the name, which may have blanks in it. */
    private static final int USER_OF_ENDED = 13;
    private static final double NANOS_A_SECOND = 1e9;

    /** {@code int clock_getcpuclockid(pid_t, clockid_t *)}. */
    private static final MethodHandle CLOCK = function("clock_getcpuclockid");
    /** {@code int clock_gettime(clockid_t, struct timespec *)}. */
    private static final MethodHandle TIME = function("clock_gettime");

    private ProcessorTime() {}

    private static MethodHandle function(String name) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    }

    /** Of a process that runs, with the threads of it that have ended, to the nanosecond: a program at rest uses few of proc(5)'s ticks. */
    static double of(long pid) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment clock = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment time = arena.allocate(ValueLayout.JAVA_LONG, 2);
            if (call(CLOCK, Math.toIntExact(pid), clock) != 0 || call(TIME, clock.get(ValueLayout.JAVA_INT, 0),
                    time) != 0) {
                throw new IOException("process " + pid + " has ended");
            }
            return time.getAtIndex(ValueLayout.JAVA_LONG, 0) + time.getAtIndex(ValueLayout.JAVA_LONG, 1)
                    / NANOS_A_SECOND;
        }
    }

    /**
     * Of a JVM that runs and keeps its compiler's threads, without the time of these: they compile again now and then, each time
     * as much work as seconds of light load. For differences only.
     */
    static double withoutCompiler(long pid) throws IOException {
        long compiler = 0;
        Path threads = Path.of("/proc/" + pid + "/task");
        try (Stream<Path> all = Files.list(threads)) {
            for (Path thread : all.toList()) {
                compiler += isCompiler(thread) ? nanos(thread) : 0;
            }
        }
        return of(pid) - compiler / NANOS_A_SECOND;
    }

    private static boolean isCompiler(Path thread) {
        try {
            String name = Files.readString(thread.resolve("comm")); // 15 characters of the name at most
            return name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler");
        } catch (IOException ended) {
            return false; // no thread of the compiler's
        }
    }

    /** The first field of {@code schedstat}: Documentation/scheduler/sched-stats.rst of the kernel. */
    private static long nanos(Path thread) throws IOException {
        return Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ", -1)[0]);
    }

    private static int call(MethodHandle function, int number, MemorySegment result) {
        try {
            return (int) function.invokeExact(number, result);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** Of all children of this process that have ended: proc(5), {@code stat}. */
    static double ofEnded() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[USER_OF_ENDED]) + Long.parseLong(fields[USER_OF_ENDED + 1])) / TICKS_A_SECOND;
    }
}
