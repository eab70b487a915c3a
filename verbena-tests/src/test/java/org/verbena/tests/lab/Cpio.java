// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** Writes an initramfs: cpio's "newc" format, Documentation/driver-api/early-userspace/buffer-format.rst. */
final class Cpio implements Closeable {
    private static final int DIRECTORY = 0040755;
    private static final int FILE = 0100755;
    private static final int SYMBOLIC_LINK = 0120777;
    private static final int CHARACTER_DEVICE = 0020600;

    private final OutputStream out;
    private final Set<String> names = new HashSet<>();
    private long position;
    private int inode = 1;

    Cpio(Path file) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16);
    }

    /** A folder and those above it; nothing if it is there. */
    void folder(String name) throws IOException {
        if (!name.isEmpty() && !names.contains(name)) {
            folder(above(name));
            entry(name, DIRECTORY, 0, 0, new byte[0]);
        }
    }

    /** A file that anybody may run; nothing if one of that name is there. */
    void file(String name, byte[] content) throws IOException {
        if (!names.contains(name)) {
            folder(above(name));
            entry(name, FILE, 0, 0, content);
        }
    }

    /** Nothing if something of that name is there. */
    void link(String name, String target) throws IOException {
        if (!names.contains(name)) {
            folder(above(name));
            entry(name, SYMBOLIC_LINK, 0, 0, target.getBytes(StandardCharsets.UTF_8));
        }
    }

    void device(String name, int major, int minor) throws IOException {
        folder(above(name));
        entry(name, CHARACTER_DEVICE, major, minor, new byte[0]);
    }

    private static String above(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('/')));
    }

    private void entry(String name, int mode, int major, int minor, byte[] content) throws IOException {
        names.add(name);
        byte[] path = (name + "\0").getBytes(StandardCharsets.UTF_8);
        // magic, inode, mode, user, group, links, time, size, device, device it is, length of the name, check sum
        put(String.format("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", inode++, mode, 0, 0, 1, 0,
                content.length, 0, 0, major, minor, path.length, 0).getBytes(StandardCharsets.US_ASCII));
        put(path);
        pad();
        put(content);
        pad();
    }

    private void put(byte[] bytes) throws IOException {
        out.write(bytes);
        position += bytes.length;
    }

    private void pad() throws IOException {
        put(new byte[(int) (-position & 3)]);
    }

    @Override
    public void close() throws IOException {
        entry("TRAILER!!!", 0, 0, 0, new byte[0]);
        out.close();
    }
}
