// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.BufferedReader;
import java.io.IOException;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A TCP socket as /proc/PID/net/tcp and tcp6 list it, proc_pid_net(5). Immutable.
 *
 * @param state as in tcp(7)
 * @param inode the number that descriptors of it lead to; 0 if there is none
 */
public record ProcTcp(InetSocketAddress local, InetSocketAddress remote, int state, int uid, long inode) {
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

    /** Whether it accepts connections. */
    public boolean isListener() {
        return state == LISTEN;
    }

    /** Whether one of its two ends has that port. */
    public boolean hasPort(int port) {
        return local.getPort() == port || remote.getPort() == port;
    }

    /**
     * Returns the sockets of the network namespace of a process, without those in TIME_WAIT; none if the process has ended.
     *
     * @param proc the directory of the process, such as /proc/self
     */
    public static List<ProcTcp> all(Path proc) {
        List<ProcTcp> found = new ArrayList<>();
        add(proc.resolve("net/tcp"), found);
        add(proc.resolve("net/tcp6"), found);
        return found;
    }

    private static void add(Path table, List<ProcTcp> to) {
        try (BufferedReader lines = Files.newBufferedReader(table, StandardCharsets.US_ASCII)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                add(line.strip().split("\\s+", -1), to);
            }
        } catch (IOException e) {
            // no such protocol
        }
    }

    private static void add(String[] columns, List<ProcTcp> to) {
        if (columns.length <= INODE || columns[LOCAL].indexOf(':') < 0) { // the heading
            return;
        }
        try {
            ProcTcp t = new ProcTcp(address(columns[LOCAL]), address(columns[REMOTE]), Integer.parseInt(columns[STATE],
                    HEXADECIMAL), Integer.parseUnsignedInt(columns[UID]), Long.parseLong(columns[INODE]));
            if (t.state != TIME_WAIT) {
                to.add(t);
            }
        } catch (IllegalArgumentException | UnknownHostException e) {
            // a kernel with other columns
        }
    }

    /** The words of the address have the byte order of this machine; an IPv4 address in an IPv6 one becomes IPv4. */
    private static InetSocketAddress address(String text) throws UnknownHostException {
        int colon = text.indexOf(':');
        ByteBuffer bytes = ByteBuffer.allocate(colon / 2).order(ByteOrder.nativeOrder());
        for (int i = 0; i + WORD <= colon; i += WORD) {
            bytes.putInt(Integer.parseUnsignedInt(text, i, i + WORD, HEXADECIMAL));
        }
        return new InetSocketAddress(InetAddress.getByAddress(bytes.array()), Integer.parseInt(text.substring(colon
                + 1), HEXADECIMAL));
    }

    /**
     * Returns the inodes of the sockets that descriptors of a process lead to, of whatever protocol; none if the process has ended or
     * is another user's.
     *
     * @param proc the directory of the process, such as /proc/self
     */
    public static Set<Long> openInodes(Path proc) {
        Set<Long> inodes = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(proc.resolve("fd"))) {
            for (Path d : descriptors) {
                long inode = inode(d);
                if (inode != 0) {
                    inodes.add(inode);
                }
            }
        } catch (IOException e) {
            // what was read counts
        }
        return inodes;
    }

    /** 0 if it is no socket, or closed by now. */
    private static long inode(Path descriptor) {
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
