package org.verbena.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where listeners are. */
final class CopyAddress {
    /** The port of a listener that was told none; senders look there too. */
    static final int DEFAULT_PORT = 18516;

    private static final Pattern FORM = Pattern.compile("(\\[[0-9a-fA-F:.%]+\\]|[^/\\[\\]:]*):(\\d{1,5})");

    private CopyAddress() {}

    /** Whether an argument has the form HOST:PORT. */
    static boolean isAddress(String argument) {
        return FORM.matcher(argument).matches();
    }

    /** The address; an empty HOST is this machine. */
    static InetSocketAddress parse(String argument) throws CopyFailure {
        Matcher m = FORM.matcher(argument);
        if (!m.matches()) {
            throw new CopyFailure(CopyStatus.FAILED, "\"" + argument + "\" is not of the form HOST:PORT");
        }
        String host = m.group(1);
        int port = Integer.parseInt(m.group(2));
        if (port < 1 || port > 65535) {
            throw new CopyFailure(CopyStatus.FAILED, "\"" + argument + "\": a port is 1 to 65535");
        }
        if (host.isEmpty()) {
            return loopback(port);
        }
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new CopyFailure(CopyStatus.NO_LISTENER, "unknown host \"" + host + "\"", e);
        }
    }

    /** A port of this machine. */
    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** For messages, without the name that the JDK puts before a resolved address. */
    static String text(InetSocketAddress a) {
        InetAddress address = a.getAddress();
        String host = address == null ? a.getHostString() : address.getHostAddress();
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + a.getPort();
    }
}
