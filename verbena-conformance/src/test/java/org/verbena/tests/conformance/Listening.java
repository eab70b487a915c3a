// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;
import java.net.InetSocketAddress;

import org.verbena.testkit.Await;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.VerbsException;

/** The listening side of connections, run at the far end. */
final class Listening {
    private Listening() {}

    /** Handles a request at the far end, on a separate thread. */
    @FunctionalInterface
    interface Answer extends Serializable {
        Object to(ConnectionRequest request, End end) throws Exception;
    }

    /** Listens and answers the first request in the background; the result is the address of the listener. */
    static InetSocketAddress start(End end, Answer answer) throws VerbsException {
        ConnectionListener l = end.keep(on(end, 0));
        end.start(e -> {
            ConnectionRequest r = l.awaitRequest(Await.LIMIT);
            if (r == null) {
                throw new AssertionError("no request comes");
            }
            return answer.to(r, e);
        });
        return l.localAddress();
    }

    /** A listener on a port of all addresses; 0 chooses one. */
    static ConnectionListener on(End end, int port) throws VerbsException {
        return end.context.connectionManager().listen(new InetSocketAddress(port));
    }

    /** Accepts and keeps the connection; the result is the private data. */
    static Object accept(ConnectionRequest r, End end, byte... data) throws VerbsException {
        Connection c = end.keep(r.accept(end.qp, ConnectionParameters.builder().privateData(data).build()));
        end.connections.add(c);
        return r.privateData();
    }

    static void awaitDisconnected(End end) throws VerbsException {
        ConnectionConformance.awaitDisconnected(end.connections.getLast());
    }
}
