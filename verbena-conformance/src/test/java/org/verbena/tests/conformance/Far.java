// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;
import java.util.List;

import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** The far end of a connection, in this process or another. */
abstract class Far implements AutoCloseable {
    /** Runs a job at the far end and returns its result, or throws its exception. */
    abstract <R> R run(Job<R> job) throws VerbsException;

    /** Runs a job without a result. */
    final void act(Action action) throws VerbsException {
        run(end -> {
            action.act(end);
            return true;
        });
    }

    /** A job without a result. */
    @FunctionalInterface
    interface Action extends Serializable {
        void act(End end) throws Exception;
    }

    /** Starts a job on a thread at the far end. */
    final void start(Job<?> job) throws VerbsException {
        act(end -> end.start(job));
    }

    /** Waits for the job that was started. */
    final Object join() throws VerbsException {
        return run(End::join);
    }

    final EndAddress address() throws VerbsException {
        return run(End::address);
    }

    final int post(Op... ops) throws VerbsException {
        return run(end -> end.post(ops));
    }

    final int postReceives(Op... ops) throws VerbsException {
        return run(end -> end.postReceives(ops));
    }

    final Completion awaitSend() throws VerbsException {
        return run(End::awaitSend);
    }

    final Completion awaitReceive() throws VerbsException {
        return run(End::awaitReceive);
    }

    final List<Completion> awaitReceives(int n) throws VerbsException {
        return run(end -> end.awaitReceives(n));
    }

    final void to(QueuePairState state) throws VerbsException {
        act(end -> end.to(state));
    }

    final QueuePairState state() throws VerbsException {
        return run(End::state);
    }

    final void awaitState(QueuePairState state) throws VerbsException {
        act(end -> end.awaitState(state));
    }

    /** Waits for the state of the responder, see {@link End#responder()}. */
    final void awaitResponder(QueuePairState state) throws VerbsException {
        act(end -> end.awaitResponder(state));
    }

    final void awaitAsyncEvent(int type) throws VerbsException {
        act(end -> end.awaitAsyncEvent(type));
    }

    final void fill(long offset, long length, long seed) throws VerbsException {
        act(end -> end.fill(offset, length, seed));
    }

    /** The offset of the first byte that differs from the pattern, or -1. */
    final long mismatch(long offset, long length, long seed) throws VerbsException {
        return run(end -> Pattern.mismatch(end.at(offset, length), seed));
    }

    final byte[] bytes(long offset, int length) throws VerbsException {
        return run(end -> end.bytes(offset, length));
    }

    final long getLong(long offset) throws VerbsException {
        return run(end -> end.getLong(offset));
    }

    final void setLong(long offset, long value) throws VerbsException {
        act(end -> end.setLong(offset, value));
    }

    final void remember() throws VerbsException {
        act(End::remember);
    }

    final long changed() throws VerbsException {
        return run(End::changed);
    }

    @Override
    public abstract void close() throws VerbsException;

    /** A far end in this process. */
    static final class Local extends Far {
        private final End end;

        Local(End end) {
            this.end = end;
        }

        @Override
        <R> R run(Job<R> job) throws VerbsException {
            try {
                return job.run(end);
            } catch (VerbsException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() throws VerbsException {
            end.close();
        }
    }

    /** A far end in another process. */
    static final class Remote extends Far {
        private final PeerProcess process;
        private final int id;

        Remote(PeerProcess process, EndOptions options) throws VerbsException {
            this.process = process;
            id = process.run(fixture -> ConformancePeer.add(End.open(fixture, options)));
        }

        @Override
        <R> R run(Job<R> job) throws VerbsException {
            return process.run(id, job);
        }

        @Override
        public void close() throws VerbsException {
            int n = id;
            if (process.isAlive()) {
                process.run(fixture -> {
                    ConformancePeer.remove(n).close();
                    return true;
                });
            }
        }
    }
}
