// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.verbena.testkit.Folders;
import org.verbena.tests.DebianArchive;
import org.verbena.tests.DebianArchive.Unavailable;

/**
 * Kernel and initramfs of the virtual machines, created from Debian packages according to {@code lab/image.conf}, and
 * kept in a folder that is named by all its inputs.
 */
final class Image {
    /** Incremented when this class creates something else from the same recipe. */
    private static final String VERSION = "2";
    private static final Pattern LIBRARY = Pattern.compile("(?m)(?:^|=> )\\s*(/\\S+) \\(0x");
    private static final String LOADER = "lib64/ld-linux-x86-64.so.2";
    private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu";

    private final Path folder;
    private final Path guest;
    private final Map<String, List<String>> recipe = new LinkedHashMap<>();
    private final Path made;

    /**
     * @param lab folder with the recipe and what runs inside
     * @param folder where images are kept
     */
    Image(Path lab, Path folder) throws IOException {
        this.folder = folder;
        guest = lab.resolve("guest");
        Path file = lab.resolve("image.conf");
        for (String line : Files.readAllLines(file)) {
            String[] words = line.strip().split("\\s+", -1);
            if (!line.isBlank() && !line.startsWith("#")) {
                recipe.computeIfAbsent(words[0], k -> new ArrayList<>()).addAll(List.of(words).subList(1,
                        words.length));
            }
        }
        String all = VERSION + recipe + Files.readString(guest.resolve("init")) + Files.readString(guest.resolve(
                "agent"));
        made = folder.resolve("image-" + sha256(all).substring(0, 12));
    }

