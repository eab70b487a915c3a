// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The bytes of a file name in the kernel.
 *
 * <p>A name on Linux is bytes, not characters; {@link Path#toString()} decodes them by the locale and loses those that
 * do not fit (in the C locale every one above 0x7f). A {@code file:} URI keeps them, so the conversion through it works
 * everywhere. Stateless and thread-safe.
 */
public final class PathBytes {
    private PathBytes() {}

    /**
     * The bytes of a path.
     *
     * @param path a path of the default file system; a relative one is resolved against the working directory
     * @return the absolute path, without a slash at the end except for the root
     */
    public static byte[] of(Path path) {
        String encoded = path.toUri().getRawPath();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(encoded.length());
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c == '%') {
                bytes.write(HexFormat.fromHexDigits(encoded, i + 1, i + 3));
                i += 2;
            } else {
                bytes.write(c);
            }
        }
        byte[] all = bytes.toByteArray();
        int length = all.length;
        while (length > 1 && all[length - 1] == '/') { // a URI of a directory ends with a slash
            length--;
        }
        return Arrays.copyOf(all, length);
    }

    /**
     * The path with the given bytes.
     *
     * @param absolute an absolute path, without NUL
     * @return the path in the default file system
     * @throws IllegalArgumentException if the path is relative or contains a NUL
     */
    public static Path toPath(byte[] absolute) {
        if (absolute.length == 0 || absolute[0] != '/') {
            throw new IllegalArgumentException("not an absolute path");
        }
        StringBuilder uri = new StringBuilder("file://");
        for (byte b : absolute) {
            if (b == 0) {
                throw new IllegalArgumentException("a path contains a NUL character");
            }
            if (b == '/') {
                uri.append('/');
            } else {
                uri.append('%').append(HexFormat.of().toHexDigits(b));
            }
        }
        return Path.of(URI.create(uri.toString()));
    }

    /**
     * The path of a directory's entry.
     *
     * @param directory the directory
     * @param name one name, without slash and NUL
     * @return the path in the default file system
     * @throws IllegalArgumentException if {@code name} is no name
     */
    public static Path resolve(Path directory, byte[] name) {
        byte[] parent = of(directory);
        String joined = new String(parent, StandardCharsets.ISO_8859_1) + (parent.length == 1 ? "" : "/")
                + new String(name, StandardCharsets.ISO_8859_1);
        if (name.length == 0 || new String(name, StandardCharsets.ISO_8859_1).indexOf('/') >= 0) {
            throw new IllegalArgumentException("not the name of a directory's entry");
        }
        return toPath(joined.getBytes(StandardCharsets.ISO_8859_1));
    }
}
