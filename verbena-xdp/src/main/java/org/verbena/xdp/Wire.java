// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.Fd;

/** The way of a queue pair's frames to the kernel and back. It is opened at RTR, and closed in ERR and RESET. */
interface Wire {
    /** Used under the lock of the send side. */
    FrameSender sender();

    /** Used under the lock of the receive side. */
    FrameReceiver receiver();

    /** Readable when a frame has come. */
    Fd fd();

    /** Closes it; neither side uses it any more. */
    void close();
}
