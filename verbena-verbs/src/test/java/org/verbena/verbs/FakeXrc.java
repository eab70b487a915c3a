// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.verbena.linux.FileIdentity;
import org.verbena.linux.LinuxException;

/** XRC of the provider without a transport. */
final class FakeXrc {
    private FakeXrc() {}

    /** A domain, which remembers the file that it was opened by. */
    static final class Domain extends XrcDomain {
        final FileIdentity file;
        private final String name;

        Domain(Context context, XrcDomainAttributes a, String name) throws VerbsException {
            super(context);
            this.name = name;
            try {
                file = a.fd() < 0 ? new FileIdentity(0, 0) : FileIdentity.of(a.fd());
            } catch (LinuxException e) {
                throw new VerbsException("open", e);
            }
        }

        @Override
        protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
            return new FakeContext.FakeQp(this, attributes);
        }

        @Override
        protected QueuePair implOpenQueuePair(QueuePairOpenAttributes a) throws VerbsException {
            QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builderXrcReceive();
            Object user = a.userContext();
            return new FakeContext.FakeQp(this, (user == null ? b : b.userContext(user)).build());
        }

        @Override
        public String describe() {
            return name;
        }

        @Override
        protected void implClose() {}
    }

    /** A domain of a provider that opens domains and knows no more. */
    static final class BareDomain extends XrcDomain {
        BareDomain(Context context) throws VerbsException {
            super(context);
        }

        @Override
        public String describe() {
            return "bare";
        }

        @Override
        protected void implClose() {}
    }

    /** A queue, which has a number if it is asked to. */
    static final class Srq extends SharedReceiveQueue {
        private final boolean numbered;

        Srq(ProtectionDomain pd, SharedReceiveQueueAttributes a) throws VerbsException {
            super(pd, a);
            numbered = a.maxSge() == 1;
        }

        @Override
        public ReceiveQueue receiveQueue() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void implModify(SharedReceiveQueueAttributes attributes) {}

        @Override
        protected SharedReceiveQueueAttributes implQuery() {
            return SharedReceiveQueueAttributes.builder().build();
        }

        @Override
        protected int implNumber() throws VerbsException {
            return numbered ? 0xabcdef : super.implNumber();
        }

        @Override
        public String describe() {
            return "SRQ";
        }

        @Override
        protected void implClose() {}
    }
}
