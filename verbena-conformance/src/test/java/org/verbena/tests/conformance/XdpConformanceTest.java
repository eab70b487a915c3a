// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.XdpProvider;

/** The suite for raw packets on both ends of a veth pair, which each test has for itself in a network namespace. */
class XdpConformanceTest extends RawPacketConformance {
    @Override
    protected RawPacketFixture fixture() {
        return XdpConformanceTest::inNamespace;
    }

    static void inNamespace(RawPacketFixture.Action action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            NetworkNamespace.disableIpv6();
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.createVeth(netlink, "near", "far");
                for (String name : new String[] {"near", "far"}) {
                    NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, name));
                }
                try (Context near = open("xdp_near"); Context far = open("xdp_far")) {
                    action.run(near, far);
                }
                NetworkLinks.delete(netlink, NetworkLinks.index(netlink, "near"));
            }
            return true;
        });
    }

    static Context open(String name) throws VerbsException {
        return new XdpProvider().devices().stream().filter(d -> d.name().equals(name)).findFirst()
                .orElseThrow()
                .open();
    }
}
