// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import org.junit.jupiter.api.Assumptions;

import org.verbena.linux.Sys;

/** Children that run as an ordinary user, and a class path for them. */
public final class Users {
    static final int NOBODY = 65534;

    private Users() {}

    /** Skips the test, with a line, unless this process may do everything. */
    public static void needsRoot(String what) {
        if (Sys.uid() != 0) {
            System.out.println("SKIPPED: only root can " + what);
            Assumptions.abort("not root");
        }
    }

    /** A child of the user nobody. */
    static Child.Builder nobody(Path folder, Class<?> main) throws IOException {
        needsRoot("run one side as another user");
        return Child.of(main).classPath(jars(folder)).under("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY,
                "--clear-groups", "--no-new-privs");
    }

    /**
     * A class path of jars in a folder that every user may read. The build's own folders are closed to other users, and
     * a class that is loaded from a folder needs a descriptor, which a process may have none of.
     */
    static String jars(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> jars = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (entry.isEmpty()) { // surefire's last, and not the working directory
                continue;
            }
            Path from = Path.of(entry);
            Path jar = folder.resolve(jars.size() + ".jar");
            if (Files.isDirectory(from)) {
                pack(from, jar);
                jars.add(jar.toString());
            } else if (from.getFileName().toString().startsWith("verbena-")) {
                copy(from, jar);
                jars.add(jar.toString());
            }
        }
        return String.join(File.pathSeparator, jars);
    }

    private static void copy(Path from, Path jar) throws IOException {
        if (!Files.exists(jar)) {
            Files.copy(from, jar);
        }
    }

    /** Makes a jar of a folder, unless it is there. */
    private static void pack(Path from, Path jar) throws IOException {
        if (Files.exists(jar)) {
            return;
        }
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out);
                Stream<Path> files = Files.walk(from)) {
            for (Path f : files.filter(Files::isRegularFile).toList()) {
                zip.putNextEntry(new ZipEntry(from.relativize(f).toString()));
                Files.copy(f, zip);
            }
        }
    }
}
