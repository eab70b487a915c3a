// SPDX-License-Identifier: Apache-2.0
package org.example.devnull;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** A queue pair: what is sent is done at once, what is posted to receive waits until the queue pair is flushed. */
final class NullQueuePair extends QueuePair {
    private final int number;
    private final Sends sends;
    private final Receives receives;
    private QueuePairAttributes attributes = QueuePairAttributes.builder().build();
    private volatile QueuePairState state = QueuePairState.RESET;

    NullQueuePair(ProtectionDomain pd, QueuePairInitAttributes init, int number) throws VerbsException {
        super(pd, init);
        this.number = number;
        sends = new Sends(this, init);
        receives = new Receives(this, init);
        opened();
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public SendQueue sendQueue() {
        return sends;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    public QueuePairAttributes query() {
        return attributes.toBuilder().state(state).build();
    }

    /** The state machine allows it, and the provider knows all the attributes: both were checked before. */
    @Override
    protected void implModify(QueuePairAttributes a) {
        attributes = attributes.with(a);
        QueuePairState to = a.state();
        if (to != null) {
            state = to;
        }
        if (state == QueuePairState.ERR || state == QueuePairState.RESET) {
            receives.flush(state == QueuePairState.ERR);
        }
    }

    @Override
    public String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of null0";
    }

    @Override
    protected void implClose() {}

    private static final class Sends extends SendQueue {
        private static final int KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED
                | SendFlags.INLINE;

        private final NullQueuePair qp;
        private final NullCompletionQueue cq;
        private final boolean all;
        private final long[] wrIds;
        private final long[] lengths;
        private final int[] opcodes; // negative: not signalled
        private int staged;
        private int error = Errno.EINVAL; // no batch is open

        Sends(NullQueuePair qp, QueuePairInitAttributes init) {
            this.qp = qp;
            cq = (NullCompletionQueue) init.sendCq();
            all = init.sqSigAll();
            wrIds = new long[init.maxSendWr()];
            lengths = new long[init.maxSendWr()];
            opcodes = new int[init.maxSendWr()];
        }

        @Override
        public SendQueue start() {
            staged = 0;
            error = 0;
            return this;
        }

        private SendQueue stage(int opcode, long wrId, int flags) {
            if (error == 0) {
                int wrong = SendFlags.check(flags, KNOWN_FLAGS);
                error = wrong != 0 ? wrong : staged == wrIds.length ? Errno.ENOMEM : 0;
            }
            if (error == 0) {
                wrIds[staged] = wrId;
                lengths[staged] = 0;
                opcodes[staged++] = all || (flags & SendFlags.SIGNALED) != 0 ? opcode : -1;
            }
            return this;
        }

        @Override
        public SendQueue send(long wrId, int flags) {
            return stage(WcOpcode.SEND, wrId, flags);
        }

        @Override
        public SendQueue sendImmediate(long wrId, int flags, int immediate) {
            return stage(WcOpcode.SEND, wrId, flags);
        }

        @Override
        public SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
            return stage(WcOpcode.RDMA_WRITE, wrId, flags);
        }

        @Override
        public SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
            return stage(WcOpcode.RDMA_WRITE, wrId, flags);
        }

        /** Nothing can be read from nowhere. */
        @Override
        public SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
            return unsupported();
        }

        @Override
        public SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
            return unsupported();
        }

        @Override
        public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
            return unsupported();
        }

        @Override
        protected SendQueue unsupported() {
            if (error == 0) {
                error = Errno.EOPNOTSUPP;
            }
            return this;
        }

        @Override
        public SendQueue sge(int lkey, long address, long length) {
            if (error == 0 && staged == 0) {
                error = Errno.EINVAL;
            } else if (error == 0) {
                lengths[staged - 1] += length;
            }
            return this;
        }

        @Override
        public SendQueue inline(MemorySegment data, long offset, long length) {
            boolean inside = offset >= 0 && length >= 0 && length <= data.byteSize() - offset;
            if (error == 0 && (!inside || length > qp.initAttributes().maxInlineData())) {
                error = Errno.EINVAL;
            }
            return sge(0, 0, length);
        }

        @Override
        public int complete() {
            int answer = error;
            error = Errno.EINVAL;
            if (answer != 0 || !qp.state().acceptsSends() || qp.isClosed()) {
                return answer != 0 ? answer : Errno.EINVAL;
            }
            boolean failed = qp.state() == QueuePairState.ERR;
            for (int i = 0; i < staged; i++) {
                if (failed || opcodes[i] >= 0) {
                    cq.add(wrIds[i], failed ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS, Math.max(0, opcodes[i]),
                            lengths[i], qp.number());
                }
            }
            return 0;
        }

        @Override
        public void abort() {
            error = Errno.EINVAL;
        }
    }

    private static final class Receives extends ReceiveQueue {
        private final NullQueuePair qp;
        private final NullCompletionQueue cq;
        private final long[] wrIds;
        private int posted;
        private int staged;
        private int error = Errno.EINVAL;

        Receives(NullQueuePair qp, QueuePairInitAttributes init) {
            this.qp = qp;
            cq = (NullCompletionQueue) init.receiveCq();
            wrIds = new long[init.maxReceiveWr()];
        }

        @Override
        public ReceiveQueue start() {
            staged = 0;
            error = 0;
            return this;
        }

        @Override
        public ReceiveQueue receive(long wrId) {
            if (error == 0 && posted + staged == wrIds.length) {
                error = Errno.ENOMEM;
            } else if (error == 0) {
                wrIds[posted + staged++] = wrId;
            }
            return this;
        }

        @Override
        public ReceiveQueue sge(int lkey, long address, long length) {
            return this;
        }

        @Override
        public synchronized int complete() {
            int answer = error != 0 ? error : qp.state() == QueuePairState.RESET || qp.isClosed() ? Errno.EINVAL : 0;
            error = Errno.EINVAL;
            if (answer == 0) {
                posted += staged;
                if (qp.state() == QueuePairState.ERR) {
                    flush(true);
                }
            }
            return answer;
        }

        /** Gives back what was posted; after RESET without completions. */
        synchronized void flush(boolean tell) {
            for (int i = 0; tell && i < posted; i++) {
                cq.add(wrIds[i], WcStatus.WR_FLUSH_ERR, WcOpcode.RECV, 0, qp.number());
            }
            posted = 0;
        }
    }
}
