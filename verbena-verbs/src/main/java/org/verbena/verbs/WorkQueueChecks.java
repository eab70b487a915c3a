// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

import org.verbena.linux.Errno;

/** Checks work queues and their tables, whether the provider supports them or not. */
final class WorkQueueChecks {
    private static final int MAX_LOG_TABLE = 30;

    private WorkQueueChecks() {}

    static void creation(String verb, WorkQueueInitAttributes attributes, Context context) throws VerbsException {
        if (attributes.protectionDomain().context() != context || attributes.completionQueue().context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "an object belongs to another context");
        }
        if (attributes.type() != WorkQueueType.RQ) {
            throw new VerbsException(verb, Errno.EINVAL, "there is no work queue type " + attributes.type());
        }
        DeviceAttributes d = context.queryDevice();
        if (attributes.maxWr() < 1 || attributes.maxWr() > d.maxQpWr() || attributes.maxSge() < 1
                || attributes.maxSge() > d.maxSge()) {
            throw new VerbsException(verb, Errno.EINVAL, "maxWr is " + attributes.maxWr() + " and maxSge is "
                    + attributes.maxSge() + ", must be 1 to " + d.maxQpWr() + " and 1 to " + d.maxSge());
        }
        if ((attributes.flags() & ~WorkQueueFlags.KNOWN) != 0) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "unknown flags " + WorkQueueFlags.toString(attributes.flags() & ~WorkQueueFlags.KNOWN));
        }
    }

    static void table(String verb, int logSize, List<WorkQueue> entries, Context context) throws VerbsException {
        if (logSize < 0 || logSize > MAX_LOG_TABLE || entries.size() != 1 << logSize) {
            throw new VerbsException(verb, Errno.EINVAL,
                    entries.size() + " work queues for a table of 2^" + logSize + " entries");
        }
        for (WorkQueue wq : entries) {
            if (wq.context() != context) {
                throw new VerbsException(verb, Errno.EINVAL, wq.describe() + " belongs to another context");
            }
            if (wq.isClosed()) {
                throw new VerbsException(verb, Errno.EINVAL, wq.describe() + " is closed");
            }
        }
    }
}
