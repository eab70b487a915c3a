// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcTcpTest {
    private static final Path SELF = Path.of("/proc/self");
    private static final String HEADING = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
    private static final String REST = " 00000000:00000000 00:00000000 00000000 ";

    @TempDir Path folder;

    private List<ProcTcp> of(String lines) throws Exception {
        Files.createDirectories(folder.resolve("net"));
        Files.writeString(folder.resolve("net/tcp"), HEADING + lines);
        return ProcTcp.all(folder);
    }

    @Test
    void ownSocketsAreListedWithTheirDescriptors() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
                Socket accepted = listener.accept()) {
            List<ProcTcp> of = ProcTcp.all(SELF).stream().filter(t -> t.hasPort(listener.getLocalPort())).toList();
            assertThat(of).hasSize(3);
            assertThat(ProcTcp.openInodes(SELF)).containsAll(of.stream().map(ProcTcp::inode).toList());
            assertThat(of).filteredOn(ProcTcp::isListener).singleElement().satisfies(t -> assertThat(t.local())
                    .isEqualTo(listener.getLocalSocketAddress()));
            assertThat(of).filteredOn(t -> t.local().equals(client.getLocalSocketAddress())).singleElement()
                    .satisfies(t -> assertThat(t.remote()).isEqualTo(accepted.getLocalSocketAddress()));
        }
    }

    @Test
    void addressesAreReadInTheOrderOfThisMachine() throws Exception {
        Assumptions.assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN,
                "skipped: the lines are of a little-endian machine");
        assertThat(of("   0: 0100007F:1F90 00000000:0000 0A" + REST + " 1000        0 4711 1 0\n"
                + "   1: 0000000000000000FFFF00000200000A:0050 00000000000000000000000001000000:0001 01" + REST
                + "0 0 4712\n")).containsExactly(
                        new ProcTcp(new InetSocketAddress("127.0.0.1", 8080), new InetSocketAddress("0.0.0.0", 0), 10,
                                1000, 4711),
                        new ProcTcp(new InetSocketAddress("10.0.0.2", 80), new InetSocketAddress("::1", 1), 1, 0,
                                4712));
    }

    @Test
    void endedConnectionsAndOtherLinesAreLeftOut() throws Exception {
        assertThat(of("   0: 0100007F:1F90 0100007F:0001 06" + REST + "0 0 0\n" // TIME_WAIT
                + "\n   1: 0100007F:1F90\n   2: 0100007F 0100007F:0001 01" + REST + "0 0 1\n"
                + "   3: 0100007:1F90 0100007F:0001 01" + REST + "0 0 1\n"
                + "   4: 0100007F:1F90 0100007F:0001 zz" + REST + "0 0 1\n"
                + "   5: 0100007F:FFFFF 0100007F:0001 01" + REST + "0 0 1\n")).isEmpty();
        assertThat(ProcTcp.all(folder.resolve("none"))).isEmpty();
        assertThat(ProcTcp.openInodes(folder.resolve("none"))).isEmpty();
    }
}
