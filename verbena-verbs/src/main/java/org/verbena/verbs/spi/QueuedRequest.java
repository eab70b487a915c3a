// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.util.concurrent.atomic.AtomicBoolean;

import org.verbena.linux.Errno;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.VerbsException;

/**
 * A request of a {@link QueuedListener}: is answered once, by the application, or by the listener that is closed. The answer itself is
 * left to the provider.
 */
public abstract class QueuedRequest extends ConnectionRequest {
    private final AtomicBoolean answered = new AtomicBoolean();

    /** For providers. */
    protected QueuedRequest() {}

    /**
     * The application accepts; to be called when nothing can be wrong with the call any more.
     *
     * @throws VerbsException {@code EINVAL} if the request was answered already
     */
    protected final void takeToAccept() throws VerbsException {
        take("accept");
    }

    /** True if the request was not answered yet; the caller answers it. */
    protected final boolean take() {
        return answered.compareAndSet(false, true);
    }

    private void take(String verb) throws VerbsException {
        if (!take()) {
            throw new VerbsException(verb + " a connection of " + peer(), Errno.EINVAL,
                    "the request was answered already");
        }
    }

    @Override
    public final void reject(byte... privateData) throws VerbsException {
        if (privateData.length > ConnectionParameters.MAX_PRIVATE_DATA) {
            throw new VerbsException("reject a connection", Errno.EINVAL, "private data of " + privateData.length
                    + " bytes, at most " + ConnectionParameters.MAX_PRIVATE_DATA + " are carried");
        }
        take("reject");
        implReject(privateData);
    }

    /** Informs the peer that the application rejects. */
    protected abstract void implReject(byte... privateData) throws VerbsException;
}
