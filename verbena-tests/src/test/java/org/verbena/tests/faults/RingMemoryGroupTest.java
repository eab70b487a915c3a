// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Await;
import org.verbena.tests.BesideOthers;
import org.verbena.tests.cli.CommandProcess;

/** An unchanged program under the agent in a control group: rings take no more memory than the program can spare. */
@BesideOthers
class RingMemoryGroupTest {
    private static final long LIMIT = 300L << 20;
    private static final int CONNECTIONS = 120;
    private static final int PART = 8;
    private static final int HEAP = 120;
    /** Of each connection: a small ring, with those before it and what belongs to it. */
    private static final long SMALL = 128 << 10;
    /** The memory of a session without connections. */
    private static final long LITTLE = 1 << 20;

    @Test
    void slowServerKeepsItsMemory(@TempDir Path dir) throws Exception {
        SocketPrograms programs = new SocketPrograms(dir, SlowPeer.class);
        try (MemoryGroup group = MemoryGroup.of(LIMIT);
                Child server = programs.with("quiet,stream.patience=60000").under(group.enter()).option("-Xmx160m")
                        .start();
                Child client = programs.with("quiet,stream.patience=60000").start()) {
            String port = server.await("PORT");
            client.await("PORT");
            server.tell("accept " + CONNECTIONS);
            client.tell("connect " + port + " " + CONNECTIONS).await("CONNECTED");
            server.await("ACCEPTED");
            assertThat(client.tell("decide").await("DECIDED")).isEqualTo(String.valueOf(CONNECTIONS));
            String written = client.tell("fill").await("FILLED");
            assertThat(server.tell("heap " + HEAP).awaitEither("HEAP", "\u0000")).isEqualTo("HEAP " + HEAP);

            assertThat(number(server, "memoryLimit")).isEqualTo(LIMIT);
            assertThat(number(server, "ringLimit")).isEqualTo(LIMIT / PART);
            assertThat(number(server, "ringBytes")).isBetween(LITTLE, LIMIT / PART + CONNECTIONS * SMALL);
            assertThat(number(server, "SOCKETS_RINGS_REFUSED")).isPositive();
            String text = CommandProcess.run("stat", Long.toString(server.pid()), "--once", "--view", "queue").out();
            assertThat(text).contains("(an eighth of the control group's limit, ").contains(" refused");
            assertThat(number(client, "memoryLimit")).as("of the one outside").isNotEqualTo(LIMIT);

            assertThat(server.tell("read").await("READ")).isEqualTo(written);
            client.tell("close").await("CLOSED");
            server.tell("close").await("CLOSED");
            Await.until(Child.LIMIT, () -> number(server, "ringBytes") <= LITTLE && number(client,
                    "ringBytes") <= LITTLE,
                    () -> "the memory of rings is not given back");
        }
    }

    /** Counters of the object for all sockets; the file appears soon after the first socket. */
    private static long number(Child of, String name) throws Exception {
        Pattern wanted = Pattern.compile("\"" + name + "\" *: *([0-9]+)");
        for (long end = System.nanoTime() + Child.LIMIT.toNanos();;) {
            String json = CommandProcess.runHosted("stat", Long.toString(of.pid()), "--once", "--json").out();
            Matcher m = wanted.matcher(json);
            if (m.find()) {
                return Long.parseLong(m.group(1));
            }
            assertThat(System.nanoTime()).as(name + " in " + json).isLessThan(end);
            Thread.sleep(100);
        }
    }
}
