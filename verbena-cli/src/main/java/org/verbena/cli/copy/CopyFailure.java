// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;

/** A copy failed, with the status that determines the exit code and a sentence for people. */
public final class CopyFailure extends IOException {
    private static final long serialVersionUID = 1L;

    private final CopyStatus status;

    CopyFailure(CopyStatus status, String sentence) {
        super(sentence);
        this.status = status;
    }

    CopyFailure(CopyStatus status, String sentence, Throwable cause) {
        super(sentence, cause);
        this.status = status;
    }

    public CopyStatus status() {
        return status;
    }

    /** The sentence. */
    String sentence() {
        return Objects.requireNonNullElse(getMessage(), "");
    }

    /** The peer sent something that the protocol does not allow. */
    static CopyFailure protocol(String what) {
        return new CopyFailure(CopyStatus.PROTOCOL, "the peer broke the protocol: " + what);
    }

    /** Describes any failure of input or output in a sentence. */
    static CopyFailure of(String doing, IOException e) {
        if (e instanceof CopyFailure already) {
            return already;
        }
        return new CopyFailure(CopyStatus.FAILED, doing + ": " + reason(e), e);
    }

    /** The same for work of a listener below a directory; a full file system is distinguished. */
    static CopyFailure at(Path directory, String doing, IOException e) {
        if (e instanceof CopyFailure || !CopySpace.isFull(e)) {
            return of(doing, e);
        }
        return new CopyFailure(CopyStatus.NO_SPACE, doing + ": " + CopySpace.sentence(directory(directory, e), 0, e),
                e);
    }

    /** The file that the failure names, which may be on another file system. */
    private static Path directory(Path usual, IOException e) {
        String file = e instanceof FileSystemException f ? f.getFile() : null;
        try {
            Path parent = file == null ? null : Path.of(file).getParent();
            return parent == null ? usual : parent;
        } catch (InvalidPathException unknown) {
            return usual;
        }
    }

    /** File exceptions of the JDK have the path as their message and convey the rest by their class. */
    private static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (e instanceof FileSystemException f && f.getReason() != null) {
            return f.getReason();
        }
        return Objects.requireNonNullElse(e.getMessage(), e.toString());
    }
}
