// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.jspecify.annotations.Nullable;

/**
 * A copy of a {@code struct rdma_cm_event} that was acknowledged.
 *
 * @param type see the constants; others exist
 * @param status 0, minus an errno, or the reason of {@link #REJECTED}
 * @param data the private data of the peer's application, often padded with zeros
 * @param child the new identifier of a {@link #CONNECT_REQUEST}
 */
@SuppressWarnings("ArrayRecordComponent") // events are never compared
record CmEvent(int type, int status, byte[] data, @Nullable CmIdentifier child) {
    static final int ADDR_RESOLVED = 0;
    static final int ADDR_ERROR = 1;
    static final int ROUTE_RESOLVED = 2;
    static final int ROUTE_ERROR = 3;
    static final int CONNECT_REQUEST = 4;
    static final int CONNECT_RESPONSE = 5;
    static final int CONNECT_ERROR = 6;
    static final int UNREACHABLE = 7;
    static final int REJECTED = 8;
    static final int ESTABLISHED = 9;
    static final int DISCONNECTED = 10;
    static final int DEVICE_REMOVAL = 11;
    static final int ADDR_CHANGE = 14;
    static final int TIMEWAIT_EXIT = 15;

    /** Whether it needs no handling: the path has another address, or late packets cannot arrive any more. */
    boolean isIdle() {
        return type == ADDR_CHANGE || type == TIMEWAIT_EXIT;
    }
}
