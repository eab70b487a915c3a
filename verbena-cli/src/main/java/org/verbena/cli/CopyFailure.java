package org.verbena.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Objects;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;

/** A copy failed, with the status that decides the exit code and a sentence for a person. */
final class CopyFailure extends IOException {
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

    CopyStatus status() {
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

    /** Puts any failure of input or output into a sentence; a full disk is told apart. */
    static CopyFailure of(String doing, IOException e) {
        if (e instanceof CopyFailure already) {
            return already;
        }
        if (isFull(e)) {
            return new CopyFailure(CopyStatus.NO_SPACE, doing
                    + ": no space left on the device, or the quota is used up",
                    e);
        }
        return new CopyFailure(CopyStatus.FAILED, doing + ": " + reason(e), e);
    }

    private static boolean isFull(IOException e) {
        if (e instanceof LinuxException l) {
            return l.errno() == Errno.ENOSPC || l.errno() == Errno.EDQUOT;
        }
        String message = Objects.requireNonNullElse(e.getMessage(), "");
        return message.contains("No space left on device") || message.contains("Disk quota exceeded");
    }

    /** The JDK's file exceptions have the path for a message and say the rest by their class. */
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
