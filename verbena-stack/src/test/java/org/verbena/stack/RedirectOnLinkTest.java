// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.stack.StackLink.Link;
import org.verbena.testkit.Await;
import org.verbena.testkit.TapInterface;

/** The kernel is the router, and knows a better one on the same link. */
final class RedirectOnLinkTest {
    @ParameterizedTest
    @EnumSource
    void theKernelsRedirectIsFollowed(Link link, @TempDir Path folder) throws Exception {
        StackConfig config = StackConfig.of(StackLink.OURS + "/24").withGateway(StackLink.KERNEL);
        StackLink.run(link, StackLink.KERNEL + "/24", config, stack -> {
            Files.writeString(Path.of("/proc/sys/net/ipv4/ip_forward"), "1");
            TapInterface.ip("route", "add", "10.79.0.0/24", "via", "10.78.0.3", "dev", "vrb0");
            TapInterface.ip("neighbour", "add", "10.78.0.3", "lladdr", "02:00:00:00:00:03", "dev", "vrb0");
            // who has 10.78.0.3?
            follow(stack, "10.79.0.9", folder, "000000000000" + "0a4e0003");
        });
    }

    @ParameterizedTest
    @EnumSource
    void theKernelsRedirectOfIpv6IsFollowed(Link link, @TempDir Path folder) throws Exception {
        StackConfig config = StackConfig.of(StackLink.OURS_6 + "/64").withGateway("fe80::1");
        StackLink.run(link, StackLink.KERNEL_6 + "/64", config, stack -> {
            Files.writeString(Path.of("/proc/sys/net/ipv6/conf/all/forwarding"), "1");
            TapInterface.ip("-6", "address", "flush", "dev", "vrb0", "scope", "link");
            TapInterface.ip("address", "add", "fe80::1/64", "dev", "vrb0", "nodad");
            TapInterface.ip("route", "add", "fd00:79::/64", "via", "fe80::3", "dev", "vrb0");
            TapInterface.ip("neighbour", "add", "fe80::3", "lladdr", "02:00:00:00:00:03", "dev", "vrb0");
            follow(stack, "fd00:79::9", folder, "020000000003");
        });
    }

    /** Sends to a host of another subnet until a redirect comes, and then what names the other router. */
    private static void follow(Stack stack, String far, Path folder, String named) throws Exception {
        UdpPeer to = UdpPeer.of(new InetSocketAddress(far, 9));
        Path file = folder.resolve("frames.pcap");
        try (UdpSocket socket = stack.bindUdp(0)) {
            socket.send(ByteBuffer.allocate(100), to);
            Await.until("the kernel tells of the other router", () -> stack.statistics().errorsIn() == 1);
            try (StackCapture c = stack.capture(file)) {
                socket.send(ByteBuffer.allocate(100), to);
                assertThat(c.statistics().frames()).isPositive();
            }
            assertThat(HexFormat.of().formatHex(Files.readAllBytes(file))).contains(named);
        }
    }
}
