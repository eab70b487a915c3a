// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.util.SplittableRandom;

import org.verbena.testkit.Jvm;

/** Threads of another process that only compute, so that the machine is loaded. */
final class BusyThreads implements AutoCloseable {
    private static final String STARTED = "busy";
    private static final int STEP = 1_000_000;

    @SuppressWarnings("unused") private static volatile long sum; // what nobody could read would not be computed

    private final Process process;

    private BusyThreads(Process process) {
        this.process = process;
    }

    /** Starts them; answers when they compute. */
    static BusyThreads start(int threads) throws IOException {
        Process p = new ProcessBuilder(Jvm.JAVA, "-XX:+UseSerialGC", "-cp", Jvm.classesOf(BusyThreads.class).toString(),
                BusyThreads.class.getName(), Integer.toString(threads)).redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String line = p.inputReader().readLine();
        if (!STARTED.equals(line)) {
            p.destroyForcibly();
            throw new IOException("the busy threads did not start: " + line);
        }
        return new BusyThreads(p);
    }

    long pid() {
        return process.pid();
    }

    /** That process; it ends with its input, which is when the other end of the pipe ends, in whatever way. */
    public static void main(String[] args) throws IOException {
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            Thread.ofPlatform().daemon().name("busy-" + i).start(BusyThreads::compute);
        }
        System.out.println(STARTED);
        while (System.in.read() >= 0) {
            // nothing comes before the end
        }
    }

    private static void compute() {
        SplittableRandom random = new SplittableRandom(1);
        while (true) {
            long s = 0;
            for (int i = 0; i < STEP; i++) {
                s += random.nextLong();
            }
            sum = s;
        }
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
