// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;
import org.verbena.tests.ProgramLane;
import org.verbena.tests.compat.EarlierSockets;

/**
 * The other process has no remote memory: its Verbena is an earlier one, which does not announce the feature, or the
 * jar is not on its path. This end gets the reason, whichever end has connected, and the stream continues over rings.
 */
@ProgramLane
@Timeout(300)
class ErmWithoutPeerTest {
    private static final String LATER_THAN_THE_TEST = "600000";
    private static final String AT_ONCE = "0";
    private static final int MUCH = 100_000;

    @TempDir static Path dir;
    private static String earlier;
    private static String withoutJar;

    @BeforeAll
    static void prepare() throws Exception {
        withoutJar = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1)).filter(
                p -> !p.contains("verbena-erm")).collect(Collectors.joining(File.pathSeparator));
        earlier = EarlierSockets.make(dir.resolve("earlier")) + File.pathSeparator + withoutJar;
    }

    /** The action at the end that requests remote memory. */
    @FunctionalInterface
    private interface Asking {
        void ask(Child asks, String answer) throws Exception;
    }

    /** Connects the two in one of the two ways; the result is the rest of the line {@code answer}. */
    private static void connected(boolean asksAfterAccept, String timeout, String peersPath, Asking asking)
            throws Exception {
        Child.Builder peers = Child.of(EchoPeer.class).classPath(peersPath);
        try (Child asks = ErmEnds.process().option("-D" + ErmPeer.TIMEOUT + "=" + timeout).start()) {
            if (asksAfterAccept) {
                int port = asks.tell("listen 127.0.0.1").awaitInt("PORT");
                try (Child peer = peers.start("connect", port)) {
                    assertThat(peer.await("REMOTE_MEMORY")).isEqualTo("absent");
                    asking.ask(asks, asks.tell("accept").await("ACCEPTED"));
                    ended(asks, peer);
                }
            } else {
                try (Child peer = peers.start("listen")) {
                    assertThat(peer.await("REMOTE_MEMORY")).isEqualTo("absent");
                    asking.ask(asks, asks.tell("connect 127.0.0.1 " + peer.awaitInt("PORT")).await("CONNECTED"));
                    ended(asks, peer);
                }
            }
        }
    }

    private static void ended(Child asks, Child peer) throws Exception {
        assertThat(asks.tell("echo " + MUCH).await("ECHOED")).isEqualTo("same by stream");
        asks.tell("close").await("CLOSED");
        peer.await("END");
        peer.end();
        asks.end();
    }

    /** The error arrives before the timeout. */
    @ParameterizedTest(name = "has accepted: {0}")
    @ValueSource(booleans = {true, false})
    void earlierVersionOfThePeerIsNamed(boolean asksAfterAccept) throws Exception {
        connected(asksAfterAccept, LATER_THAN_THE_TEST, earlier, (asks, answer) -> {
            assertThat(answer).isEqualTo("the other end has a Verbena without remote memory");
            assertThat(asks.tell("why").await("WHY")).isEqualTo(answer);
        });
    }

    /** As far as this end knows it may still request it, so this end waits for the time that the program gives. */
    @ParameterizedTest(name = "has accepted: {0}")
    @ValueSource(booleans = {true, false})
    void programWithoutTheJarIsReported(boolean asksAfterAccept) throws Exception {
        connected(asksAfterAccept, AT_ONCE, withoutJar, (asks, answer) -> {
            assertThat(answer).isIn("the handshake of the connection is not complete yet",
                    "the other end's program has not asked for remote memory");
            String[] why = new String[1];
            Await.until(Child.LIMIT, () -> {
                why[0] = asks.tell("why").await("WHY");
                return why[0].equals("the other end's program has not asked for remote memory");
            }, () -> why[0]);
        });
    }
}
