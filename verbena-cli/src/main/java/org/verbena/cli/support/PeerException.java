// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.net.InetSocketAddress;

import org.verbena.linux.Errno;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Work together with another program failed; the message is one sentence for people. */
public final class PeerException extends IOException {
    private static final long serialVersionUID = 1L;
    private static final int LAST_STATUS = WcStatus.GENERAL_ERR;

    public PeerException(String message) {
        super(message);
    }

    public PeerException(String message, Throwable cause) {
        super(message, cause);
    }

    /** A connection failed: if there is no listener, the message says so, and which program to start. */
    public static IOException orNobody(VerbsException e, InetSocketAddress to, String tool) {
        boolean refused = e.errno() == Errno.ECONNREFUSED && !(e instanceof ConnectionRejectedException r
                && r.reason() != ConnectionRejectedException.INVALID_SERVICE_ID);
        return refused
                ? new PeerException("no listener at " + HostPort.text(to) + ": start 'verbena " + tool + "' or "
                        + tool + " there first", e)
                : e;
    }

    /** A work request ended with an error. */
    public static PeerException of(String work, int status, QueuePair qp) {
        return new PeerException(text(work, status, qp.errorReason()));
    }

    /** One that was flushed may be found before the one that has failed: then the reason tells of that. */
    static String text(String work, int status, String reason) {
        int cause = status == WcStatus.WR_FLUSH_ERR ? causeOf(reason) : status;
        String how = cause == status ? " failed with " : " ended, since the queue pair failed with ";
        return work + how + WcStatus.toString(cause) + ": " + meaning(cause, reason);
    }

    private static int causeOf(String reason) {
        for (int s = WcStatus.SUCCESS + 1; s <= LAST_STATUS; s++) {
            if (reason.startsWith(WcStatus.toString(s) + " ")) {
                return s;
            }
        }
        return WcStatus.WR_FLUSH_ERR;
    }

    /** @param reason why the queue pair failed; empty if unknown */
    private static String meaning(int status, String reason) {
        return switch (status) {
            case WcStatus.RETRY_EXC_ERR -> "the peer does not answer; it ended, or cannot be reached by its GID";
            case WcStatus.RNR_RETRY_EXC_ERR -> "the peer posts no receives";
            case WcStatus.LOC_LEN_ERR, WcStatus.REM_INV_REQ_ERR ->
                "the two ends differ; give both the same size and the same MTU";
            case WcStatus.REM_ACCESS_ERR -> "the peer does not allow access to the memory that it offered";
            default -> (reason.isEmpty() ? "the peer ended or gave up" : reason) + "; see what the peer says";
        };
    }
}
