// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import org.verbena.stack.ip.Path;

/** A connection in TIME_WAIT: what answers old segments of it needs. */
@SuppressWarnings("ComparableType") // its order is that of time, and no two are the same
final class TimeWait implements Flow, Comparable<TimeWait> {
    final Path path;
    final int remotePort;
    final int port;
    /** RCV.NXT and SND.NXT. */
    final int next;
    final int sent;
    final int window;
    final boolean timestamps;
    final int timestampOffset;
    final long duration;
    int recent;
    long until;
    /** When it is looked at whether that has come. */
    long looked;
    boolean gone;

    TimeWait(Connection c, long now) {
        path = c.path;
        remotePort = c.remotePort;
        port = c.port;
        next = c.receiver.next;
        sent = c.sender.next;
        window = c.receiver.tell(c.sender.segment, c.receiver.scale);
        timestamps = c.timestamps;
        timestampOffset = c.timestampOffset;
        recent = c.recent;
        duration = c.settings.timeWait();
        until = now + duration;
        looked = until;
    }

    @Override
    public boolean is(Path p, int from, int to) {
        return remotePort == from && port == to && path.isSame(p);
    }

    @Override
    public int compareTo(TimeWait o) {
        return Long.compare(looked, o.looked);
    }
}
