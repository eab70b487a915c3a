// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Texts of proc(5) and sysfs(5). Missing or malformed text reads as absent; nothing throws. */
final class DoctorProc {
    /** The value of {@code unlimited}. */
    static final long UNLIMITED = Long.MAX_VALUE;

    private static final int MAX_BYTES = 4 << 20;
    private static final Pattern LIMIT = Pattern.compile("(\\S.*?)\\s{2,}(\\S+)\\s+(\\S+)(\\s+\\S+)?\\s*");
    private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6}).*", Pattern.DOTALL);

    private DoctorProc() {}

    /** A limit of a process in its unit; {@link #UNLIMITED} means no limit. */
    record Limit(long soft, long hard) {}

    /** The first two numbers of a kernel's release. */
    record Kernel(int major, int minor) {
        boolean isAtLeast(int otherMajor, int otherMinor) {
            return major > otherMajor || (major == otherMajor && minor >= otherMinor);
        }
    }

    /** The contents of a file, at most 4 MiB of it; empty if it cannot be read. */
    static String read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
        } catch (IOException | SecurityException absent) {
            return "";
        }
    }

    /** The names in a directory, sorted; none if it cannot be read. */
    static List<String> names(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(p -> p.getFileName().toString()).sorted().toList();
        } catch (IOException | UncheckedIOException | DirectoryIteratorException absent) {
            return List.of();
        }
    }

    /** A field of {@code /proc/PID/status}: the text behind {@code name:}. */
    static Optional<String> field(String status, String name) {
        return status.lines().filter(l -> l.startsWith(name + ":")).map(l -> l.substring(name.length() + 1).strip())
                .findFirst();
    }

    /** A set of capabilities in {@code /proc/PID/status}, for instance {@code CapEff}; bit n is capability n. */
    static OptionalLong capabilities(String status, String name) {
        return field(status, name).filter(v -> v.matches("[0-9a-fA-F]{1,16}"))
                .map(v -> OptionalLong.of(Long.parseUnsignedLong(v, 16))).orElse(OptionalLong.empty());
    }

    /** A line of {@code /proc/PID/limits}, for instance {@code Max open files}. */
    static Optional<Limit> limit(String limits, String name) {
        for (String line : limits.lines().toList()) {
            Matcher m = LIMIT.matcher(line);
            if (m.matches() && m.group(1).equals(name)) {
                OptionalLong soft = number(m.group(2));
                OptionalLong hard = number(m.group(3));
                return soft.isPresent() && hard.isPresent()
                        ? Optional.of(new Limit(soft.getAsLong(), hard.getAsLong()))
                        : Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** A whole number from 0, or {@code unlimited}; a value above 63 bits is unlimited as well. */
    static OptionalLong number(String word) {
        String w = word.strip();
        if (w.equals("unlimited")) {
            return OptionalLong.of(UNLIMITED);
        }
        if (!w.matches("[0-9]{1,20}")) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseLong(w));
        } catch (NumberFormatException above63Bits) {
            return OptionalLong.of(UNLIMITED);
        }
    }

    /** The version in a release such as {@code 6.18.44-fc-v669}. */
    static Optional<Kernel> kernel(String release) {
        Matcher m = VERSION.matcher(release.strip());
        return m.matches()
                ? Optional.of(new Kernel(Integer.parseInt(m.group(1)), Integer.parseInt(m.group(2))))
                : Optional.empty();
    }

    /** The state of a kernel module. */
    enum Module {
        /** Loaded. */
        LOADED("is loaded"),
        /** Built in. */
        BUILT_IN("is built into the kernel"),
        /** Available on disk. */
        AVAILABLE("is installed and not loaded"),
        /** Nowhere. */
        ABSENT("is not there"),
        /** The folder of the running kernel's modules is missing. */
        UNKNOWN("is not loaded, and there is no folder of modules");

        private final String words;

        Module(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    /** Looks for a module; the root is {@code /}, a parameter so that a test can bring its own. */
    static Module module(Path root, String release, String name) {
        if (Files.isDirectory(root.resolve("sys/module/" + name + "/holders"))) {
            return Module.LOADED; // a built-in module has no such folder
        }
        Path folder = root.resolve("lib/modules").resolve(release).normalize();
        if (!folder.startsWith(root.resolve("lib/modules")) || !Files.isDirectory(folder)) {
            return Files.isDirectory(root.resolve("sys/module/" + name)) ? Module.BUILT_IN : Module.UNKNOWN;
        }
        if (mentions(folder.resolve("modules.builtin"), name)) {
            return Module.BUILT_IN;
        }
        return mentions(folder.resolve("modules.dep"), name) ? Module.AVAILABLE : Module.ABSENT;
    }

    /** Whether a list of modules names one, with {@code -} for {@code _} or without, compressed or not. */
    private static boolean mentions(Path list, String name) {
        Pattern file = Pattern.compile("(^|.*/)" + name.replace("_", "[-_]") + "\\.ko(\\.[a-z]+)?");
        return read(list).lines().map(l -> l.split(":", 2)[0]).anyMatch(l -> file.matcher(l).matches());
    }

    /** The names of capabilities by number: capabilities(7). */
    private static final List<String> CAPABILITIES = List.of("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER",
            "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST",
            "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE",
            "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD",
            "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM",
            "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE");

    /** Whether a set has a capability, by its name without {@code CAP_}. */
    static boolean has(long set, String capability) {
        int number = CAPABILITIES.indexOf(capability);
        if (number < 0) {
            throw new IllegalArgumentException("not a capability: " + capability);
        }
        return (set >>> number & 1) != 0;
    }

    /** The names of a set's capabilities, without {@code CAP_}; a number where there is no name. */
    static List<String> namesOf(long set) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < Long.SIZE; i++) {
            if ((set >>> i & 1) != 0) {
                names.add(i < CAPABILITIES.size() ? CAPABILITIES.get(i) : Integer.toString(i));
            }
        }
        return names;
    }
}
