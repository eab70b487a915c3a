// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import org.jspecify.annotations.Nullable;

/** A file or directory in transfer from a sender, until its result has arrived. Used by the thread of the sender. */
final class CopySent {
    final int id;
    final CopyPlan.Entry entry;
    final long size;
    final long started = System.nanoTime();
    final CopyHash hash = new CopyHash();
    CopyMessage.@Nullable Offer offer;
    CopyMessage.@Nullable Grant grant;
    CopyMessage.@Nullable Result result;
    @Nullable CopyFailure failure;
    long verified;
    long resumedFrom;
    boolean endSent;

    CopySent(int id, CopyPlan.Entry entry, long size) {
        this.id = id;
        this.entry = entry;
        this.size = size;
    }
}
