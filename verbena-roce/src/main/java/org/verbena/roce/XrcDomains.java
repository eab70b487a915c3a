// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.FileIdentity;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomainAttributes;
import org.verbena.verbs.spi.Slots;

/**
 * The XRC domains of a context. A domain of a file is shared by all that open it from this context; another context,
 * which has another port, has another one. Thread-safe.
 */
final class XrcDomains {
    private final Slots slots = new Slots(RoceLimits.MAX_XRCD);
    private final Map<FileIdentity, Domain> byFile = new HashMap<>();

    /** A domain: the shared state of its handles. */
    static final class Domain {
        final int index;
        private final @Nullable FileIdentity identity;
        /** Keeps the inode from being used for another file. */
        private final @Nullable Fd file;
        private int handles = 1;
        /** XRC shared receive queues by number; under the context's lock. */
        private final @Nullable ReceivePool[] queues = new @Nullable ReceivePool[RoceLimits.MAX_SRQ];
        private final int[] numbers = new int[RoceLimits.MAX_SRQ];
        /** Queue pairs of type XRC_RECV. */
        private final List<QueuePairCore> targets = new ArrayList<>();

        private Domain(int index, @Nullable FileIdentity identity, @Nullable Fd file) {
            this.index = index;
            this.identity = identity;
            this.file = file;
        }

        @Nullable
        ReceivePool sharedReceiveQueue(int number) {
            int index = number & RoceLimits.MAX_SRQ - 1;
            return numbers[index] == number ? queues[index] : null;
        }

        void put(int number, ReceivePool pool) {
            numbers[number & RoceLimits.MAX_SRQ - 1] = number;
            queues[number & RoceLimits.MAX_SRQ - 1] = pool;
        }

        void remove(int number) {
            queues[number & RoceLimits.MAX_SRQ - 1] = null;
        }

        /** Adds a new queue pair, which has one handle. */
        synchronized void add(QueuePairCore target) {
            targets.add(target);
        }

        /** Adds a handle of a queue pair; null if there is none of that number. */
        synchronized @Nullable QueuePairCore share(int number) {
            for (QueuePairCore t : targets) {
                if (t.number == number) {
                    t.handles++;
                    return t;
                }
            }
            return null;
        }

        /** Removes a handle; true if it was the last. */
        synchronized boolean release(QueuePairCore target) {
            boolean last = --target.handles == 0;
            if (last) {
                targets.remove(target);
            }
            return last;
        }
    }

    synchronized Domain open(String verb, XrcDomainAttributes a) throws VerbsException {
        if (a.fd() == -1) {
            return new Domain(slots.take(verb, "XRC domains"), null, null);
        }
        try {
            FileIdentity identity = FileIdentity.of(a.fd());
            Domain there = byFile.get(identity);
            if (there == null && (a.openFlags() & XrcDomainAttributes.CREATE) == 0) {
                throw new VerbsException(verb, Errno.EAGAIN, "the file has no XRC domain: open it with CREATE");
            }
            if (there != null && (a.openFlags() & XrcDomainAttributes.EXCLUSIVE) != 0) {
                throw new VerbsException(verb, Errno.EINVAL,
                        "the file has an XRC domain already, and EXCLUSIVE was asked for");
            }
            if (there != null) {
                there.handles++;
                return there;
            }
            Fd file = Fd.duplicate(a.fd());
            int index;
            try {
                index = slots.take(verb, "XRC domains");
            } catch (VerbsException e) {
                file.close();
                throw e;
            }
            Domain d = new Domain(index, identity, file);
            byFile.put(identity, d);
            return d;
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** Removes a handle. */
    synchronized void release(Domain d) {
        if (--d.handles > 0) {
            return;
        }
        if (d.identity != null) {
            byFile.remove(d.identity);
        }
        if (d.file != null) {
            d.file.close();
        }
        slots.give(d.index);
    }
}
