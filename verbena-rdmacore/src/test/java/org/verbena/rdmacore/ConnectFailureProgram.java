// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.net.InetSocketAddress;
import java.time.Duration;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** Tries to connect with a faulty librdmacm, and prints the error. */
final class ConnectFailureProgram {
    private ConnectFailureProgram() {}

    public static void main(String[] args) throws Exception {
        try (Context c = Verbs.open("mock0")) {
            ProtectionDomain pd = c.allocateProtectionDomain();
            CompletionQueue cq = c.createCompletionQueue(10);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
            try (ConnectionListener l = c.connectionManager().listen(new InetSocketAddress(0))) {
                c.connectionManager().connect(qp, l.localAddress(), ConnectionParameters.builder().timeout(Duration
                        .ofMillis(500)).build());
            } catch (VerbsException e) {
                System.out.println(e.getMessage());
            }
        }
        System.out.println("closed");
    }
}
