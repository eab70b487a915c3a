// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Nested;

import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;
import org.verbena.verbs.Context;

/**
 * The suite for raw packets on both sides of a TAP interface, which each test has for itself in a network namespace: what
 * the device {@code tap_wire} sends the interface receives, so {@code xdp_wire} does, and the reverse.
 */
class TapConformanceTest {
    /** The TAP device as the end that most tests send from. */
    @Nested
    class Near extends RawPacketConformance {
        @Override
        protected RawPacketFixture fixture() {
            return action -> inNamespace("tap_wire", "xdp_wire", action);
        }
    }

    /** The TAP device as the end that most tests receive at. */
    @Nested
    class Far extends RawPacketConformance {
        @Override
        protected RawPacketFixture fixture() {
            return action -> inNamespace("xdp_wire", "tap_wire", action);
        }
    }

    static void inNamespace(String nearName, String farName, RawPacketFixture.Action action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            NetworkNamespace.disableIpv6();
            Finished made = Finished.run("ip", "tuntap", "add", "dev", "wire", "mode", "tap");
            assertThat(made.code()).as(made.output()).isZero();
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, "wire"));
                try (Context near = XdpConformanceTest.open(nearName);
                        Context far = XdpConformanceTest.open(farName)) {
                    action.run(near, far);
                }
                NetworkLinks.delete(netlink, NetworkLinks.index(netlink, "wire"));
            }
            return true;
        });
    }
}
