// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import static java.net.StandardProtocolFamily.UNIX;

import java.net.ProtocolFamily;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.stream.Collectors;

/** What must hold before a channel can be opened, reported in a sentence rather than by a linkage error. */
final class JdkAccess {
    private static final List<String> PACKAGES = List.of("sun.nio.ch", "sun.net");

    private static volatile boolean checked;

    private JdkAccess() {}

    static void check() {
        if (checked) {
            return;
        }
        Module mine = JdkAccess.class.getModule();
        List<String> missing = missing(mine);
        if (!missing.isEmpty()) {
            SelectorProvider.provider(); // the agent, if there is one, begins when the program opens its first channel
            missing = missing(mine);
        }
        if (!missing.isEmpty()) {
            String name = mine.isNamed() ? mine.getName() : "ALL-UNNAMED";
            throw new UnsupportedOperationException(
                    "Verbena's channels stand on the JDK's, which this JVM does not show: start it with "
                            + missing.stream().map(p -> "--add-exports java.base/" + p + "=" + name).collect(
                                    Collectors.joining(" "))
                            + ", or with the agent or 'verbena run', which do that for classes of the system class loader");
        }
        checked = true;
    }

    private static List<String> missing(Module mine) {
        return PACKAGES.stream().filter(p -> !Object.class.getModule().isExported(p, mine)).toList();
    }

    static ProtocolFamily internet(ProtocolFamily family) {
        if (family == UNIX) {
            throw new UnsupportedOperationException("Unix-domain channels are the JDK's own: SocketChannel.open(UNIX)");
        }
        return family;
    }
}
