// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A program that knows nothing of Verbena and prints the behaviour of classic sockets: {@code name = outcome}, one per
 * line. Run without the agent and with it, it has to print the same. Its arguments name groups; {@code DEADLOCK} in
 * place of an outcome is followed by the stack of the thread.
 */
final class Behaviours {
    private static final int LONGEST_SECONDS = 60;

    private final Map<String, Callable<?>> all = new LinkedHashMap<>();

    /** Runs a behaviour in a thread of each kind. */
    void inThreads(String name, Behaviour behaviour) {
        for (Threads kind : Threads.values()) {
            all.put(name + " (" + kind.name().toLowerCase(java.util.Locale.ROOT) + ")", () -> behaviour.run(kind));
        }
    }

    void add(String name, Callable<?> behaviour) {
        all.put(name, behaviour);
    }

    /** The behaviours to test, with threads of one kind. */
    @FunctionalInterface
    interface Behaviour {
        Object run(Threads threads) throws Exception;
    }

    /** Threads of both kinds. */
    enum Threads {
        PLATFORM,
        VIRTUAL;

        Thread start(Runnable run) {
            return this == VIRTUAL ? Thread.ofVirtual().start(run) : Thread.ofPlatform().daemon().start(run);
        }

        Waiting start(Callable<?> call) {
            CompletableFuture<Object> outcome = new CompletableFuture<>();
            CompletableFuture<Path> folder = new CompletableFuture<>();
            Thread t = start((Runnable) () -> {
                String said;
                try {
                    folder.complete(Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self"))));
                    said = String.valueOf(call.call());
                } catch (Throwable e) {
                    said = said(e);
                }
                outcome.complete(said + (Thread.currentThread().isInterrupted() ? ", interrupted" : ""));
            });
            return new Waiting(t, folder, outcome);
        }
    }

    /** A waiting thread, its folder in /proc if it is a platform thread, and its result. */
    record Waiting(Thread thread, CompletableFuture<Path> folder, CompletableFuture<Object> outcome) {
        /**
         * Waits until it waits or has finished: it must be found asleep several times in a row, since it sleeps more
         * briefly for the JVM.
         */
        Waiting begun() throws Exception {
            Path stat = folder.get(LONGEST_SECONDS, TimeUnit.SECONDS).resolve("stat");
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
            for (int asleep = 0; asleep < 50 && !outcome.isDone(); asleep = sleeps(stat) ? asleep + 1 : 0) {
                if (System.nanoTime() - end > 0) {
                    throw new TimeoutException("it does not come to wait");
                }
                Thread.sleep(1);
            }
            return this;
        }

        private boolean sleeps(Path stat) {
            if (thread.isVirtual()) {
                Thread.State s = thread.getState();
                return s == Thread.State.WAITING || s == Thread.State.TIMED_WAITING || s == Thread.State.BLOCKED;
            }
            try {
                String s = Files.readString(stat);
                return s.charAt(s.lastIndexOf(')') + 2) == 'S';
            } catch (IOException ended) {
                return false;
            }
        }

        /** Whether it ends by itself: a virtual thread soon, or a platform thread never. */
        boolean ends() throws Exception {
            try {
                outcome.get(thread.isVirtual() ? 30_000 : 200, TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException e) {
                return false;
            }
        }

        Object said() throws Exception {
            return outcome.get(LONGEST_SECONDS, TimeUnit.SECONDS);
        }
    }

    static String said(Throwable e) {
        // for null the JVM names a variable
        return e.getClass().getSimpleName() + (e instanceof NullPointerException ? "" : ": " + e.getMessage());
    }

    /** A call that usually fails. */
    static String said(Callable<?> call) {
        try {
            return String.valueOf(call.call());
        } catch (Throwable e) {
            return said(e);
        }
    }

    private void run() throws InterruptedException {
        for (Map.Entry<String, Callable<?>> e : all.entrySet()) {
            long start = System.nanoTime();
            Waiting w = Threads.PLATFORM.start(e.getValue());
            try {
                System.out.println(e.getKey() + " = " + w.outcome.get(LONGEST_SECONDS + 5, TimeUnit.SECONDS));
            } catch (ExecutionException | TimeoutException stuck) {
                System.out.println(e.getKey() + " = DEADLOCK");
                for (StackTraceElement f : w.thread.getStackTrace()) {
                    System.err.println("    " + f);
                }
            }
            if (Boolean.getBoolean("times")) {
                System.err.println((System.nanoTime() - start) / 1_000_000 + " ms " + e.getKey());
            }
        }
    }

    /** The start of the program. */
    public static void main(String[] groups) throws Exception {
        Behaviours b = new Behaviours();
        for (String g : groups) {
            switch (g) {
                case "waits" -> Waits.add(b);
                case "states" -> States.add(b);
                case "applications" -> Applications.add(b);
                case "factories" -> Factories.add(b);
                case "messages" -> Messages.add(b);
                case "one" -> {
                    b.add("transport", () -> {
                        try (Pair p = Pair.open()) {
                            return Pair.transport(p.client());
                        }
                    });
                    b.add("channel", () -> java.nio.channels.spi.SelectorProvider.provider().getClass()
                            .getSimpleName());
                }
                default -> throw new IllegalArgumentException(g);
            }
        }
        b.run();
        System.out.println("connections by stream: " + Pair.byStream() + " of " + Pair.made());
        System.exit(0);
    }
}
