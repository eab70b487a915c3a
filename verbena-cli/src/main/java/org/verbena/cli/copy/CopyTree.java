// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.linux.PathBytes;

/**
 * The directory of a listener: turns the path that a peer sends into a place below the directory, or refuses it. Safe
 * for use by several threads.
 *
 * <p>A path is refused if it is absolute or empty, if one of its names is empty, {@code "."}, {@code ".."}, too long,
 * has a NUL or is {@link #AREA}, or if one of its directories is a symbolic link that leads out of the directory. A
 * symbolic link at the end is never followed: a copy replaces the link.
 */
final class CopyTree {
    /** The folder of files that are not complete yet. */
    static final String AREA = ".verbena-copy";

    private static final int MAX_NAME = 255;
    private static final LinkOption[] NOFOLLOW = {LinkOption.NOFOLLOW_LINKS};

    private final Path root;
    private final Set<Place> claimed = new HashSet<>();

    /**
     * A place for a file.
     *
     * @param parent the directory, free of symbolic links
     * @param target the file in it
     * @param area the folder of the unfinished file, in the same file system
     * @param key the name of the unfinished file without extension
     */
    record Place(Path parent, Path target, Path area, String key) {
        Path part() {
            return area.resolve(key + ".part");
        }

        Path state() {
            return area.resolve(key + ".state");
        }
    }

    /** A tree below an existing directory. */
    CopyTree(Path directory) throws IOException {
        root = directory.toRealPath();
        if (!Files.isDirectory(root)) {
            throw new CopyFailure(CopyStatus.FAILED, HumanText.printable(directory.toString()) + ": not a directory");
        }
    }

    /** The directory, free of symbolic links. */
    Path root() {
        return root;
    }

    /** Finds the place of a file, and creates the directories on the way to it. */
    Place place(CopyBytes path) throws IOException {
        Path parent = root;
        int start = 0;
        for (int i = 0; i < path.length(); i++) {
            if (path.at(i) == '/') {
                parent = descend(parent, checked(path, start, i), path);
                start = i + 1;
            }
        }
        Path target = PathBytes.resolve(parent, checked(path, start, path.length()));
        Path area = area(parent);
        return new Place(parent, target, area, HexFormat.of().formatHex(CopyHash.newDigest().digest(PathBytes.of(
                target)), 0, 20));
    }

    /** Creates a directory, and those on the way to it; does nothing where there is one. */
    Path directory(CopyBytes path) throws IOException {
        Path directory = root;
        int start = 0;
        for (int i = 0; i <= path.length(); i++) {
            if (i == path.length() || path.at(i) == '/') {
                directory = descend(directory, checked(path, start, i), path);
                start = i + 1;
            }
        }
        return directory;
    }

    private static byte[] checked(CopyBytes path, int from, int to) throws CopyFailure {
        CopyBytes name = path.slice(from, to);
        String why = null;
        String ascii = name.length() <= AREA.length() ? name.toString() : "";
        if (name.length() == 0) {
            why = from == 0 && to < path.length() ? "is absolute" : "has an empty name";
        } else if (ascii.equals(".") || ascii.equals("..")) {
            why = "has the name \"" + ascii + "\"";
        } else if (ascii.equals(AREA)) {
            why = "leads into " + AREA;
        } else if (name.length() > MAX_NAME) {
            why = "has a name of " + name.length() + " bytes, at most " + MAX_NAME + " are possible";
        } else if (hasNul(name)) {
            why = "has a NUL character";
        }
        if (why != null) {
            throw new CopyFailure(CopyStatus.REFUSED, "the listener refuses the path \"" + path + "\": it " + why);
        }
        return name.bytes();
    }

    private static boolean hasNul(CopyBytes name) {
        for (int i = 0; i < name.length(); i++) {
            if (name.at(i) == 0) {
                return true;
            }
        }
        return false;
    }

    private Path descend(Path parent, byte[] name, CopyBytes path) throws IOException {
        Path child = PathBytes.resolve(parent, name);
        for (int attempt = 0;; attempt++) {
            BasicFileAttributes a = attributes(child);
            if (a == null) {
                try {
                    Files.createDirectory(child);
                } catch (FileAlreadyExistsException e) {
                    if (attempt > 2) { // another sender created it meanwhile: check again, but not forever
                        throw e;
                    }
                }
            } else if (a.isSymbolicLink()) {
                return followed(child, path);
            } else if (a.isDirectory()) {
                return child;
            } else {
                throw new CopyFailure(CopyStatus.FAILED, "\"" + path + "\": " + HumanText.printable(child.toString())
                        + " is not a directory");
            }
        }
    }

    private Path followed(Path link, CopyBytes path) throws IOException {
        Path real;
        try {
            real = link.toRealPath();
        } catch (NoSuchFileException e) {
            throw new CopyFailure(CopyStatus.REFUSED, "the listener refuses the path \"" + path + "\": "
                    + HumanText.printable(link.toString()) + " is a symbolic link to nothing", e);
        }
        if (!real.startsWith(root) || !Files.isDirectory(real, NOFOLLOW)) {
            throw new CopyFailure(CopyStatus.REFUSED, "the listener refuses the path \"" + path + "\": "
                    + HumanText.printable(link.toString()) + " is a symbolic link that leads out of its directory");
        }
        return real;
    }

    /** The attributes of a file, not following a link; null if there is none. */
    static @Nullable BasicFileAttributes attributes(Path file) throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class, NOFOLLOW);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Below the root, or below {@code parent} if a file could not be renamed from the root to it. */
    private Path area(Path parent) throws IOException {
        boolean sameFileSystem = Objects.equals(Files.getAttribute(parent, "unix:dev"), Files.getAttribute(root,
                "unix:dev"));
        return (sameFileSystem ? root : parent).resolve(AREA);
    }

    /** Creates the area of unfinished files, for this user alone. */
    static void createArea(Path area) throws IOException {
        try {
            Files.createDirectory(area, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(
                    "rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(area, NOFOLLOW)) {
                throw new CopyFailure(CopyStatus.REFUSED,
                        HumanText.printable(area.toString()) + " is in the way: it is not a directory", e);
            }
        }
    }

    /** Reserves a place for one connection; false if another has it. */
    synchronized boolean claim(Place place) {
        return claimed.add(place);
    }

    /** Releases a place, and removes the area of unfinished files if it is unused and empty. */
    synchronized void release(Place place) {
        claimed.remove(place);
        if (claimed.stream().noneMatch(p -> p.area().equals(place.area()))) {
            try {
                Files.deleteIfExists(place.area());
            } catch (IOException e) {
                // not empty: a later attempt continues with its contents
            }
        }
    }

    /** Makes the entries of a directory durable. */
    static void sync(Path directory) throws IOException {
        try (FileChannel c = FileChannel.open(directory, StandardOpenOption.READ)) {
            c.force(true);
        }
    }
}
