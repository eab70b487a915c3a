// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Finished;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;

/** Processes of an ordinary user, each with a stack on a TAP interface of its own, and the kernel between them. */
class StackProcessesTest {
    @TempDir static Path dir;

    private interface Action {
        void run() throws Exception;
    }

    private static Finished run(String... command) throws Exception {
        return Finished.run(command);
    }

    private static String done(String... command) throws Exception {
        Finished f = run(command);
        assertThat(f.code()).as(String.join(" ", command) + ": " + f.output()).isZero();
        return f.output();
    }

    /** With two interfaces: the kernel is 10.81.1.1 on vrb1, 10.81.2.1 on vrb2, and forwards. */
    private static void inNamespace(Action action) throws Exception {
        Users.needsRoot("make network interfaces");
        TapInterface.require();
        NetworkNamespace.callInNew(() -> {
            for (String n : new String[] {"1", "2"}) {
                TapInterface.addUp("vrb" + n, "10.81." + n + ".1/24", "user", "nobody");
            }
            Files.writeString(Path.of("/proc/sys/net/ipv4/ip_forward"), "1");
            action.run();
            return true;
        });
    }

    private static Child start(String n, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-c",
                "mount -t tmpfs tmpfs /dev/net && mknod -m 666 /dev/net/tun c 10 200 && exec \"$@\"", "sh"));
        Stream.of("setpriv", "--reuid=" + Users.NOBODY, "--regid=" + Users.NOBODY, "--clear-groups", "--no-new-privs")
                .forEach(command::add);
        List<String> words = new ArrayList<>(List.of("tap_vrb" + n, "10.81." + n + ".2/24", "10.81." + n + ".1"));
        words.addAll(List.of(more));
        return Child.of(StackPeer.class).classPath(Users.jars(dir)).under(command.toArray(String[]::new)).start(words
                .toArray());
    }

    /** Through the kernel that forwards, whose time-to-live, checksums and fragments are its own. */
    @Test
    void twoStacksTalkThroughAForwardingKernel() throws Exception {
        inNamespace(() -> {
            try (Child echo = start("1")) {
                assertThat(echo.await("CapEff")).isEqualTo("0000000000000000");
                echo.await("ready");
                LinkState.awaitUp("vrb1");
                try (Child asking = start("2", "10.81.1.2", "500")) {
                    assertThat(asking.await("answered")).isEqualTo("500");
                    assertThat(asking.await("echoed")).isEqualTo("3000000");
                    assertThat(asking.awaitExit()).isZero();
                }
                done("ping", "-c", "3", "-i", "0.01", "-w", "20", "-s", "3000", "10.81.1.2");
            }
        });
    }

    /** Sends and receives until it is there: a datagram may be lost on a loaded machine. */
    private static boolean echoed(DatagramChannel c, ByteBuffer sent) throws Exception {
        ByteBuffer got = ByteBuffer.allocate(6000);
        for (int tries = 0; tries < 20; tries++) {
            c.write(sent.rewind());
            for (long end = System.nanoTime() + 1_000_000_000L; System.nanoTime() - end < 0; Thread.sleep(1)) {
                if (c.read(got.clear()) > 0 && got.flip().equals(sent.rewind())) {
                    return true;
                }
            }
        }
        return false;
    }

    @Test
    void aKilledProcessLeavesNothingBehind() throws Exception {
        inNamespace(() -> {
            try (DatagramChannel kernel = DatagramChannel.open().connect(new InetSocketAddress("10.81.1.2", 7))) {
                kernel.configureBlocking(false);
                for (int i = 0; i < 3; i++) {
                    try (Child echo = start("1")) {
                        echo.await("ready");
                        LinkState.awaitUp("vrb1");
                        ByteBuffer sent = ByteBuffer.allocate(5000).putInt(0, i);
                        for (int k = 0; k < 20; k++) {
                            assertThat(echoed(kernel, sent)).isTrue();
                        }
                        echo.kill();
                        echo.awaitExit();
                    }
                    assertThat(run("ping", "-c", "1", "-W", "1", "10.81.1.2").code()).as("nobody answers").isNotZero();
                }
            }
        });
    }

    /** The process that comes after it has the same address, and does not know the connections of the one before. */
    @Test
    void connectionsOfAKilledProcessAreResetByTheNextOne() throws Exception {
        inNamespace(() -> {
            byte[] sent = new byte[500_000];
            Socket old;
            try (Child echo = start("1")) {
                echo.await("ready");
                LinkState.awaitUp("vrb1");
                old = new Socket("10.81.1.2", 7);
                echoed(old, sent);
                Thread writer = Thread.ofPlatform().start(() -> writeUntilItFails(old)); // it is killed meanwhile
                Thread.sleep(100);
                echo.kill();
                echo.awaitExit();
                try (Child next = start("1")) {
                    next.await("ready");
                    LinkState.awaitUp("vrb1");
                    try (Socket s = new Socket("10.81.1.2", 7)) {
                        echoed(s, sent);
                    }
                    writer.join(); // the kernel sends again, and gets a reset
                    assertThatThrownBy(() -> old.getOutputStream().write(1)).isInstanceOf(SocketException.class);
                }
            }
            old.close();
        });
    }

    private static void writeUntilItFails(Socket s) {
        try {
            while (true) {
                s.getOutputStream().write(new byte[10_000]);
            }
        } catch (IOException e) {
            // that is what it is for
        }
    }

    private static void echoed(Socket s, byte[] sent) throws Exception {
        new Random(3).nextBytes(sent);
        FutureTask<byte[]> back = new FutureTask<>(() -> s.getInputStream().readNBytes(sent.length));
        Thread.ofPlatform().start(back);
        s.getOutputStream().write(sent);
        assertThat(back.get()).isEqualTo(sent);
    }
}
