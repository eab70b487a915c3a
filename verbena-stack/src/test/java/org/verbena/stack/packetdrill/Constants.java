// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.HashMap;
import java.util.Map;

import org.verbena.linux.Errno;

/** Values of names in arguments, those of Linux; and of the states that FreeBSD's TCP_INFO has. */
final class Constants {
    static final int MSG_PEEK = 2;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_MORE = 0x8000;
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int O_RDWR = 2;
    static final int O_NONBLOCK = 0x800;
    private static final int HIGHEST_ERRNO = 133;
    private static final Map<String, Long> VALUES = new HashMap<>();

    static {
        for (int i = 1; i <= HIGHEST_ERRNO; i++) {
            VALUES.put(Errno.name(i), (long) i);
        }
        put("EWOULDBLOCK", Errno.EAGAIN, "O_RDONLY", 0, "O_RDWR", O_RDWR, "O_NONBLOCK", O_NONBLOCK);
        put("MSG_OOB", 1, "MSG_PEEK", MSG_PEEK, "MSG_TRUNC", 0x20, "MSG_DONTWAIT", MSG_DONTWAIT);
        put("MSG_WAITALL", 0x100, "MSG_NOSIGNAL", 0x4000, "MSG_MORE", MSG_MORE);
        put("SHUT_RD", 0, "SHUT_WR", 1, "SHUT_RDWR", 2, "SOCK_STREAM", 1, "SOCK_DGRAM", 2, "SOCK_NONBLOCK", O_NONBLOCK);
        put("POLLIN", 1, "POLLPRI", 2, "POLLOUT", 4, "POLLERR", 8, "POLLHUP", 0x10, "POLLRDHUP", 0x2000);
        put("INADDR_ANY", 0, "AF_INET", AF_INET, "AF_INET6", AF_INET6, "IPPROTO_TCP", 6, "IPPROTO_UDP", 17);
        for (int i = 0; i < 8; i++) {
            put("IPTOS_DSCP_CS" + i, i << 5);
        }
        String[] states = {"CLOSED", "LISTEN", "SYN_SENT", "SYN_RECEIVED", "ESTABLISHED", "CLOSE_WAIT", "FIN_WAIT_1",
            "CLOSING", "LAST_ACK", "FIN_WAIT_2", "TIME_WAIT"};
        for (int i = 0; i < states.length; i++) {
            put("TCPI_" + states[i], i);
        }
        put("TCP_CA_Open", 0, "TCP_CA_Disorder", 1, "TCP_CA_CWR", 2, "TCP_CA_Recovery", 3, "TCP_CA_Loss", 4);
        String[] ofLinux = {"ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE",
            "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING"};
        for (int i = 0; i < ofLinux.length; i++) {
            put("TCP_" + ofLinux[i], i + 1);
        }
        put("TCPI_OPT_ECN_SEEN", 16, "TCPI_OPT_SYN_DATA", 32, "TCP_INFINITE_SSTHRESH", Integer.MAX_VALUE);
        put("TCPI_OPT_TIMESTAMPS", 1, "TCPI_OPT_SACK", 2, "TCPI_OPT_WSCALE", 4, "TCPI_OPT_ECN", 8);
    }

    private Constants() {}

    private static void put(Object... namesAndValues) {
        for (int i = 0; i < namesAndValues.length; i += 2) {
            VALUES.put((String) namesAndValues[i], (long) (Integer) namesAndValues[i + 1]);
        }
    }

    /** The value of an expression of numbers and names. */
    static long value(Expression e) throws Failure {
        return switch (e) {
            case Expression.Numeral n -> n.value();
            case Expression.Name n -> named(n.name());
            case Expression.Or or -> {
                long v = 0;
                for (Expression part : or.of()) {
                    v |= value(part);
                }
                yield v;
            }
            default -> throw new Failure(Failure.Kind.UNSUPPORTED, "a number as " + e);
        };
    }

    static long named(String name) throws Failure {
        Long v = VALUES.get(name);
        if (v == null) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "constant " + name);
        }
        return v;
    }
}
