// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The control groups that limit the memory of this process, cgroups(7): where the hierarchies of version 1 and 2 are
 * mounted according to proc_pid_mountinfo(5), and their topmost visible group, since a container sees its own groups
 * only.
 */
final class MemoryGroups {
    /** The file names of a version. */
    enum Version {
        V1("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        V2("memory.max", "memory.current", "inactive_file");

        final String limit;
        final String use;
        /** The field of memory.stat for reclaimable memory. */
        final String reclaimable;

        Version(String limit, String use, String reclaimable) {
            this.limit = limit;
            this.use = use;
            this.reclaimable = reclaimable;
        }
    }

    /** A group's directory. */
    record Group(Version version, Path directory) {
        /** The limit in bytes; -1 if there is none. */
        long limit() {
            return ProcText.number(directory.resolve(version.limit));
        }

        /** Memory that can be allocated before the limit is reached; {@link Long#MAX_VALUE} if there is none. */
        long room(long ifLess) {
            long limit = limit();
            long use = limit < 0 ? -1 : ProcText.number(directory.resolve(version.use));
            if (use < 0 || limit - use >= ifLess) {
                return Long.MAX_VALUE;
            }
            // Reclaimable memory only adds to the room, and for memory.stat the kernel sums over all processors.
            long cache = Math.max(0, ProcText.field(ProcText.text(directory.resolve("memory.stat")),
                    version.reclaimable));
            return limit - Math.max(0, use - cache);
        }
    }

    /** A mounted hierarchy: which of its groups is visible at which path. */
    private record Mount(Version version, Path top, String root) {
        /**
         * Adds the group of a path and its ancestors, the innermost first. For a path outside the root, adds the root.
         */
        void addGroups(String path, List<Group> into) {
            String below = root.equals("/")
                    ? path
                    : path.equals(root) || path.startsWith(root + "/")
                            ? path.substring(root.length())
                            : "";
            int start = 0;
            while (below.startsWith("/", start)) {
                start++;
            }
            @Nullable Path group = top.resolve(below.substring(start)).normalize();
            while (group != null && group.startsWith(top)) {
                into.add(new Group(version, group));
                group = group.getParent();
            }
        }
    }

    private final List<Mount> mounts = new ArrayList<>();

    /** @param mountinfo of the process; if it lists no hierarchy, the default paths are used */
    MemoryGroups(Path mountinfo, Path usual) {
        for (String line : ProcText.text(mountinfo).split("\n", -1)) {
            int dash = line.indexOf(" - ");
            String[] place = dash < 0 ? new String[0] : line.substring(0, dash).split(" ", -1);
            String[] source = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ", -1);
            if (place.length < 5 || source.length < 3) {
                continue;
            }
            if (source[0].equals("cgroup2")) {
                mounts.add(new Mount(Version.V2, Path.of(unescape(place[4])).normalize(), unescape(place[3])));
            } else if (source[0].equals("cgroup") && ("," + source[2] + ",").contains(",memory,")) {
                mounts.add(new Mount(Version.V1, Path.of(unescape(place[4])).normalize(), unescape(place[3])));
            }
        }
        if (mounts.isEmpty()) {
            mounts.add(new Mount(Version.V2, usual.normalize(), "/"));
            mounts.add(new Mount(Version.V1, usual.resolve("memory").normalize(), "/"));
        }
    }

    /** Decodes the escapes of a path in mountinfo. */
    private static String unescape(String path) {
        return path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    }

    /** All groups of the process, by its file /proc/self/cgroup. */
    List<Group> of(Path cgroup) {
        List<Group> groups = new ArrayList<>();
        for (String line : ProcText.text(cgroup).split("\n", -1)) { // "0::/path" of version 2, "5:memory:/path" of version 1
            String[] parts = line.split(":", 3);
            if (parts.length < 3) {
                continue;
            }
            Version version = parts[0].equals("0") && parts[1].isEmpty()
                    ? Version.V2
                    : ("," + parts[1] + ",").contains(",memory,") ? Version.V1 : null;
            for (Mount mount : mounts) {
                if (mount.version == version) {
                    mount.addGroups(parts[2], groups);
                }
            }
        }
        return groups;
    }

    /** Reads the small files of proc(5) and of control groups. */
    static final class ProcText {
        private ProcText() {}

        /** The number after a name at the start of a line, or -1. */
        static long field(String text, String name) {
            int at = 0;
            while (!(text.startsWith(name, at) && text.startsWith(" ", at + name.length()))) {
                at = text.indexOf('\n', at) + 1;
                if (at == 0) {
                    return -1;
                }
            }
            String rest = text.substring(at + name.length(), end(text, at)).strip();
            int word = rest.indexOf(' ');
            return parse(word < 0 ? rest : rest.substring(0, word));
        }

        private static int end(String text, int from) {
            int end = text.indexOf('\n', from);
            return end < 0 ? text.length() : end;
        }

        /** The number in a file; -1 if it has none, such as "max". */
        static long number(Path file) {
            String text = text(file);
            return parse(text.substring(0, end(text, 0)).strip());
        }

        private static long parse(String word) {
            if (word.isEmpty() || !Character.isDigit(word.charAt(0))) {
                return -1;
            }
            try {
                return Long.parseLong(word);
            } catch (NumberFormatException notANumber) {
                return -1;
            }
        }

        /** Empty if there is no such file. */
        static String text(Path file) {
            try {
                return Files.exists(file) ? Files.readString(file) : "";
            } catch (IOException gone) {
                return "";
            }
        }
    }
}
