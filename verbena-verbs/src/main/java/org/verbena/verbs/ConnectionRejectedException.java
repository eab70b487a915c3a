// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.verbena.linux.Errno;

/** The peer rejected a connection, {@code RDMA_CM_EVENT_REJECTED}; the errno is {@code ECONNREFUSED}. */
public final class ConnectionRejectedException extends VerbsException {
    private static final long serialVersionUID = 1L;

    /** There is no listener. */
    public static final int INVALID_SERVICE_ID = 8;
    /** The peer's application rejected it. */
    public static final int CONSUMER_DEFINED = 28;

    private final int reason;
    private final byte[] privateData;

    /** Makes an exception; {@code reason} is the InfiniBand connection manager's number. */
    public ConnectionRejectedException(String verb, int reason, byte[] privateData, String detail) {
        super(verb, Errno.ECONNREFUSED, detail);
        this.reason = reason;
        this.privateData = privateData.clone();
    }

    /** The InfiniBand connection manager's reason. */
    public int reason() {
        return reason;
    }

    /** The private data of the peer's application. */
    public byte[] privateData() {
        return privateData.clone();
    }
}
