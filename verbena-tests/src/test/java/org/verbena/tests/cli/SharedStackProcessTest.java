// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.testkit.TapInterface;
import org.verbena.testkit.TwoHosts;
import org.verbena.tests.NetworkLane;
import org.verbena.tests.faults.Users;

/** {@code verbena netcat} as a process of its own on an interface that it shares with the kernel, and the kernel of another host. */
@NetworkLane
class SharedStackProcessTest {
    private static final int BYTES = 20_000_000;

    @TempDir Path dir;

    private static void onTwoHosts(TwoHosts.Action action) throws Exception {
        Users.needsRoot("make network interfaces");
        CommandProcess.prepare();
        TwoHosts.run(NetworkNamespace::callInNew, action);
    }

    private static byte[] bytes() {
        byte[] b = new byte[BYTES];
        new Random(9).nextBytes(b);
        return b;
    }

    private static boolean hasProgram() throws Exception {
        return TapInterface.ip("link", "show", "vrb1").contains("xdp");
    }

    @Test
    void aFileGoesOutAndAnotherOneComes() throws Exception {
        onTwoHosts(peer -> {
            InetAddress there = InetAddress.getByName(TwoHosts.PEER);
            Path in = Files.write(dir.resolve("in"), bytes());
            Path out = dir.resolve("out");
            try (ServerSocket server = peer.call(() -> new ServerSocket(0, 8, there))) {
                Future<Boolean> same = peer.start(() -> {
                    try (Socket s = server.accept()) {
                        byte[] got = s.getInputStream().readAllBytes();
                        s.getOutputStream().write(got);
                        return Arrays.equals(got, bytes());
                    }
                });
                try (NetcatProcess n = NetcatProcess.start(Redirect.from(in.toFile()), Redirect.to(out.toFile()),
                        "xdp_vrb1", "shared", TwoHosts.PEER, String.valueOf(server.getLocalPort()))) {
                    n.end(0);
                }
                assertThat(same.get(1, TimeUnit.MINUTES)).isTrue();
            }
            assertThat(Files.mismatch(in, out)).isEqualTo(-1);
            assertThat(hasProgram()).isFalse();
        });
    }

    @Test
    void whenItIsKilledTheKernelHasItsPortsAgainAndAnswersThePeer() throws Exception {
        onTwoHosts(peer -> {
            InetAddress here = InetAddress.getByName(TwoHosts.OURS);
            try (NetcatProcess n = NetcatProcess.start("-l", "-v", "xdp_vrb1", "shared", "7000")) {
                n.awaitListening(TwoHosts.OURS, "vrb1");
                assertThat(hasProgram()).isTrue();
                Future<Integer> cut = peer.start(() -> {
                    try (Socket s = new Socket(here, 7000)) {
                        byte[] b = new byte[1 << 16];
                        while (true) {
                            s.getOutputStream().write(b);
                        }
                    }
                });
                assertThat(n.process().getInputStream().readNBytes(1 << 20)).hasSize(1 << 20);
                n.process().destroyForcibly().waitFor();
                assertThatThrownBy(() -> cut.get(1, TimeUnit.MINUTES)).hasCauseInstanceOf(SocketException.class);
            }
            Await.until("the interface has no program any more", () -> !hasProgram());
            try (ServerSocket s = new ServerSocket(7000, 8, here)) {
                Future<Integer> answer = peer.start(() -> {
                    try (Socket c = new Socket(here, 7000)) {
                        return c.getInputStream().read();
                    }
                });
                try (Socket a = s.accept()) {
                    a.getOutputStream().write(42);
                    assertThat(answer.get(1, TimeUnit.MINUTES)).isEqualTo(42);
                }
            }
        });
    }
}
