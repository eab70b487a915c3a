// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.List;

import org.jspecify.annotations.Nullable;

/** What an event of a script is. */
public sealed interface Action {
    /**
     * A packet.
     *
     * @param outgoing whether the stack sends it ({@code >}), and not receives it ({@code <})
     * @param ip what is said of its IP header
     * @param body what it carries
     */
    record Packet(boolean outgoing, IpMarks ip, PacketBody body) implements Action {
        @Override
        public String toString() {
            return (outgoing ? "> " : "< ") + ip + body;
        }
    }

    /**
     * A system call.
     *
     * @param name of the call
     * @param arguments as written
     * @param result what it returns
     * @param errno the name of the error, if it returns -1
     */
    record Call(String name, List<Expression> arguments, Expression result, @Nullable String errno) implements Action {
        @Override
        public String toString() {
            StringBuilder b = new StringBuilder(name).append('(');
            for (int i = 0; i < arguments.size(); i++) {
                b.append(i > 0 ? ", " : "").append(arguments.get(i));
            }
            return b.append(") = ").append(result).append(errno == null ? "" : " " + errno).toString();
        }
    }

    /** A command of the shell, in backticks. */
    record Command(String text) implements Action {
        @Override
        public String toString() {
            return "`" + text + "`";
        }
    }

    /** Python, in <code>%{ }%</code>. */
    record Code(String text) implements Action {
        @Override
        public String toString() {
            return "%{ " + text + " }%";
        }
    }
}
