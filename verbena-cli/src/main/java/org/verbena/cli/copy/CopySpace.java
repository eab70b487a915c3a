// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

import org.verbena.cli.support.HumanText;
import org.verbena.linux.Errno;
import org.verbena.linux.FileSystemSpace;
import org.verbena.linux.LinuxException;

/** Why a file system accepts no more: a sentence for people. */
final class CopySpace {
    private CopySpace() {}

    /** Whether the reason is lack of space. */
    static boolean isFull(IOException e) {
        if (e instanceof LinuxException l) {
            return l.errno() == Errno.ENOSPC || l.errno() == Errno.EDQUOT;
        }
        String message = Objects.requireNonNullElse(e.getMessage(), "");
        return message.contains("No space left on device") || isQuota(e);
    }

    private static boolean isQuota(IOException e) {
        return e instanceof LinuxException l
                ? l.errno() == Errno.EDQUOT
                : Objects.requireNonNullElse(e.getMessage(), "").contains("Disk quota exceeded");
    }

    /**
     * What is missing.
     *
     * @param directory one of the file system
     * @param wanted bytes that were to be written; 0 if it was only a name
     */
    static String sentence(Path directory, long wanted, IOException e) {
        String where = "the file system of " + HumanText.printable(directory.toString());
        String space = "no space" + (wanted > 0 ? " for " + HumanText.size(wanted) : "") + " at the listener: ";
        if (isQuota(e)) {
            return space + "the quota of this user on " + where + " is used up";
        }
        FileSystemSpace left; // stat of the directory itself, which may be gone or unreadable
        try {
            left = FileSystemSpace.of(directory);
        } catch (LinuxException unknown) {
            return space + where + " is full";
        }
        String bytes = HumanText.size(left.availableBytes()) + " left";
        return left.isOutOfInodes()
                ? "no inodes at the listener: " + where + " has room for no more files and directories, with " + bytes
                        + " in its " + left.inodes() + " inodes; remove some"
                : space + where + " has " + bytes;
    }
}
