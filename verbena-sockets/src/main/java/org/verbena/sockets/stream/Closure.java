// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import org.verbena.sockets.stream.memory.BlockLayout;

/** Whether a stream is closed, and what is lost by that. */
enum Closure {
    OPEN,
    /** It is closed, and what was left unread is not found out yet. */
    CLOSING,
    ORDERLY,
    /** With bytes unread, or by a reset. */
    ABORTED,
    /** As {@code ABORTED}, and neither TCP nor a word reports it. */
    CUT_OFF;

    /** What the peer is told. */
    int end() {
        return this == ORDERLY ? BlockLayout.END_ORDERLY : BlockLayout.END_ABORT;
    }
}
