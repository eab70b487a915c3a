// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;
import org.verbena.testkit.LinkState;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** A stack on a link in a namespace of its own, whose other end is the kernel's. */
final class StackLink {
    static final String KERNEL = "10.78.0.1";
    static final String OURS = "10.78.0.2";

    private StackLink() {}

    /** What a test does, on a thread in the namespace. */
    interface Action {
        void run(Stack stack) throws Exception;
    }

    /** What the stack is on; the kernel's end is called {@code vrb0}. */
    enum Link {
        TAP("tap_vrb0"), VETH("xdp_vrb1");

        final String device;

        Link(String device) {
            this.device = device;
        }

        void make() throws Exception {
            if (this == TAP) {
                ip("tuntap", "add", "dev", "vrb0", "mode", "tap");
            } else {
                ip("link", "add", "vrb0", "type", "veth", "peer", "name", "vrb1");
                ip("link", "set", "vrb1", "up");
            }
        }
    }

    static void run(Link link, Action action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            NetworkNamespace.disableIpv6();
            link.make();
            ip("address", "add", KERNEL + "/24", "dev", "vrb0");
            ip("link", "set", "vrb0", "up");
            try (Context context = Verbs.open(link.device);
                    Stack stack = Stack.open(context, StackConfig.of(OURS + "/24"))) {
                LinkState.awaitUp("vrb0");
                action.run(stack);
            } finally {
                ip("link", "delete", "vrb0");
            }
            return 0;
        });
    }

    static void ip(String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(words));
        Finished f = Finished.run(command);
        if (f.code() != 0) {
            throw new AssertionError(command + ": " + f.output());
        }
    }
}
