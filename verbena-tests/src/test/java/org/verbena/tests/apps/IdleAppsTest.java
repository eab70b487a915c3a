package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.apps.App.By;
import org.verbena.tests.faults.Proc;
import org.verbena.tests.faults.Wait;

/** Applications that have connections and nothing to do use no more processor time under Verbena than without it. */
class IdleAppsTest {
    private static final Duration SETTLE = Duration.ofSeconds(3);
    private static final Duration MEASURED = Duration.ofSeconds(6);
    /** What a tick of the clock here or there may make. */
    private static final long SLACK_MILLIS = 60;
    private static final double MOST = 1.3;

    @TempDir static Path dir;

    private static void compare(App verbena, App plain) {
        Wait.during(SETTLE);
        long v = Proc.cpuMillis(verbena.pid());
        long p = Proc.cpuMillis(plain.pid());
        Wait.during(MEASURED);
        v = Proc.cpuMillis(verbena.pid()) - v;
        p = Proc.cpuMillis(plain.pid()) - p;
        System.out.println("IdleAppsTest: " + verbena + " " + v + " ms in " + MEASURED.toSeconds() + " s, plain " + p
                + " ms");
        assertThat((double) v).as("ms of processor time; plain: %d ms", p).isLessThanOrEqualTo(MOST * p + SLACK_MILLIS);
    }

    @Test
    void nettyWithAHundredConnections() throws Exception {
        String server = "org.verbena.apps.netty.EchoServer";
        String idle = "org.verbena.apps.netty.IdleClient";
        try (App ours = App.java(dir, By.VERBENA).start(server);
                App plain = App.java(dir, By.PLAIN).start(server);
                App ourClient = App.java(dir, By.VERBENA).start(idle, ours.awaitInt("port"), 100);
                App plainClient = App.java(dir, By.PLAIN).start(idle, plain.awaitInt("port"), 100)) {
            ourClient.await("idle");
            plainClient.await("idle");
            compare(ours, plain);
            compare(ourClient, plainClient);
            ourClient.end();
            plainClient.end();
            ours.end();
            plain.end();
            ours.summary().byRing();
        }
    }

    @Test
    void aKafkaBrokerAndAConsumer() throws Exception {
        Broker ours = new Broker(dir, By.VERBENA);
        Broker plain = new Broker(dir, By.PLAIN);
        try (App ourServer = ours.start(); App plainServer = plain.start()) {
            String idle = "org.verbena.apps.kafka.IdleConsumer";
            try (App ourClient = App.java(dir, By.VERBENA).start(idle, ours.port());
                    App plainClient = App.java(dir, By.PLAIN).start(idle, plain.port())) {
                ourClient.await("idle");
                plainClient.await("idle");
                compare(ourServer, plainServer);
                ourClient.end();
                plainClient.end();
            }
            ourServer.terminate(143);
            plainServer.terminate(143);
        }
    }
}
