// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The second JVM: takes {@link ProcessJob}s from standard input, does them one after the other and writes the results
 * to standard output, until its input ends. Started by {@link PeerProcess}.
 */
final class ConformancePeer {
    private static final Map<Integer, End> ENDS = new ConcurrentHashMap<>();
    private static final AtomicInteger IDS = new AtomicInteger();

    private ConformancePeer() {}

    /** A result, or what was thrown. */
    record Reply(boolean failed, Object value) implements java.io.Serializable {}

    static int add(End end) {
        int id = IDS.incrementAndGet();
        ENDS.put(id, end);
        return id;
    }

    static End end(int id) {
        return Objects.requireNonNull(ENDS.get(id), "this end is closed");
    }

    static End remove(int id) {
        return Objects.requireNonNull(ENDS.remove(id), "this end is closed");
    }

    /** Whether the jobs have closed all ends, and started nothing that goes on. */
    static boolean isIdle() {
        return ENDS.isEmpty() && !BackgroundJob.areRunning();
    }

    public static void main(String[] args) throws Exception {
        OutputStream replies = System.out;
        System.setOut(new PrintStream(System.err, true)); // nothing but replies on the real one
        ConformanceFixture fixture = (ConformanceFixture) instantiate(args[0]);
        ObjectOutputStream out = new ObjectOutputStream(replies);
        out.flush();
        ObjectInputStream in = new ObjectInputStream(new BufferedInputStream(System.in));
        try {
            while (true) {
                out.writeObject(serialisable(run((ProcessJob<?>) in.readObject(), fixture)));
                out.reset();
                out.flush();
            }
        } catch (EOFException parentHasFinished) {
            System.exit(0);
        }
    }

    private static Object instantiate(String name) throws ReflectiveOperationException {
        var constructor = Class.forName(name).getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    private static Reply run(ProcessJob<?> job, ConformanceFixture fixture) {
        try {
            return new Reply(false, job.run(fixture));
        } catch (Exception | AssertionError | LinkageError e) {
            return new Reply(true, e);
        }
    }

    private static Reply serialisable(Reply r) throws IOException {
        if (r.value() instanceof Boolean || r.value() instanceof Number || r.value() instanceof byte[]) {
            return r; // nearly all are, and a trial doubles the work
        }
        try (ObjectOutputStream trial = new ObjectOutputStream(new ByteArrayOutputStream())) {
            trial.writeObject(r);
            return r;
        } catch (NotSerializableException e) {
            return new Reply(true, new AssertionError("cannot be sent back: " + r.value() + " because of " + e));
        }
    }
}
