// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.atomic.AtomicBoolean;

import org.verbena.linux.Errno;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** A request that waits for its answer. */
final class ShmConnectionRequest extends ConnectionRequest {
    private final ShmConnectionManager manager;
    private final ShmConnectionManager.ConnectionEnd end;
    private final int queuePair;
    private final ShmConnectionManager.Retries retries;
    private final byte[] privateData;
    private final AtomicBoolean answered = new AtomicBoolean();

    ShmConnectionRequest(ShmConnectionManager manager, ShmConnectionManager.ConnectionEnd end, int queuePair,
            ShmConnectionManager.Retries retries, byte[] privateData) {
        this.manager = manager;
        this.end = end;
        this.queuePair = queuePair;
        this.retries = retries;
        this.privateData = privateData.clone();
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String peer() {
        return end.session.peerName();
    }

    @Override
    protected Connection implAccept(QueuePair qp, ConnectionParameters parameters) throws VerbsException {
        manager.check("accept", qp, parameters);
        answerOnce("accept");
        return manager.accept(end, privateData, queuePair, retries, qp, parameters);
    }

    @Override
    public void reject(byte... data) throws VerbsException {
        if (data.length > ConnectionParameters.MAX_PRIVATE_DATA) {
            throw new VerbsException("reject a connection", Errno.EINVAL, "private data of " + data.length
                    + " bytes, at most " + ConnectionParameters.MAX_PRIVATE_DATA + " are carried");
        }
        answerOnce("reject");
        manager.refuse(end, ConnectionRejectedException.CONSUMER_DEFINED, data, "the peer's application rejected it");
    }

    void refuse(int reason, String text) {
        if (answered.compareAndSet(false, true)) {
            manager.refuse(end, reason, new byte[0], text);
        }
    }

    private void answerOnce(String verb) throws VerbsException {
        if (!answered.compareAndSet(false, true)) {
            throw new VerbsException(verb + " a connection of " + peer(), Errno.EINVAL,
                    "the request was answered already");
        }
    }
}
