package org.verbena.tests.conformance;

import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairType;
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

    /** Connects by hand, as two programs do that exchange addresses by their own means. */
    void connect() throws VerbsException {
        toInit();
        initToRts();
    }

    /**
     * Waits until what either end sends gets to the other. Types that are not reliable lose what they send first if it takes
     * long to make a session, or memory of the peer takes long to arrive: how long depends on the machine.
     */
    void meet() throws VerbsException {
        int type = near.qp.type();
        if (type == QueuePairType.UD) {
            meet(near, far);
        } else if (type == QueuePairType.UC && far.run(end -> end.qp.type()) == type) {
            EndAddress n = nearAddress;
            EndAddress f = farAddress;
            if (far.run(End::takesWrites)) {
                Await.until("a write to get to the far end", () -> {
                    near.write(f, 1);
                    return far.getLong(0) == 1;
                }, near::describe);
            }
            if (near.takesWrites()) {
                Await.until("a write to get to the near end", () -> {
                    far.act(end -> end.write(n, 2));
                    return near.getLong(0) == 2;
                }, near::describe);
            }
            near.setLong(0, 0);
            far.setLong(0, 0);
        }
    }

    /** The same for two ends of type UD, however they belong together. */
    static void meet(End near, Far far) throws VerbsException {
        EndAddress n = near.address();
        EndAddress f = far.address();
        far.act(End::awaitFirst);
        Await.until("a datagram to get to the far end", () -> {
            near.sendFirst(f);
            return far.run(End::hasFirst);
        }, near::describe);
        near.awaitFirst();
        Await.until("a datagram to get to the near end", () -> {
            far.act(end -> end.sendFirst(n));
            return near.hasFirst();
        }, near::describe);
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

    /** Connects one more queue pair of the near end with a new one of the far end; answers where that is. */
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
