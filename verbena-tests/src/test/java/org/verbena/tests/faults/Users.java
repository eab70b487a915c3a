package org.verbena.tests.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Assumptions;

import org.verbena.linux.Sys;

/** Children that run as an ordinary user. */
final class Users {
    static final int NOBODY = 65534;

    private Users() {}

    /** A child of the user nobody; skips the test, with a line, if this process may not start one. */
    static Child.Builder nobody(Path classes, Class<?> main) throws IOException {
        if (Sys.uid() != 0) {
            System.out.println("SKIPPED: only root can run one side as another user");
            Assumptions.abort("not root");
        }
        return Child.of(main).classPath(readableClassPath(classes)).under("setpriv", "--reuid=" + NOBODY, "--regid="
                + NOBODY, "--clear-groups", "--no-new-privs");
    }

    /** A class path for users who cannot look into the build's folders: copies of what is ours in this one. */
    private static String readableClassPath(Path to) throws IOException {
        Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> copies = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path from = Path.of(entry);
            if (Files.isDirectory(from) || from.getFileName().toString().startsWith("verbena-")) {
                Path copy = to.resolve(String.valueOf(copies.size()));
                if (!Files.exists(copy)) {
                    copy(from, copy);
                }
                copies.add(copy.toString());
            }
        }
        return String.join(File.pathSeparator, copies);
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes a) throws IOException {
                Path copy = to.resolve(from.relativize(folder).toString());
                Files.createDirectories(copy);
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.copy(file, copy);
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
