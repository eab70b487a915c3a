// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * The address of a listener in the form that people write: HOST:PORT.
 *
 * @param host a name or an address, an IPv6 address in brackets; empty for this machine
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
    /** The default port of a listener. */
    public static final int DEFAULT_PORT = 18516;

    private static final int MAX_PORT = 65535;

    /** Whether an argument may be meant as an address: it has a colon, and no slash. */
    public static boolean resembles(String argument) {
        return argument.indexOf(':') >= 0 && argument.indexOf('/') < 0;
    }

    /**
     * Parses an address; does not resolve the host.
     *
     * @throws IllegalArgumentException if it is malformed; the message is half a sentence with the reason
     */
    public static HostPort parse(String argument) {
        int colon = argument.lastIndexOf(':');
        if (colon < 0 || colon < argument.lastIndexOf(']')) {
            throw new IllegalArgumentException("it has no port");
        }
        String host = argument.substring(0, colon);
        boolean brackets = host.startsWith("[") && host.endsWith("]");
        if (brackets) {
            checkIpv6(host);
        } else if (host.indexOf(':') >= 0) {
            throw new IllegalArgumentException("an IPv6 address stands in brackets, [::1]:" + DEFAULT_PORT);
        } else if (host.matches(".*[\\[\\]/].*")) {
            throw new IllegalArgumentException("\"" + HumanText.printable(host) + "\" is no host");
        }
        return new HostPort(host, port(argument.substring(colon + 1)));
    }

    private static void checkIpv6(String host) {
        try {
            InetAddress _ = Inet6Address.ofLiteral(host.substring(1, host.length() - 1));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(HumanText.printable(host) + " is no IPv6 address", e);
        }
    }

    private static int port(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("the port is missing");
        }
        int port = text.matches("0*[0-9]{1,5}") ? Integer.parseInt(text) : 0;
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("the port is \"" + HumanText.printable(text)
                    + "\", it must be a number from 1 to " + MAX_PORT);
        }
        return port;
    }

    /** Resolves the host. */
    public InetSocketAddress resolve() throws UnknownHostException {
        return host.isEmpty() ? loopback(port) : new InetSocketAddress(InetAddress.getByName(host), port);
    }

    /** A port of this machine. */
    public static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** For messages, without the name that the JDK puts before a resolved address. */
    public static String text(InetSocketAddress a) {
        InetAddress address = a.getAddress();
        String host = address == null ? a.getHostString() : address.getHostAddress();
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + a.getPort();
    }
}
