// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.UdpReceiveBatch;
import org.verbena.linux.UdpSocket;

/** Takes datagrams out of the kernel's sockets. */
final class KernelDatagrams {
    private static final int BATCH = 16;
    private static final int LONGEST = 1 << 16;

    private @Nullable UdpReceiveBatch batch;
    private @Nullable Datagrams to;

    void deliver(Datagrams receiver) {
        to = receiver;
    }

    /** Takes some of what there is; the rest with the next look. */
    void take(UdpSocket from, int port) {
        Datagrams d = to;
        if (d == null) {
            return;
        }
        UdpReceiveBatch b = batch;
        if (b == null) { // most hosts never need one
            b = new UdpReceiveBatch(BATCH, 0, LONGEST);
            batch = b;
        }
        int n = b.receive(from, BATCH);
        for (int i = 0; i < n; i++) {
            d.received(port, b.memory(), b.offset(i), b.length(i), b.sourceHigh(i), b.sourceLow(i), b.sourcePort(i));
        }
    }
}
