// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;
import java.net.NetworkInterface;
import java.time.Duration;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.support.CommandException;
import org.verbena.stack.Stack;
import org.verbena.stack.StackConfig;
import org.verbena.verbs.Context;

/**
 * The stacks of the two ends. Their addresses are those of a network that is for measurements (RFC 2544, appendix C.2.2), so that
 * they are no other host's, whatever addresses the kernel has on the link.
 */
public final class PerfStack {
    private static final String INITIATOR = "198.18.77.1";
    private static final String TARGET = "198.18.77.2";
    private static final String BITS = "/24";

    private PerfStack() {}

    /** The address of an end. */
    public static String address(boolean initiator) {
        return initiator ? INITIATOR : TARGET;
    }

    /** Opens that of an end, whose receivers poll for so long. */
    public static Stack open(boolean initiator, Context context, PerfControl peer, Duration spin) throws IOException {
        NetworkInterface control = NetworkInterface.getByInetAddress(peer.localAddress());
        if (control != null && control.getName().equals(PerfDeviceEnd.link(context))) {
            throw new CommandException("a stack takes all packets of " + control.getName()
                    + ", those of the connection between the two processes, too: let this go by another interface");
        }
        return Stack.open(context, StackConfig.of(address(initiator) + BITS).withSpin(spin));
    }
}
