package org.verbena.sockets;

import static java.net.StandardProtocolFamily.UNIX;

import java.net.ProtocolFamily;

/** What must hold before a channel can be opened, said in a sentence rather than by a linkage error. */
final class JdkAccess {
    private static final String CHANNELS = "sun.nio.ch";

    private JdkAccess() {}

    static void check() {
        Module mine = JdkAccess.class.getModule();
        if (!Object.class.getModule().isExported(CHANNELS, mine)) {
            String name = mine.isNamed() ? mine.getName() : "ALL-UNNAMED";
            throw new UnsupportedOperationException(
                    "Verbena's channels stand on the JDK's, which this JVM does not show:"
                            + " start it with --add-exports java.base/" + CHANNELS + "=" + name
                            + ", or with the agent or 'verbena run', which do that");
        }
    }

    static ProtocolFamily internet(ProtocolFamily family) {
        if (family == UNIX) {
            throw new UnsupportedOperationException("Unix-domain channels are the JDK's own: SocketChannel.open(UNIX)");
        }
        return family;
    }
}
