// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** A stack on a link in a namespace of its own, whose other end is the kernel's. */
final class StackLink {
    static final String KERNEL = "10.78.0.1";
    static final String OURS = "10.78.0.2";
    static final String KERNEL_6 = "fd00:78::1";
    static final String OURS_6 = "fd00:78::2";

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
                TapInterface.require();
                TapInterface.add("vrb0");
            } else {
                addVeth();
                TapInterface.ip("link", "set", "vrb1", "up");
            }
        }
    }

    /** A part of a test, on a thread in the namespace. */
    interface Step {
        void run() throws Exception;
    }

    /** Makes a veth pair, vrb0 and vrb1, with options at either end; both are down. */
    static void addVeth(String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("link", "add", "vrb0"));
        words.addAll(List.of(options));
        words.addAll(List.of("type", "veth", "peer", "name", "vrb1"));
        words.addAll(List.of(options));
        TapInterface.ip(words.toArray(String[]::new));
    }

    /** Runs an action in a namespace of its own with IPv4 alone, on links that {@code make} makes, vrb0 among them. */
    static void runOn(Step make, Step action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            NetworkNamespace.disableIpv6();
            make.run();
            try {
                action.run();
            } finally {
                TapInterface.ip("link", "delete", "vrb0");
            }
            return 0;
        });
    }

    /** A veth pair with 4 queues at either end, called vrb0 and vrb1, with the kernel's address at vrb0 unless null. */
    static void runWithQueues(@Nullable String kernel, Callable<Void> action) throws Exception {
        runOn(() -> {
            addVeth("numtxqueues", "4", "numrxqueues", "4");
            TapInterface.ip("link", "set", "vrb1", "up");
            if (kernel == null) {
                TapInterface.ip("link", "set", "vrb0", "up");
            } else {
                TapInterface.up("vrb0", kernel);
            }
        }, () -> {
            LinkState.awaitUp("vrb0");
            action.call();
        });
    }

    /** With IPv4 alone. */
    static void run(Link link, Action action) throws Exception {
        run(link, KERNEL + "/24", StackConfig.of(OURS + "/24"), action);
    }

    /** With IPv6 alone. */
    static void runIpv6(Link link, Action action) throws Exception {
        run(link, KERNEL_6 + "/64", StackConfig.of(OURS_6 + "/64"), action);
    }

    /** With an address of the kernel's end, and what the stack is. */
    static void run(Link link, String kernel, StackConfig config, Action action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        boolean ipv6 = kernel.indexOf(':') >= 0;
        NetworkNamespace.callInNew(() -> {
            if (!ipv6) {
                NetworkNamespace.disableIpv6();
            }
            link.make();
            if (ipv6) { // else the kernel would not use it for two seconds
                TapInterface.ip("address", "add", kernel, "dev", "vrb0", "nodad");
                TapInterface.ip("link", "set", "vrb0", "up");
            } else {
                TapInterface.up("vrb0", kernel);
            }
            try (Context context = Verbs.open(link.device); Stack stack = Stack.open(context, config)) {
                LinkState.awaitUp("vrb0");
                action.run(stack);
            } finally {
                TapInterface.ip("link", "delete", "vrb0");
            }
            return 0;
        });
    }
}
