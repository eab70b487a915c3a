// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.Optional;

import org.verbena.sockets.extra.ExtraApi;
import org.verbena.sockets.nio.ExtraFunctions;
import org.verbena.sockets.rules.Rules;

/**
 * What holds for the sockets of the whole process. The rules themselves, their grammar and how one is found that does
 * something unexpected: docs/rules.md. Thread-safe.
 */
public final class Verbena {
    private Verbena() {}

    /**
     * The Extra API, if Verbena carries this process: {@code vma_get_api}. So it does with the agent, with {@code
     * -Djava.nio.channels.spi.SelectorProvider} naming {@link VerbenaSelectorProvider}, and once the program has asked for
     * Verbena's channels by name. Empty otherwise, and if the agent uses another Verbena than this class is of, because this one is
     * older: the channels of the process are not those that it knows. A program goes on without it then.
     *
     * <p>Always the same object. The first call fixes the provider of this process, as the first channel does.
     */
    public static Optional<ExtraApi> extraApi() {
        if (!CarriedProcess.isOurs()) {
            SelectorProvider.provider(); // the agent, if there is one, begins when a program asks for it
        }
        return CarriedProcess.isOurs() ? Optional.of(ExtraFunctions.INSTANCE) : Optional.empty();
    }

    /**
     * Puts a rule before all others, for instance {@code use os tcp_client 10.0.0.0/8:*}. Sockets that are bound to
     * listen, what those accept, and connections stay as they are.
     *
     * @param line one {@code use} line, in the grammar of libvma.conf
     * @throws IllegalArgumentException if it is malformed, with the column; if it is no rule at all, or more than one; or if the rules of this process are
     */
    public static void addRule(String line) {
        Rules.add(line);
    }

    /** What the counters that rules name have come to: how many sockets these rules decided. */
    public static Map<String, Long> ruleCounters() {
        return Rules.counters();
    }

    /**
     * Says whether sockets that are created from now on may use anything but the kernel; where they may, rules decide. The
     * system property {@code verbena.offload} sets it at start, {@code on} if it is not given.
     */
    public static void offload(boolean on) {
        Rules.offload(on);
    }

    /**
     * As {@link #offload(boolean)}, for the sockets that one thread creates.
     *
     * @param thread a platform thread or a virtual one
     */
    public static void offload(Thread thread, boolean on) {
        Rules.offload(thread, on);
    }
}
