// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.verbena.verbs.spi.Ipv6Text;

/**
 * A TCP socket as the kernel lists it: proc_pid_net(5). Immutable.
 *
 * @param state as in tcp(7)
 * @param inode its number among descriptors; 0 if none leads to it
 */
record KernelTcp(InetSocketAddress local, InetSocketAddress remote, int state, int uid, long inode) {
    private static final int LISTEN = 10;
    private static final int TIME_WAIT = 6;
    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int UID = 7;
    private static final int INODE = 9;
    private static final int WORD = 8;
    private static final int HEXADECIMAL = 16;
    private static final String SOCKET = "socket:[";

    boolean isListener() {
        return state == LISTEN;
    }

    boolean hasPort(int port) {
        return local.getPort() == port || remote.getPort() == port;
    }

    /** Those of the network namespace of a process, but connections that have ended; none if it has ended. */
    static List<KernelTcp> of(Path proc) {
        List<KernelTcp> found = new ArrayList<>();
        for (String table : new String[] {"net/tcp", "net/tcp6"}) {
            try {
                for (String line : Files.readAllLines(proc.resolve(table), StandardCharsets.US_ASCII)) {
                    add(line.strip().split("\\s+", -1), found);
                }
            } catch (IOException e) {
                // no such protocol
            }
        }
        return found;
    }

    private static void add(String[] columns, List<KernelTcp> to) {
        if (columns.length <= INODE || columns[LOCAL].indexOf(':') < 0) { // the heading
            return;
        }
        try {
            KernelTcp t = new KernelTcp(address(columns[LOCAL]), address(columns[REMOTE]), Integer.parseInt(
                    columns[STATE], HEXADECIMAL), Integer.parseUnsignedInt(columns[UID]), Long.parseLong(
                            columns[INODE]));
            if (t.state != TIME_WAIT) {
                to.add(t);
            }
        } catch (NumberFormatException | UnknownHostException e) {
            // a kernel with other columns
        }
    }

    /** The words of the address are numbers of this machine; what maps IPv4 becomes IPv4. */
    private static InetSocketAddress address(String text) throws UnknownHostException {
        int colon = text.indexOf(':');
        ByteBuffer bytes = ByteBuffer.allocate(colon / 2).order(ByteOrder.nativeOrder());
        for (int i = 0; i + WORD <= colon; i += WORD) {
            bytes.putInt(Integer.parseUnsignedInt(text, i, i + WORD, HEXADECIMAL));
        }
        return new InetSocketAddress(InetAddress.getByAddress(bytes.array()), Integer.parseInt(text.substring(colon
                + 1), HEXADECIMAL));
    }

    /** As the statistics of sockets have it. */
    static String text(InetSocketAddress a) {
        byte[] bytes = a.getAddress().getAddress();
        if (a.getAddress() instanceof Inet4Address) {
            return Ipv6Text.ipv4(ByteBuffer.wrap(bytes).getInt()) + ":" + a.getPort();
        }
        ByteBuffer halves = ByteBuffer.wrap(bytes);
        return "[" + Ipv6Text.of(halves.getLong(), halves.getLong()) + "]:" + a.getPort();
    }

    /** The processes that have each socket open, by its inode, as far as this user may see. */
    static Map<Long, Long> owners() {
        Map<Long, Long> owners = new HashMap<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path p : processes) {
                long pid = Long.parseLong(String.valueOf(p.getFileName()));
                inodes(p).forEach(i -> owners.merge(i, pid, Math::min));
            }
        } catch (IOException e) {
            // what was read counts
        }
        return owners;
    }

    /** The sockets that descriptors of a process lead to. */
    static List<Long> inodes(Path proc) {
        List<Long> inodes = new ArrayList<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(proc.resolve("fd"))) {
            for (Path d : descriptors) {
                long inode = socket(d);
                if (inode != 0) {
                    inodes.add(inode);
                }
            }
        } catch (IOException e) {
            // another user's, or it has ended
        }
        return inodes;
    }

    /** 0 if it is no socket, or closed by now. */
    private static long socket(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith(SOCKET)
                    ? Long.parseLong(target.substring(SOCKET.length(), target.length() - 1))
                    : 0;
        } catch (IOException e) {
            return 0;
        }
    }
}
