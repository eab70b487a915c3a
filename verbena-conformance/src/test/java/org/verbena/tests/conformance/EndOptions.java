// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.QueuePairType;

/** How to make an {@link End}. */
final class EndOptions implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The source of the memory of the region. */
    enum Memory {
        /** {@code ProtectionDomain.allocate}. */
        ALLOCATED,
        /** {@code ProtectionDomain.register} of a part of an arena's segment. */
        REGISTERED
    }

    int type = QueuePairType.RC;
    int createFlags;
    /** Of datagrams, both what they carry and what is taken. */
    int qkey = 0x1234_5678;
    Memory memory = Memory.ALLOCATED;
    long bytes = 1 << 16;
    int access = AccessFlags.ALL;
    int queuePairAccess = AccessFlags.ALL;
    int maxSendWr = 64;
    int maxReceiveWr = 64;
    int maxSge = 4;
    boolean sqSigAll;
    int cqe = 512;
    int fields;
    boolean channel;
    boolean oneCompletionQueue;
    boolean sharedReceives;
    /** The file of the XRC domain; null for a private one. */
    @Nullable String xrcFile;
    int cqFlags;
    boolean parentDomain;
    /** 0.5 s, eight times: a peer may get no processor for seconds, and only tests of retries must not wait for it. */
    int timeout = 17;
    int retryCount = 7;
    int rnrRetry = 7;
    int minRnrTimer = 12;

    private EndOptions() {}

    static EndOptions defaults() {
        return new EndOptions();
    }

    /** A queue pair of type UD. */
    static EndOptions datagrams() {
        return defaults().type(QueuePairType.UD);
    }

    /** The queue pair's type. */
    EndOptions type(int value) {
        type = value;
        return this;
    }

    EndOptions createFlags(int flags) {
        createFlags = flags;
        return this;
    }

    EndOptions qkey(int value) {
        qkey = value;
        return this;
    }

    EndOptions memory(Memory kind) {
        memory = kind;
        return this;
    }

    EndOptions bytes(long value) {
        bytes = value;
        return this;
    }

    /** Access to the region. */
    EndOptions access(int flags) {
        access = flags;
        return this;
    }

    EndOptions queuePairAccess(int flags) {
        queuePairAccess = flags;
        return this;
    }

    /** Capacities of both queues. */
    EndOptions queues(int workRequests) {
        maxSendWr = workRequests;
        maxReceiveWr = workRequests;
        cqe = Math.max(cqe, 2 * workRequests);
        return this;
    }

    EndOptions maxSge(int value) {
        maxSge = value;
        return this;
    }

    EndOptions sqSigAll() {
        sqSigAll = true;
        return this;
    }

    /** Fields of both completion queues beyond the standard ones. */
    EndOptions fields(int more) {
        fields = more;
        return this;
    }

    /** Both completion queues signal on one channel. */
    EndOptions channel() {
        channel = true;
        return this;
    }

    /** Sends and receives complete on one queue. */
    EndOptions oneCompletionQueue() {
        oneCompletionQueue = true;
        return this;
    }

    /** Flags of both completion queues, {@code CompletionQueueAttributes}. */
    EndOptions cqFlags(int flags) {
        cqFlags = flags;
        return this;
    }

    /** The least number of entries of each completion queue. */
    EndOptions cqe(int entries) {
        cqe = entries;
        return this;
    }

    /** Everything is created in a parent domain that has a thread domain. */
    EndOptions parentDomain() {
        parentDomain = true;
        return this;
    }

    /** Receives come from a shared receive queue. */
    EndOptions sharedReceives() {
        sharedReceives = true;
        return this;
    }

    /** Queue pairs of the XRC types, in their own domain. */
    EndOptions xrc() {
        type = QueuePairType.XRC_SEND;
        return this;
    }

    /** Queue pairs of the XRC types, in the domain of a file. */
    EndOptions xrc(String file) {
        xrcFile = file;
        return xrc();
    }

    boolean isXrc() {
        return type == QueuePairType.XRC_SEND;
    }

    /** The timeout code and the retry count. */
    EndOptions retry(int timeoutCode, int count) {
        timeout = timeoutCode;
        retryCount = count;
        return this;
    }

    EndOptions rnrRetry(int count) {
        rnrRetry = count;
        return this;
    }
}
