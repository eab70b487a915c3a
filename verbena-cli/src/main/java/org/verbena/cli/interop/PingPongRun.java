// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.util.List;

import org.verbena.cli.support.CompletionWait;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/** The ping-pong: each queue pair sends when its last send has completed and a message has arrived. */
final class PingPongRun {
    private final PingPongEndpoint end;
    private final boolean client;
    private final CompletionWait wait;
    private final int[] pending;
    private int posted;
    private int sent;
    private int received;
    private int receives;

    PingPongRun(PingPongEndpoint end, boolean client) {
        this.end = end;
        this.client = client;
        wait = new CompletionWait(end.cq, end.options.timeout());
        pending = new int[end.qps.size()];
        receives = end.rxDepth;
    }

    /** Sends and receives all messages. */
    PingPongResult run() throws IOException {
        int n = end.options.iterations();
        boolean check = end.options.check();
        if (client && check) {
            end.contents.fill();
        }
        long start = System.nanoTime();
        for (int i = 0; i < pending.length; i++) {
            pending[i] = PingPongEndpoint.RECEIVE;
            if (client && posted < n) {
                send(i);
            }
        }
        while (received < n || sent < n) {
            take(next(n));
        }
        return new PingPongResult(end.options, client, System.nanoTime() - start, wait.events(), end.local,
                List.copyOf(end.remote()));
    }

    private WorkCompletion next(int n) throws IOException {
        try {
            return wait.next();
        } catch (PeerException e) {
            throw new PeerException(e.getMessage() + " after " + received + " of " + n + " messages"
                    + switch (end.options.type()) {
                        case UC, UD -> ": it ended, or a message was lost, which " + end.options.type()
                                + " does not repeat";
                        case RC, SRQ -> ": it ended, or expects less messages";
                    }, e);
        }
    }

    private void take(WorkCompletion c) throws IOException {
        int i = index(c.queuePairNumber());
        boolean isSend = c.wrId() == PingPongEndpoint.SEND;
        if (c.status() != WcStatus.SUCCESS) {
            throw PeerException.of((isSend ? "the send" : "the receive") + " of message "
                    + ((isSend ? sent : received) + 1), c.status(), end.qps.get(i));
        }
        if (isSend) {
            sent++;
        } else {
            received++;
            arrived(c);
        }
        pending[i] &= ~(int) c.wrId();
        if (pending[i] == 0 && posted < end.options.iterations()) {
            send(i);
        }
    }

    private int index(int number) throws PeerException {
        List<QueuePair> qps = end.qps;
        for (int i = 0; i < qps.size(); i++) {
            if (qps.get(i).number() == number) {
                return i;
            }
        }
        throw new PeerException("a completion of queue pair " + number + ", which is none of this end's");
    }

    private void arrived(WorkCompletion c) throws PeerException {
        long length = end.messageLength(c.byteLength());
        if (length != end.options.size()) {
            throw new PeerException("the peer sends messages of " + length + " bytes, this end of " + end.options.size()
                    + ": give both the same --size (-s)");
        }
        if (end.options.check()) {
            if (client) {
                end.contents.checkEcho(received);
            } else {
                end.contents.checkPages(received);
            }
        }
        receives--;
        if (receives <= pending.length) {
            end.postReceives(end.rxDepth - receives);
            receives = end.rxDepth;
        }
    }

    private void send(int qp) throws PeerException {
        posted++;
        if (client && end.options.check()) {
            end.contents.stamp(posted);
        }
        end.postSend(qp);
        pending[qp] = PingPongEndpoint.SEND | PingPongEndpoint.RECEIVE;
    }
}
