// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.time.Instant;

/** The messages between the two ends of a copy; {@link CopyProtocol} encodes them. */
sealed interface CopyMessage {

    /** A message about one file or directory. */
    sealed interface Numbered extends CopyMessage {
        /** The number that the sender assigned to it. */
        int id();
    }

    /**
     * The sender has a regular file.
     *
     * @param id 1 more than that of the file or directory before
     * @param mode permission bits, 0 to 0777
     * @param size bytes
     * @param modified time of the last change
     * @param identity which file it is on its machine
     * @param path its target below the directory of the listener
     */
    record File(int id, int mode, long size, Instant modified, Identity identity, CopyBytes path) implements Numbered {}

    /**
     * What distinguishes a file from all others, so that none is copied onto itself.
     *
     * @param boot the kernel's boot identifier, 16 bytes
     * @param device number of the file system
     * @param inode number of the file in it
     */
    record Identity(CopyBytes boot, long device, long inode) {}

    /** The sender has a directory; mode and time are set when everything has arrived. */
    record Directory(int id, int mode, Instant modified, CopyBytes path) implements Numbered {}

    /** The sender's hash of the prefix that was offered. */
    record Prefix(int id, CopyBytes sha256) implements Numbered {}

    /** All chunks are written; the hash of the whole file. */
    record End(int id, CopyBytes sha256) implements Numbered {}

    /** The sender abandons the file. */
    record Cancel(int id, CopyStatus status, String text) implements Numbered {}

    /** The sender has nothing more. */
    record Bye() implements CopyMessage {}

    /** Still here; sent by either end while it is busy. */
    record Alive() implements CopyMessage {}

    /** The listener has a part of this file from an earlier attempt: the first {@code prefix} bytes. */
    record Offer(int id, long prefix) implements Numbered {}

    /** The listener has mapped a window of the file; {@code length} 0 means that no byte is missing. */
    record Grant(int id, long offset, long length, long address, int rkey) implements Numbered {}

    /** The listener has hashed this much of the file. */
    record Progress(int id, long verified) implements Numbered {}

    /** The end of a file or directory, one for each. */
    record Result(int id, CopyStatus status, long resumedFrom, String text) implements Numbered {}

    /** The listener's answer to {@link Bye}. */
    record Goodbye() implements CopyMessage {}

    /** Not a message: a chunk was written, its number arrived as the immediate value. */
    record Chunk(int index) implements CopyMessage {}
}
