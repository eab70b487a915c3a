// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.io.IOException;

/** A peer sent or wrote something that the protocol does not have; its session ends. */
public final class ProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    public ProtocolException(String message) {
        super(message);
    }
}
