// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

/** Tests with other namespaces are in NamespacesTest of verbena-tests. */
class UserIdsTest {
    private static final String EVERYBODY = "         0          0 4294967295\n";
    private static final String SOME = "         0     100000      65536\n";
    private static final String SOME_MORE = SOME + "     65536     300000      10\n";

    @Test
    void overflowIdIsOneUserOnlyIfAllAreMapped() {
        assertThat(UserIds.isOneUser(65534, 65534, EVERYBODY)).isTrue();
        for (String map : new String[] {SOME, SOME_MORE, "", "0 0"}) {
            assertThat(UserIds.isOneUser(65534, 65534, map)).isFalse();
            assertThat(UserIds.isOneUser(1000, 65534, map)).isTrue();
            assertThat(UserIds.isOneUser(1000, 1000, map)).isFalse();
        }
        assertThat(UserIds.overflow("65534\n")).isEqualTo(65534);
        assertThat(UserIds.overflow("4294967294\n")).isEqualTo(-2);
        assertThat(UserIds.overflow("")).isEqualTo(-1);
    }

    @Test
    void kernelFilesAreReadCompletely() throws Exception {
        boolean all = Files.readString(Path.of("/proc/self/uid_map")).contains("4294967295");
        for (String id : Files.readAllLines(Path.of("/proc/sys/kernel/overflowuid"))) {
            assertThat(UserIds.isOneUser(Integer.parseUnsignedInt(id))).isEqualTo(all);
        }
        assertThat(UserIds.isOneUser(6)).isTrue();
        assertThat(UserIds.isOneUser(0)).isTrue();
    }

    @Test
    void processInOwnPidNamespaceHasOneNumber() throws Exception {
        assertThat(Namespaces.isOneNumber("Name:\tjava\nNSpid:\t" + Sys.pid() + "\n")).isTrue();
        assertThat(Namespaces.isOneNumber("NSpid:\t77777\t" + Sys.pid() + "\n")).isFalse();
        assertThat(Namespaces.isOneNumber("Name:\tjava\n")).isFalse();
    }

    @Test
    void thisProcessHasSameUser() throws Exception {
        String name = "verbena-test-identity-" + Sys.pid() + "-" + System.nanoTime();
        try (UnixSocket listener = UnixSocket.listen(name, 1);
                UnixSocket client = UnixSocket.connect(name);
                UnixSocket server = listener.accept()) {
            assertThat(PeerIdentity.of(client)).isEqualTo(PeerIdentity.SAME_USER);
            assertThat(PeerIdentity.of(server)).isEqualTo(PeerIdentity.SAME_USER);
            assertThat(client.isPeerAlive()).isTrue();
        }
    }
}
