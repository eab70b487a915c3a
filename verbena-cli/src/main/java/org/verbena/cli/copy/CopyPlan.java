// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.linux.PathBytes;

/**
 * The files that a sender has to copy, found before anything moves, so that the total and duplicate names are known.
 */
final class CopyPlan {
    /**
     * A file or a directory.
     *
     * @param source where it is
     * @param target its target below the directory of the listener
     * @param directory whether it is one
     * @param size bytes, 0 for a directory
     */
    record Entry(Path source, CopyBytes target, boolean directory, long size) {
        String name() {
            return HumanText.printable(source.toString());
        }
    }

    /** Something that is not copied, and why. */
    record Omission(Path source, CopyStatus status, String reason) {
        String name() {
            return HumanText.printable(source.toString());
        }
    }

    private final List<Entry> entries = new ArrayList<>();
    private final List<Omission> skipped = new ArrayList<>();
    private final List<Omission> failed = new ArrayList<>();
    private long bytes;
    private int files;

    /**
     * Walks through the named files and directories. A symbolic link that was named itself is followed; those found in
     * directories, and everything else that is neither file nor directory, are skipped.
     *
     * @throws CopyFailure if two of the names have the same target, or one has none
     */
    static CopyPlan of(List<Path> sources) throws CopyFailure {
        CopyPlan plan = new CopyPlan();
        Map<CopyBytes, Path> taken = new HashMap<>();
        for (Path source : sources) {
            CopyBytes name = name(source);
            Path other = taken.put(name, source);
            if (other != null) {
                throw new CopyFailure(CopyStatus.FAILED, "both " + HumanText.printable(other.toString()) + " and "
                        + HumanText.printable(source.toString()) + " would become " + name);
            }
            plan.add(source, name);
        }
        return plan;
    }

    private static CopyBytes name(Path source) throws CopyFailure {
        byte[] path = PathBytes.of(source.toAbsolutePath().normalize());
        int slash = path.length;
        while (slash > 0 && path[slash - 1] != '/') {
            slash--;
        }
        if (slash == path.length) {
            throw new CopyFailure(CopyStatus.FAILED, "\"" + source
                    + "\" has no name to copy it to: name what is in it");
        }
        return CopyBytes.of(path).slice(slash, path.length);
    }

    private void add(Path source, CopyBytes target) {
        try {
            BasicFileAttributes a = Files.readAttributes(source, BasicFileAttributes.class);
            if (a.isDirectory()) {
                int before = entries.size();
                int skippedBefore = skipped.size();
                Files.walkFileTree(source.toRealPath(), new Walker(source, target));
                // a file system has no defined order
                entries.subList(before, entries.size()).sort(Comparator.comparing(Entry::target, CopyPlan::compare));
                skipped.subList(skippedBefore, skipped.size()).sort(Comparator.comparing(Omission::source));
            } else if (a.isRegularFile()) {
                addFile(source, target, a.size());
            } else {
                failed.add(new Omission(source, CopyStatus.FAILED, "neither a file nor a directory"));
            }
        } catch (IOException e) {
            fail(source, e);
        }
    }

    /** By name, with the contents of a directory directly behind it. */
    private static int compare(CopyBytes one, CopyBytes other) {
        int common = Math.min(one.length(), other.length());
        for (int i = 0; i < common; i++) {
            if (one.at(i) != other.at(i)) {
                return one.at(i) == '/'
                        ? -1
                        : other.at(i) == '/' ? 1 : Byte.compareUnsigned(one.at(i), other.at(i));
            }
        }
        return Integer.compare(one.length(), other.length());
    }

    private void addFile(Path source, CopyBytes target, long size) {
        entries.add(new Entry(source, target, false, size));
        files++;
        bytes += size;
    }

    private void fail(Path source, IOException e) {
        CopyFailure f = CopyFailure.of("cannot read", e);
        failed.add(new Omission(source, f.status(), f.sentence()));
    }

    List<Entry> entries() {
        return entries;
    }

    /** Whether a file is left out on purpose. */
    List<Omission> skipped() {
        return skipped;
    }

    /** What could not be read. */
    List<Omission> failed() {
        return failed;
    }

    long bytes() {
        return bytes;
    }

    int files() {
        return files;
    }

    private final class Walker extends SimpleFileVisitor<Path> {
        private final Path named;
        private final Path start;
        private final CopyBytes target;
        private final int prefix;

        Walker(Path named, CopyBytes target) throws IOException {
            this.named = named;
            this.target = target;
            start = named.toRealPath();
            int length = PathBytes.of(start).length;
            prefix = length == 1 ? 0 : length; // of the root, whose one byte is the slash
        }

        private CopyBytes target(Path found) {
            ByteArrayOutputStream b = new ByteArrayOutputStream();
            b.writeBytes(target.bytes());
            byte[] path = PathBytes.of(found);
            b.write(path, prefix, path.length - prefix);
            return CopyBytes.of(b.toByteArray());
        }

        /** As the person named it. */
        private Path source(Path found) {
            return found.equals(start) ? named : named.resolve(start.relativize(found));
        }

        @Override
        public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes a) {
            if (!dir.equals(start) && dir.endsWith(CopyTree.AREA)) {
                skipped.add(new Omission(source(dir), CopyStatus.OK, "unfinished copies"));
                return FileVisitResult.SKIP_SUBTREE;
            }
            entries.add(new Entry(source(dir), target(dir), true, 0));
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes a) {
            if (a.isRegularFile()) {
                addFile(source(file), target(file), a.size());
            } else {
                skipped.add(new Omission(source(file), CopyStatus.OK,
                        a.isSymbolicLink() ? "a symbolic link" : "neither a file nor a directory"));
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) {
            fail(source(file), e);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException e) {
            if (e != null) {
                fail(source(dir), e);
            }
            return FileVisitResult.CONTINUE;
        }
    }
}
