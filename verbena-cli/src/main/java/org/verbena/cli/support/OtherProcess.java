// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import org.jspecify.annotations.Nullable;

import org.verbena.linux.Sys;
import org.verbena.linux.UserIds;

/**
 * A process that a command is asked about, by proc(5). It may end at any time.
 *
 * @param uid the user that it belongs to
 */
public record OtherProcess(long pid, int uid) {
    /** The system property in which the agent reports its result. */
    public static final String AGENT_STATE = "verbena.agent";

    private static final Path PROC = Path.of("/proc");
    private static final String AGENT = "-javaagent:";
    private static final String CAUGHT = "SigCgt:";
    private static final String LEADER = "Tgid:";
    private static final String STATE = "State:";
    private static final int SIGQUIT = 3;

    /** A process by its number; empty if there is none. The number of a thread is none. */
    public static Optional<OtherProcess> find(long pid) throws IOException {
        Path proc = PROC.resolve(Long.toString(pid));
        try {
            int owner = ((Number) Files.getAttribute(proc, "unix:uid")).intValue();
            return field(proc, LEADER).filter(l -> !l.equals(Long.toString(pid))).isPresent()
                    ? Optional.empty()
                    : Optional.of(new OtherProcess(pid, owner));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    /** A process by its number. */
    public static OtherProcess require(long pid) throws IOException {
        return find(pid).orElseThrow(() -> new CommandException("there is no process " + pid));
    }

    /** Its folder. */
    public Path proc() {
        return PROC.resolve(Long.toString(pid));
    }

    /** Whether it is still there. */
    public boolean isAlive() {
        return Files.isDirectory(proc());
    }

    /** Its words, each behind a blank; empty if it has none, as a thread of the kernel. */
    public String command() {
        try {
            return new String(Files.readAllBytes(proc().resolve("cmdline")), StandardCharsets.UTF_8).replace('\0', ' ')
                    .strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Whether it runs Java; true if that cannot be determined. */
    public boolean isJava() {
        try {
            return Files.readString(proc().resolve("maps"), StandardCharsets.ISO_8859_1).contains("/libjvm.so");
        } catch (IOException unreadable) {
            // SIGQUIT asks a JVM to open its attach socket, and would end any other program
            return catches(proc(), SIGQUIT);
        }
    }

    /** Whether it is stopped, so that it answers nobody. */
    public boolean isStopped() {
        return field(proc(), STATE).filter(s -> s.startsWith("T") || s.startsWith("t")).isPresent();
    }

    /** Whether it belongs to another user than the user of this process, which is not root. */
    public boolean isOfOtherUser() {
        return Sys.uid() != 0 && uid != Sys.uid();
    }

    /** Half a sentence about why this user may not look into it; null if he may. */
    public @Nullable String refusal() {
        return refusal(pid, Sys.uid(), uid, UserIds.isOneUser(uid));
    }

    /**
     * The reason why a process may not be looked into; null if there is none.
     *
     * @param oneUser whether the owner's id stands for one user, see {@link UserIds#isOneUser}
     */
    static @Nullable String refusal(long pid, int uid, int owner, boolean oneUser) {
        if (uid == 0) {
            return null;
        }
        String begin = "process " + pid + " is of user " + Integer.toUnsignedString(owner);
        if (owner != uid) {
            return begin + ", not of this one (" + Integer.toUnsignedString(uid) + ")";
        }
        return oneUser ? null : begin + ", which this user namespace says of all whom it does not map";
    }

    /** Whether a process has a handler of a signal; true if that cannot be determined. */
    static boolean catches(Path proc, int signal) {
        try {
            return field(proc, CAUGHT)
                    .map(l -> (Long.parseUnsignedLong(l, 16) >>> (signal - 1) & 1) != 0)
                    .orElse(true);
        } catch (NumberFormatException unknown) {
            return true;
        }
    }

    private static Optional<String> field(Path proc, String name) {
        try (Stream<String> lines = Files.lines(proc.resolve("status"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(l -> l.startsWith(name)).findFirst().map(l -> l.substring(name.length()).strip());
        } catch (IOException | UncheckedIOException unknown) {
            return Optional.empty();
        }
    }

    /** The option of the JVM's that names Verbena's agent, among its words or in a variable; null if there is none. */
    public @Nullable String agent() {
        for (String file : new String[] {"cmdline", "environ"}) {
            try {
                for (String word : new String(Files.readAllBytes(proc().resolve(file)), StandardCharsets.UTF_8).split(
                        "[\\x00 =]", -1)) {
                    if (word.startsWith(AGENT) && word.contains("verbena")) {
                        return word;
                    }
                }
            } catch (IOException unreadable) {
                // the other one may be readable
            }
        }
        return null;
    }

    /**
     * The system properties of a JVM, by the attach API.
     *
     * @throws IOException if it lets nobody attach, or has ended
     */
    public Properties properties() throws IOException {
        try {
            VirtualMachine vm = VirtualMachine.attach(Long.toString(pid));
            try {
                return vm.getSystemProperties();
            } finally {
                vm.detach();
            }
        } catch (AttachNotSupportedException e) {
            throw new IOException(e);
        }
    }
}
