// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import org.jspecify.annotations.Nullable;

/**
 * What was decided for a socket. Made once for each rule, so that to decide makes no garbage.
 *
 * @param transport what the socket uses: {@link Transport#OS} or {@link Transport#STREAM}
 * @param rule that decided; null if none matched or none was asked
 * @param reason for people
 */
public record Decision(Transport transport, @Nullable Rule rule, String reason) {
    static final Decision NOT_OFFLOADED = new Decision(Transport.OS, null,
            "sockets that this thread, or this process, creates are not offloaded");
    /** No rule was asked, or none matched. */
    public static final Decision DEFAULT = new Decision(Transport.STREAM, null, "no rule matches");

    /** Whether the kernel's TCP is to carry all of it. */
    public boolean isKernel() {
        return transport == Transport.OS;
    }

    /** The device by which a peer on another host is reached; null if TCP reaches it. */
    public @Nullable String device() {
        return rule == null ? null : rule.device();
    }

    /** Whether a connection takes rings at once, rather than when it has carried enough: the rule says so, or names a device for it. */
    public boolean isAtOnce() {
        return rule != null && (rule.isAtOnce() || rule.device() != null);
    }

    static Decision by(Rule rule) {
        return rule.transport() == Transport.STACK
                ? new Decision(Transport.OS, rule, "the rule asks for stack, which this Verbena does not have")
                : new Decision(rule.transport(), rule, "the first rule that matches");
    }
}