    /** The kernel and, beside it, {@code initrd} and {@code versions}; created if they are missing. */
    Path folder() throws IOException, InterruptedException, Unavailable {
        if (!Files.exists(made)) {
            Path work = Files.createDirectories(folder).resolve("making-" + ProcessHandle.current().pid());
            try {
                make(work);
                Files.move(work.resolve("made"), made, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Folders.remove(work);
            }
        }
        return made;
    }

    /** Names and versions of the packages it was made of. */
    String versions() throws IOException {
        return Files.readString(made.resolve("versions"));
    }

    private void make(Path work) throws IOException, InterruptedException, Unavailable {
        DebianArchive archive = new DebianArchive(folder.resolve("apt"), recipe.get("suite").getFirst(),
                DebianArchive.Kind.BINARIES);
        List<String> wanted = new ArrayList<>(archive.withDependencies(recipe.get("package")));
        wanted.add(archive.dependency(recipe.get("kernel").getFirst(), "linux-image-\\S+"));
        List<Path> packages = archive.fetch(work.resolve("packages"), wanted);
        Path root = work.resolve("root");
        for (String merged : List.of("bin", "sbin", "lib", "lib64")) {
            Files.createDirectories(root.resolve("usr").resolve(merged));
            Files.createSymbolicLink(root.resolve(merged), Path.of("usr", merged));
        }
        StringBuilder versions = new StringBuilder();
        for (Path p : packages) {
            DebianArchive.run(work, "sh", "-c",
                    "dpkg-deb --fsys-tarfile \"$1\" | tar -x --keep-directory-symlink -C \"$2\"", "sh", p.toString(),
                    root.toString());
            versions.append(p.getFileName().toString().replaceFirst("_[a-z0-9]*\\.deb$", "").replace("%3a", ":")
                    .replace('_', ' ')).append('\n');
        }
        Path result = Files.createDirectories(work.resolve("made"));
        Files.writeString(result.resolve("versions"), versions);
        Files.move(only(root.resolve("boot"), "vmlinuz-*"), result.resolve("vmlinuz"));
        try (Cpio cpio = new Cpio(result.resolve("initrd"))) {
            fill(cpio, root);
        }
    }

    private void fill(Cpio cpio, Path root) throws IOException, InterruptedException, Unavailable {
        for (String merged : List.of("bin", "sbin", "lib", "lib64")) {
            cpio.folder("usr/" + merged);
            cpio.link(merged, "usr/" + merged);
        }
        for (String f : List.of("proc", "sys", "dev", "run", "tmp", "share", "jre", "etc")) {
            cpio.folder(f);
        }
        cpio.device("dev/console", 5, 1); // else the kernel starts init without an output
        cpio.file("init", Files.readAllBytes(guest.resolve("init")));
        cpio.file("usr/sbin/agent", Files.readAllBytes(guest.resolve("agent")));
        List<Path> linked = new ArrayList<>();
        for (String p : recipe.get("program")) {
            Path file = Stream.of("usr/bin", "usr/sbin").map(d -> root.resolve(d).resolve(p)).filter(Files::exists)
                    .findFirst().orElseThrow(() -> new Unavailable("none of the packages has a program " + p));
            cpio.file(root.relativize(file).toString(), Files.readAllBytes(file));
            linked.add(file);
        }
        cpio.link("usr/bin/sh", "dash");
        for (String l : recipe.get("library")) {
            linked.add(root.resolve(LIBRARIES).resolve(l));
        }
        for (String p : recipe.get("provider")) {
            Path file = only(root.resolve(LIBRARIES).resolve("libibverbs"), "lib" + p + "-rdmav*.so");
            cpio.file(LIBRARIES + "/libibverbs/" + file.getFileName(), Files.readAllBytes(file));
            cpio.file("etc/libibverbs.d/" + p + ".driver", ("driver " + p + "\n").getBytes(UTF_8));
            linked.add(file);
        }
        libraries(cpio, root, linked);
        busybox(cpio, root);
        Map<String, byte[]> modules = new KernelModules(only(root.resolve("lib/modules"), "*")).withDependencies(
                recipe.get("module"));
        for (Map.Entry<String, byte[]> m : modules.entrySet()) {
            cpio.file("usr/lib/modules/" + m.getKey() + ".ko", m.getValue());
        }
        cpio.file("usr/lib/modules/order", (String.join(".ko\n", modules.keySet()) + ".ko\n").getBytes(UTF_8));
    }

    /** What the loader of the packages, not of this machine, finds for these files. */
    private static void libraries(Cpio cpio, Path root, List<Path> linked)
            throws IOException, InterruptedException, Unavailable {
        Path loader = root.resolve(LOADER);
        cpio.file("usr/" + LOADER, Files.readAllBytes(loader));
        for (Path file : linked) {
            String name = root.relativize(file).toString();
            if (name.startsWith(LIBRARIES)) {
                cpio.file(name, Files.readAllBytes(file));
            }
            String all = DebianArchive.run(root, loader.toString(), "--inhibit-cache", "--library-path", root.resolve(
                    LIBRARIES).toString(), "--list", file.toString());
            if (all.contains("not found")) {
                throw new Unavailable(name + " needs what none of the packages has: " + all.strip());
            }
            Matcher m = LIBRARY.matcher(all);
            while (m.find()) {
                Path found = Path.of(m.group(1));
                cpio.file(LIBRARIES + "/" + found.getFileName(), Files.readAllBytes(found));
            }
        }
    }

    /** Its commands, where no program of the same name is there. */
    private static void busybox(Cpio cpio, Path root) throws IOException, InterruptedException, Unavailable {
        Path busybox = root.resolve("bin/busybox");
        cpio.file("usr/bin/busybox", Files.readAllBytes(busybox));
        for (String command : DebianArchive.run(root, busybox.toString(), "--list").split("\n", -1)) {
            if (!command.isBlank() && !Files.exists(root.resolve("usr/sbin/" + command))) {
                cpio.link("usr/bin/" + command, "busybox");
            }
        }
    }

    private static Path only(Path folder, String glob) throws IOException, Unavailable {
        try (var files = Files.newDirectoryStream(folder, glob)) {
            for (Path f : files) {
                return f;
            }
        }
        throw new Unavailable("none of the packages has " + folder.getFileName() + "/" + glob);
    }

    private static String sha256(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
