// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * What is counted of the remote memory of a socket: sample points beside those of {@code
 * org.verbena.verbs.SamplePoint}.
 */
public final class RemoteMemorySamplePoint {
    /**
     * The remote memory of a connected socket, regions of both ends and copies between them, beside {@code ObjectType}.
     */
    public static final int OBJECT_TYPE = 13;

    /** Copies that this end has started, both ways. */
    public static final int REMOTE_MEMORY_COPIES = 0xd00;
    /** Bytes of copies to the other end's memory. */
    public static final int REMOTE_MEMORY_WRITE_BYTES = 0xd01;
    /** Bytes of copies from the other end's memory. */
    public static final int REMOTE_MEMORY_READ_BYTES = 0xd02;
    /** Copies that have failed after they were started. */
    public static final int REMOTE_MEMORY_FAILED = 0xd03;
    /** Copies reported to the other end. */
    public static final int REMOTE_MEMORY_REMOTE_COMPLETIONS = 0xd04;
    /** Events that the program has taken: of copies of the other end, and of its regions. */
    public static final int REMOTE_MEMORY_EVENTS = 0xd05;
    /** Copies that were refused because the other end's program had not taken its events. */
    public static final int REMOTE_MEMORY_STALLS = 0xd06;
    /** Events that came for memory that had been taken back, and were dropped. */
    public static final int REMOTE_MEMORY_LATE_EVENTS = 0xd07;

    private RemoteMemorySamplePoint() {}
}
