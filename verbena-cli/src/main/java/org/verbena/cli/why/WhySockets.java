// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import org.verbena.linux.ProcTcp;
import org.verbena.verbs.spi.Ipv6Text;

/** The kernel's sockets of all processes, and their addresses as the statistics of sockets write them. */
final class WhySockets {
    private WhySockets() {}

    static String text(InetSocketAddress a) {
        byte[] bytes = a.getAddress().getAddress();
        if (a.getAddress() instanceof Inet4Address) {
            return Ipv6Text.ipv4(ByteBuffer.wrap(bytes).getInt()) + ":" + a.getPort();
        }
        ByteBuffer halves = ByteBuffer.wrap(bytes);
        return "[" + Ipv6Text.of(halves.getLong(), halves.getLong()) + "]:" + a.getPort();
    }

    /** The process that has each socket open, by its inode, as far as this user may see; of several, the first. */
    static Map<Long, Long> owners() {
        Map<Long, Long> owners = new HashMap<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path p : processes) {
                long pid = Long.parseLong(String.valueOf(p.getFileName()));
                ProcTcp.openInodes(p).forEach(i -> owners.merge(i, pid, Math::min));
            }
        } catch (IOException e) {
            // what was read counts
        }
        return owners;
    }
}
