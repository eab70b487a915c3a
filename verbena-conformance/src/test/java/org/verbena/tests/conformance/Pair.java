// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** Two ends that belong together. */
final class Pair implements AutoCloseable {
    final End near;
    final Far far;
    final EndAddress nearAddress;
    final EndAddress farAddress;

    Pair(End near, Far far) throws VerbsException {
        this.near = near;
        this.far = far;
        nearAddress = near.address();
        farAddress = far.address();
    }

    /** Connects manually, like two programs that exchange addresses by their own means. */
    void connect() throws VerbsException {
        toInit();
        initToRts();
    }

    void toInit() throws VerbsException {
        near.toInit();
        far.act(End::toInit);
    }

    void initToRts() throws VerbsException {
        EndAddress n = nearAddress;
        near.toRtr(farAddress);
        far.act(end -> end.toRtr(n));
        near.toRts();
        far.act(End::toRts);
    }

    /** Connects one more queue pair of the near end with a new one of the far end; returns the address of that one. */
    EndAddress connect(QueuePair another) throws VerbsException {
        EndAddress n = near.address(another);
        EndAddress f = far.run(end -> {
            QueuePair q = end.queuePair();
            end.toInit(q);
            end.toRtr(q, n);
            return end.address(q);
        });
        near.toInit(another);
        near.toRtr(another, f);
        near.toRts(another);
        int number = f.queuePairNumber();
        far.act(end -> end.toRts(end.queuePair(number)));
        return f;
    }

    @Override
    public void close() throws VerbsException {
        try {
            near.close();
        } finally {
            far.close();
        }
    }
}
