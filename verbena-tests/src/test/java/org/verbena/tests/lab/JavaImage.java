// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.spi.ToolProvider;

import org.verbena.testkit.Folders;
import org.verbena.tests.DebianArchive.Unavailable;

/**
 * The JVM of the virtual machines: an image that {@code jlink} makes of the JDK that runs the lab, with the modules
 * that Verbena, what it depends on and JUnit's console ask for. It is kept in a folder that is named by all its inputs.
 * If that JDK cannot link, machines see all of it.
 */
final class JavaImage {
    /** Verbena's own modules are not among them: they change with each build, and one of theirs is automatic. */
    static final List<String> MODULES = List.of("java.logging", "java.management", "java.xml", "jdk.attach", "jdk.jfr",
            "jdk.management", "jdk.net", "jdk.unsupported", "jdk.zipfs");
    private static final List<String> OPTIONS = List.of("--add-modules", String.join(",", MODULES), "--strip-debug",
            "--no-header-files", "--no-man-pages",
            // Without an archive of its classes a JVM starts much later, where instructions are emulated.
            "--generate-cds-archive");

    private final Path home;
    private final Path made;

    /** @param folder where images are kept */
    JavaImage(Path folder) throws IOException {
        home = Path.of(System.getProperty("java.home"));
        made = folder.resolve("jre-" + sha256(home + "\n" + Files.readString(home.resolve("release")) + OPTIONS)
                .substring(0, 12));
    }

    /** Links the image, unless it is there. Prints a line if it cannot be linked. */
    void make() throws IOException, Unavailable {
        if (Files.exists(made)) {
            return;
        }
        String problem = link();
        if (problem.isEmpty()) {
            return;
        }
        if (!home.resolve("conf/security/java.security").toRealPath().startsWith(home.toRealPath())) {
            throw new Unavailable(home + " cannot link an image of itself (" + problem + "), and has its configuration "
                    + "elsewhere, where virtual machines do not see it: point JAVA_HOME to a JDK with jlink, or to one "
                    + "that is one folder");
        }
        System.out.println("lab: jlink makes no image of " + home + ", so machines see all of it: " + problem);
    }

    /** The image if it was made, else the JDK. */
    Path folder() {
        return Files.exists(made) ? made : home;
    }

    /** Empty, or why there is no image. */
    String link() throws IOException {
        Optional<ToolProvider> jlink = ToolProvider.findFirst("jlink");
        if (jlink.isEmpty()) {
            return "it has no jlink";
        }
        Path work = made.resolveSibling("linking-" + ProcessHandle.current().pid());
        try {
            StringWriter said = new StringWriter();
            PrintWriter out = new PrintWriter(said);
            String[] arguments = new String[OPTIONS.size() + 2];
            OPTIONS.toArray(arguments);
            arguments[OPTIONS.size()] = "--output";
            arguments[OPTIONS.size() + 1] = work.toString();
            int code = jlink.get().run(out, out, arguments);
            out.flush();
            if (code != 0) {
                return said.toString().strip().lines().findFirst().orElse("exit code " + code);
            }
            Files.move(work, made, StandardCopyOption.ATOMIC_MOVE);
            removeOthers();
            return "";
        } finally {
            Folders.remove(work);
        }
    }

    /** Those of another JDK, or of other modules: nothing uses them any more. */
    private void removeOthers() throws IOException {
        try (DirectoryStream<Path> images = Files.newDirectoryStream(made.resolveSibling("."), "jre-*")) {
            for (Path image : images) {
                if (!image.getFileName().equals(made.getFileName())) {
                    Folders.remove(image);
                }
            }
        }
    }

    private static String sha256(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(
                    StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
