// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import org.verbena.linux.Bpf;
import org.verbena.linux.Fd;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;

/** A process that attaches the program to an interface, with one flow that drops everything, and waits. */
final class AttachedProgram {
    private AttachedProgram() {}

    public static void main(String[] args) throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
                FlowMaps maps = FlowMaps.create(new FlowMaps.Capacity(10, 10, 1), 1);
                Fd program = FlowProgram.load(maps);
                Fd link = FlowProgram.attach(program, netlink, NetworkLinks.index(netlink, args[0]),
                        Bpf.XDP_FLAGS_SKB_MODE)) {
            System.out.println("attached " + link.value());
            int end = System.in.read();
            System.out.println("ended by " + end);
        }
    }
}
