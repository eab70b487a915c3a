// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

class QueuedRequestTest {
    private final Request request = new Request();

    private static final class Request extends QueuedRequest {
        private final List<byte[]> rejected = new ArrayList<>();

        @Override
        public byte[] privateData() {
            return new byte[0];
        }

        @Override
        public String peer() {
            return "process 17";
        }

        @Override
        protected Connection implAccept(QueuePair qp, ConnectionParameters parameters) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void implReject(byte... privateData) {
            rejected.add(privateData);
        }

        void accept() throws VerbsException {
            takeToAccept();
        }

        boolean refuse() {
            return take();
        }
    }

    private static void assertAnsweredAlready(ThrowingCallable call, String verb) {
        assertThatThrownBy(call).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EINVAL)).hasMessageContaining(verb + " a connection of process 17")
                .hasMessageContaining("the request was answered already");
    }

    @Test
    void secondAnswerIsRefused() throws Exception {
        request.reject((byte) 1, (byte) 2);
        assertThat(request.rejected).containsExactly(new byte[] {1, 2});
        assertAnsweredAlready(() -> request.reject((byte) 3), "reject");
        assertAnsweredAlready(request::accept, "accept");
        assertThat(request.refuse()).isFalse();
        assertThat(request.rejected).hasSize(1);
    }

    @Test
    void acceptedRequestCannotBeRejected() throws Exception {
        request.accept();
        assertAnsweredAlready(request::accept, "accept");
        assertAnsweredAlready(request::reject, "reject");
        assertThat(request.refuse()).isFalse();
        assertThat(request.rejected).isEmpty();
    }

    @Test
    void listenerAnswersWhatTheApplicationHasNot() {
        assertThat(request.refuse()).isTrue();
        assertThat(request.refuse()).isFalse();
        assertAnsweredAlready(request::reject, "reject");
    }

    @Test
    void longestPrivateDataAreCarriedAndLongerOnesLeaveTheRequestUnanswered() throws Exception {
        assertThatThrownBy(() -> request.reject(new byte[ConnectionParameters.MAX_PRIVATE_DATA + 1]))
                .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("private data of " + (ConnectionParameters.MAX_PRIVATE_DATA + 1) + " bytes");
        request.reject(new byte[ConnectionParameters.MAX_PRIVATE_DATA]);
        assertThat(request.rejected.get(0)).hasSize(ConnectionParameters.MAX_PRIVATE_DATA);
    }
}
