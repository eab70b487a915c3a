// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.io.IOException;

/** A peer violates the protocol; its session ends. */
public final class ProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    public ProtocolException(String message) {
        super(message);
    }
}
