// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.FileStatus;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PosixFile;
import org.verbena.linux.Sys;
import org.verbena.linux.UserIds;

/**
 * The folder with the counter files of one user's processes, {@code /dev/shm/verbena-<uid>} unless the system property
 * {@value #PROPERTY} names another. In a user namespace that is not the machine's first, users have other numbers than
 * on the machine, and may share its /dev/shm: there the name ends with that of the namespace, {@code -<inode>}.
 * Immutable.
 *
 * @param path the folder
 * @param uid whose it is
 */
public record CounterFolder(Path path, int uid) {
    /** The system property that names another folder. */
    public static final String PROPERTY = "verbena.counters.directory";

    private static final Path PARENT = Path.of("/dev/shm");
    private static final String PREFIX = "verbena-";
    private static final Pattern NAME = Pattern.compile("(\\d{1,10})-[0-9a-f]{8}");
    private static final Pattern UNFINISHED = Pattern.compile("\\.\\d{1,10}-[0-9a-f]{8}");
    private static final int OTHERS_WRITE = 022;

    /** This user's. */
    public static CounterFolder own() {
        return of(Sys.uid());
    }

    /** A user's. */
    public static CounterFolder of(int uid) {
        String other = System.getProperty(PROPERTY, "");
        return new CounterFolder(other.isEmpty()
                ? PARENT.resolve(PREFIX + Integer.toUnsignedString(uid) + suffix())
                : Path.of(other), uid);
    }

    private static String suffix() {
        long namespace = UserIds.namespace();
        return namespace == 0 ? "" : "-" + namespace;
    }

    /** All there are, of this user namespace. */
    public static List<CounterFolder> all() throws IOException {
        if (!System.getProperty(PROPERTY, "").isEmpty()) {
            return List.of(own());
        }
        List<CounterFolder> all = new ArrayList<>();
        String suffix = suffix();
        try (DirectoryStream<Path> d = Files.newDirectoryStream(PARENT, PREFIX + "*" + suffix)) {
            for (Path p : d) {
                String name = p.getFileName().toString();
                String uid = name.substring(PREFIX.length(), name.length() - suffix.length());
                try {
                    all.add(new CounterFolder(p, Integer.parseUnsignedInt(uid)));
                } catch (NumberFormatException e) {
                    // something else that begins like it
                }
            }
        } catch (NoSuchFileException e) {
            // no shared memory: there are no files
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return all;
    }

    /** Makes the folder unless it is there. */
    void make() throws IOException, LinuxException {
        try {
            Files.createDirectory(path,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            check();
        }
    }

    /**
     * Makes sure that no other user can have put files into the folder.
     *
     * @throws IOException if another user can
     */
    public void check() throws IOException, LinuxException {
        try (Fd fd = PosixFile.open(path, PosixFile.O_RDONLY | PosixFile.O_NONBLOCK | PosixFile.O_NOFOLLOW, 0)) {
            String wrong = wrong(FileStatus.of(fd), UserIds.isOneUser(uid));
            if (wrong != null) {
                throw new IOException(path + " is not a folder that user " + Integer.toUnsignedString(uid)
                        + " alone can write to: " + wrong);
            }
        }
    }

    /**
     * What is wrong with a folder, and what to do; null if nothing is.
     *
     * @param oneUser whether the id of the user stands for him alone
     */
    @Nullable
    String wrong(FileStatus s, boolean oneUser) {
        String another = ", or name another folder with -D" + PROPERTY;
        if (!s.directory()) {
            return "it is none, remove it" + another;
        }
        // /dev/shm is writable by all users; one with another number in this user namespace may have taken the name
        if (s.uid() != uid) {
            return "it belongs to " + (UserIds.isOneUser(s.uid())
                    ? "user " + Integer.toUnsignedString(s.uid())
                    : "a user whom this user namespace does not map") + "; have him, or root, remove it" + another;
        }
        if (!oneUser) {
            return "the number stands for all users whom this user namespace does not map, which proves nothing";
        }
        return (s.permissions() & OTHERS_WRITE) == 0
                ? null
                : "others can write to it, remove it" + another;
    }

    /** Removes the folder if it is empty and the default one. */
    void removeIfEmpty() throws IOException {
        if (path.startsWith(PARENT) && path.getFileName().toString().startsWith(PREFIX)) {
            try {
                Files.deleteIfExists(path);
            } catch (DirectoryNotEmptyException e) {
                // others are there
            }
        }
    }

    /** A name for a new file. */
    Path fresh(int pid) {
        return path.resolve(pid + "-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt()));
    }

    /** The files there are, of living processes and of others. */
    public List<Path> files() throws IOException {
        return matching(NAME);
    }

    private List<Path> matching(Pattern names) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> d = Files.newDirectoryStream(path,
                p -> names.matcher(p.getFileName().toString()).matches())) {
            d.forEach(found::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    /** The process whose file it is, by its name. */
    public static long pid(Path file) {
        Matcher m = NAME.matcher(file.getFileName().toString());
        return m.matches() ? Long.parseLong(m.group(1)) : 0;
    }

    /**
     * Removes the files of processes that have ended; the folder has to be this user's, for names in it are believed.
     */
    public void sweep() throws IOException {
        List<Path> all = files();
        Instant old = Instant.now().minus(Duration.ofMinutes(1));
        for (Path p : matching(UNFINISHED)) {
            try {
                if (Files.getLastModifiedTime(p).toInstant().isBefore(old)) { // else it may not be locked yet
                    all.add(p);
                }
            } catch (NoSuchFileException e) {
                // it has its name by now
            }
        }
        for (Path p : all) {
            if (isLeftBehind(p)) {
                Files.deleteIfExists(p);
            }
        }
    }

    /** True if no process holds the lock of the file any more. */
    public static boolean isLeftBehind(Path file) {
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDONLY | PosixFile.O_NONBLOCK | PosixFile.O_NOFOLLOW, 0)) {
            return FileStatus.of(fd).regularFile() && PosixFile.tryLock(fd);
        } catch (LinuxException e) {
            return false; // gone, or not ours to judge
        }
    }
}
