// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Gid;

/** A request for the queue pair of a service, until its reply or time-out (IBTA volume 1, 12.11). */
final class SidrRequest {
    final Gid from;
    final Gid to;
    final byte[] mad;
    final long giveUp;
    long deadline;
    /** Receives the reply, or null if none arrived. */
    final Consumer<CmMessage.@Nullable SidrRep> user;

    SidrRequest(Gid from, Gid to, byte[] mad, long giveUp, Consumer<CmMessage.@Nullable SidrRep> user) {
        this.from = from;
        this.to = to;
        this.mad = mad;
        this.giveUp = giveUp;
        this.user = user;
    }
}
