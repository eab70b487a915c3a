// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
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

    /** A group: its directory, and the files there that tell what it may have and has. */
    static final class Group {
        private final Version version;
        private final Path directory;
        private final ProcText.Source limit;
        private final ProcText.Source use;
        private final ProcText.Source statistics;

        Group(Version version, Path directory) {
            this.version = version;
            this.directory = directory;
            limit = ProcText.Source.of(directory.resolve(version.limit));
            use = ProcText.Source.of(directory.resolve(version.use));
            statistics = ProcText.Source.of(directory.resolve("memory.stat"));
        }

        Path directory() {
            return directory;
        }

        /** The limit in bytes; -1 if there is none. */
        long limit(ProcText text) {
            return text.read(limit).number();
        }

        /** Memory that can be allocated before the limit is reached; {@link Long#MAX_VALUE} if there is none. */
        long room(ProcText text, long ifLess) {
            long most = limit(text);
            long used = most < 0 ? -1 : text.read(use).number();
            if (used < 0 || most - used >= ifLess) {
                return Long.MAX_VALUE;
            }
            // Reclaimable memory only adds to the room, and for memory.stat the kernel sums over all processors.
            long cache = Math.max(0, text.read(statistics).field(version.reclaimable));
            return most - Math.max(0, used - cache);
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
    /** What the file of the process had in it, and what groups that are: seldom others. */
    private MemorySegment known = MemorySegment.NULL;
    private Group[] groups = {};
    /** For the files of the process and of its groups, under this object's monitor. */
    private final ProcText text = new ProcText();

    /** @param mountinfo of the process; if it lists no hierarchy, the default paths are used */
    MemoryGroups(Path mountinfo, Path usual) {
        for (String line : new ProcText().read(ProcText.Source.of(mountinfo)).toString().split("\n", -1)) {
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

    /** What reads files here; the caller has this one's monitor. */
    ProcText text() {
        return text;
    }

    /** All groups of the process, by its file /proc/self/cgroup. The caller has this one's monitor, and does not change the array. */
    Group[] of(ProcText.Source cgroup) {
        if (!text.read(cgroup).isSame(known)) {
            groups = find(text.toString());
            known = text.copy();
        }
        return groups;
    }

    private Group[] find(String cgroup) {
        List<Group> found = new ArrayList<>();
        for (String line : cgroup.split("\n", -1)) { // "0::/path" of version 2, "5:memory:/path" of version 1
            String[] parts = line.split(":", 3);
            if (parts.length < 3) {
                continue;
            }
            Version version = parts[0].equals("0") && parts[1].isEmpty()
                    ? Version.V2
                    : ("," + parts[1] + ",").contains(",memory,") ? Version.V1 : null;
            for (Mount mount : mounts) {
                if (mount.version == version) {
                    mount.addGroups(parts[2], found);
                }
            }
        }
        return found.toArray(Group[]::new);
    }
}
