// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.tests.apps.App.By;
import org.verbena.tests.faults.Proc;

/** Idle applications with connections use no more processor time under Verbena than without it. */
class IdleAppsTest {
    private static final Duration LONGEST = Duration.ofSeconds(45);
    private static final Duration MEASURED = Duration.ofSeconds(6);
    /** What a tick of the clock here or there may make. */
    private static final long SLACK_MILLIS = 60;
    private static final double MOST = 1.3;

    @TempDir static Path dir;

    private record Couple(App verbena, App plain) {}

    /** All of them in the same seconds, so that other load on the machine affects all. */
    private static void compare(Couple... couples) {
        // the start-up work of a program ends at some time
        List<String> more = List.of("nothing was measured");
        for (long end = System.nanoTime() + LONGEST.toNanos(); !more.isEmpty() && System.nanoTime() - end < 0;) {
            more = measure(couples);
        }
        assertThat(more).isEmpty();
    }

    /** Descriptions of those that use more than they should. */
    private static List<String> measure(Couple... couples) {
        List<String> more = new ArrayList<>();
        List<long[]> before = Stream.of(couples).map(IdleAppsTest::cpuMillis).toList();
        Await.during(MEASURED);
        List<long[]> after = Stream.of(couples).map(IdleAppsTest::cpuMillis).toList();
        for (int i = 0; i < couples.length; i++) {
            long v = after.get(i)[0] - before.get(i)[0];
            long p = after.get(i)[1] - before.get(i)[1];
            System.out.println("IdleAppsTest: " + couples[i].verbena + " " + v + " ms in " + MEASURED.toSeconds()
                    + " s, plain " + p + " ms");
            if (v > MOST * p + SLACK_MILLIS) {
                more.add(v + " ms of processor time of " + couples[i].verbena + "; plain: " + p + " ms");
            }
        }
        return more;
    }

    private static long[] cpuMillis(Couple c) {
        return new long[] {Proc.cpuMillis(c.verbena.pid()), Proc.cpuMillis(c.plain.pid())};
    }

    @Test
    void hundredIdleConnectionsOfNettyUseNoCpu() throws Exception {
        String server = "org.verbena.apps.netty.EchoServer";
        String idle = "org.verbena.apps.netty.IdleClient";
        try (App ours = App.java(dir, By.VERBENA).quickStart().start(server);
                App plain = App.java(dir, By.PLAIN).quickStart().start(server);
                App ourClient = App.java(dir, By.VERBENA).quickStart().start(idle, ours.awaitInt("port"), 100);
                App plainClient = App.java(dir, By.PLAIN).quickStart().start(idle, plain.awaitInt("port"), 100)) {
            ourClient.go(ourClient, ours).await("idle");
            plainClient.go().await("idle");
            compare(new Couple(ours, plain), new Couple(ourClient, plainClient));
            ourClient.end();
            plainClient.end();
            ours.end();
            plain.end();
            ours.summary().byRing();
            ourClient.summary().byRing();
        }
    }

    /** By default Netty shows it. */
    @Thorough
    @Test
    void idleKafkaBrokerAndConsumerUseNoCpu() throws Exception {
        try (Broker ours = new Broker(dir, By.VERBENA);
                Broker plain = new Broker(dir, By.PLAIN);
                App ourServer = ours.start();
                App plainServer = plain.start()) {
            String idle = "org.verbena.apps.kafka.IdleConsumer";
            try (App ourClient = App.java(dir, By.VERBENA).quickStart().start(idle, ours.port());
                    App plainClient = App.java(dir, By.PLAIN).quickStart().start(idle, plain.port())) {
                ourClient.await("idle");
                plainClient.await("idle");
                compare(new Couple(ourServer, plainServer), new Couple(ourClient, plainClient));
                ourClient.end();
                plainClient.end();
                // Little is said while all is idle, so that what TCP carried in the beginning is more than a hundredth.
                ourClient.summary().byTcpAndRing(0, 1, Reason.closedEarly(2));
            }
            ourServer.terminate(143);
            plainServer.terminate(143);
            // The test that waits for the port is no Verbena.
            ourServer.summary().byTcpAndRing(0, 1, Reason.closedEarly(4), Reason.plainPeersUpTo(1));
        }
    }
}
