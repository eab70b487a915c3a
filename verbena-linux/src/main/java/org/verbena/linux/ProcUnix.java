// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Unix socket that is bound to a name, or accepted by one that is, as /proc/PID/net/unix lists it, proc_pid_net(5). Immutable.
 *
 * @param isListener whether it accepts connections
 * @param inode the number that descriptors of it lead to; 0 if there is none yet
 * @param path the name, each byte a character; an abstract one begins with {@code @}, which also stands for each byte 0 in it
 */
public record ProcUnix(boolean isListener, long inode, String path) {
    /** Number, references, protocol, flags, type, state, inode; behind one space the path, which may have spaces. */
    private static final Pattern LINE = Pattern.compile(
            "\\S+: +[0-9A-F]+ +[0-9A-F]+ +([0-9A-F]{8}) +[0-9A-F]+ +[0-9A-F]+ +([0-9]{1,18}) (.+)", Pattern.DOTALL);
    /** The kernel's __SO_ACCEPTCON. */
    private static final int ACCEPTS = 1 << 16;
    private static final int HEXADECIMAL = 16;
    private static final String ABSTRACT = "@";

    /**
     * Returns the sockets of the network namespace of a process that have a name. Lines of another form are left out: a name may have line
     * breaks.
     *
     * @param proc the directory of the process, such as /proc/self
     * @throws IOException the list cannot be read
     */
    public static List<ProcUnix> all(Path proc) throws IOException {
        List<ProcUnix> found = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(proc.resolve("net/unix"), StandardCharsets.ISO_8859_1)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher m = LINE.matcher(line);
                if (m.matches()) {
                    int flags = Integer.parseUnsignedInt(m.group(1), HEXADECIMAL);
                    found.add(new ProcUnix((flags & ACCEPTS) != 0, Long.parseLong(m.group(2)), m.group(3)));
                }
            }
        }
        return found;
    }

    /**
     * Returns the abstract names that are bound in the network namespace of this process, as {@link UnixSocket#listen} takes them. One
     * name is there as often as it has sockets: an accepted one has the name of its listener.
     *
     * @throws IOException the list cannot be read
     */
    public static List<String> abstractNames() throws IOException {
        return all(Path.of("/proc/self")).stream().map(ProcUnix::path).filter(p -> p.startsWith(ABSTRACT))
                .map(p -> p.substring(ABSTRACT.length())).toList();
    }
}
