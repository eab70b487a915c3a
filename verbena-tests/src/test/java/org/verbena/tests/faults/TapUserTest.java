// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.NetworkNamespace;
import org.verbena.linux.Tap;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;

/** An ordinary user exchanges packets with the kernel's sockets over a TAP interface that root has made. */
class TapUserTest {
    private static final String KERNEL = "10.77.0.1";
    private static final String RAW = "10.77.0.2";

    @TempDir static Path dir;

    private interface Action {
        void run() throws Exception;
    }

    private static void inNamespace(Action action) throws Exception {
        Users.needsRoot("make network interfaces");
        TapInterface.require();
        NetworkNamespace.callInNew(() -> {
            action.run();
            return true;
        });
    }

    /** The user nobody; /dev/net/tun is open to all users, as distributions have it. */
    private static Child start(String mode) throws Exception {
        List<String> command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-c",
                "mount -t tmpfs tmpfs /dev/net && mknod -m " + mode + " /dev/net/tun c 10 200 && exec \"$@\"", "sh"));
        Stream.of("setpriv", "--reuid=" + Users.NOBODY, "--regid=" + Users.NOBODY, "--clear-groups", "--no-new-privs")
                .forEach(command::add);
        return Child.of(TapUser.class).classPath(Users.jars(dir)).under(command.toArray(String[]::new)).start();
    }

    private static void make(String name, String user) throws Exception {
        TapInterface.add(name, "user", user);
        TapInterface.ip("link", "set", name, "up");
    }

    @Test
    void userNeedsNoPrivilege() throws Exception {
        inNamespace(() -> {
            make("vrb0", "nobody");
            make("roots", "root");
            TapInterface.ip("address", "add", KERNEL + "/24", "dev", "vrb0");
            TapInterface.ip("neigh", "add", RAW, "dev", "vrb0", "lladdr", "02:00:00:00:00:09");
            try (Child user = start("666"); DatagramChannel peer = DatagramChannel.open()) {
                assertThat(user.await("Uid")).startsWith("65534 65534");
                assertThat(user.await("CapEff")).isEqualTo("0000000000000000");
                assertThat(user.await("devices")).isEqualTo("[tap_vrb0]");
                user.await("ready");
                LinkState.awaitUp("vrb0");
                assertThatThrownBy(() -> Tap.openTap("vrb0")).isInstanceOfSatisfying(LinuxException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
                peer.bind(new InetSocketAddress(KERNEL, 0)).connect(new InetSocketAddress(RAW, 7));
                for (int length = 1; length <= 1472; length += 37) {
                    ByteBuffer sent = ByteBuffer.allocate(length);
                    for (int i = 0; i < length; i++) {
                        sent.put(i, (byte) (i + length));
                    }
                    assertThat(peer.write(sent.duplicate())).isEqualTo(length);
                    ByteBuffer got = ByteBuffer.allocate(2000);
                    peer.read(got);
                    assertThat(got.flip()).isEqualTo(sent);
                }
                user.tell("end");
                assertThat(user.await("state")).isEqualTo("RTS true");
                assertThat(user.awaitExit()).isZero();
            }
        });
    }

    @Test
    void interfaceOfAnotherUserAndProcessAreNamed() throws Exception {
        inNamespace(() -> {
            make("vrb0", "root");
            try (Child user = start("666")) {
                assertThat(user.await("devices")).as("it is root's").isEqualTo("[]");
                user.awaitExit();
            }
            TapInterface.ip("tuntap", "del", "dev", "vrb0", "mode", "tap");
            make("vrb0", "nobody");
            try (Child user = start("600")) {
                assertThat(user.await("devices")).as("/dev/net/tun is root's").isEqualTo("[]");
                user.awaitExit();
            }
            try (Tap held = Tap.openTap("vrb0"); Child user = start("666")) {
                assertThat(user.await("refused")).contains("EBUSY", held.name(), "another process");
                assertThat(user.awaitExit()).isZero();
            }
        });
    }
}
