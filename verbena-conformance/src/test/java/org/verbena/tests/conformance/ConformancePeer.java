// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.ObjectInputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The second JVM: takes jobs from standard input, each after the number of the end that it is for, or after 0 for a {@link
 * ProcessJob}, does them one after the other and writes the {@link Replies} to standard output, until its input ends. Started by
 * {@link PeerProcess}.
 */
final class ConformancePeer {
    private static final Map<Integer, End> ENDS = new ConcurrentHashMap<>();
    private static final AtomicInteger IDS = new AtomicInteger();

    private ConformancePeer() {}

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
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(replies));
        Replies.write(out, new Replies.Reply(false, true)); // it has started
        ObjectInputStream in = new ObjectInputStream(new BufferedInputStream(System.in));
        try {
            while (true) {
                int end = in.readInt();
                Replies.write(out, run(end, in.readObject(), fixture));
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

    private static Replies.Reply run(int end, Object job, ConformanceFixture fixture) {
        try {
            return new Replies.Reply(false, end == 0
                    ? ((ProcessJob<?>) job).run(fixture)
                    : ((Job<?>) job).run(end(end)));
        } catch (Exception | AssertionError | LinkageError e) {
            return new Replies.Reply(true, e);
        }
    }
}
