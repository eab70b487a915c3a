// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

import org.junit.jupiter.api.Test;

import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** What is behind the window, or acknowledges what was not sent, in each state: an acknowledgment says where this end is, and nothing changes (RFC 9293, 3.10.7.4). */
final class UnacceptableTest {
    private static final int ACK = Peer.ACK;
    private static final int FIN = Peer.FIN;
    private static final int SYN = Peer.SYN;
    private static final TcpSettings PLAIN = DataTest.plain().build();

    /** A connection in a state. */
    private static final class Situation {
        final Peer p;
        final Connection c;
        final TcpState state;

        Situation(TcpState s) throws IOException {
            p = new Peer();
            c = p.accepted(PLAIN);
            state = s;
            CloseTest.bring(p, c, s == TcpState.TIME_WAIT ? TcpState.FIN_WAIT_2 : s);
            if (s == TcpState.TIME_WAIT) {
                p.send(FIN | ACK);
                p.next++;
                p.take();
            }
            assertThat(c.state()).isEqualTo(s);
        }

        /** The first number that the peer may not send. */
        int edge() {
            return c.receiver.edge - p.initial;
        }

        void isTold(Peer.Draft d, String what) throws IOException {
            d.send();
            assertThat(p.seen).as("%s in %s", what, state).hasSize(1);
            assertThat(p.acknowledgment(c.receiver.next - p.initial).sequence()).isEqualTo(c.sender.next
                    - p.hostInitial);
            isUnchanged();
        }

        void isIgnored(Peer.Draft d, String what) throws IOException {
            d.send();
            assertThat(p.seen).as("%s in %s", what, state).isEmpty();
            isUnchanged();
        }

        void isUnchanged() {
            assertThat(c.state()).isEqualTo(state);
            assertThat(c.readable()).isZero();
            assertThat(c.error()).isZero();
        }
    }

    private static TcpState[] synchronizedOnes() {
        return new TcpState[] {TcpState.ESTABLISHED, TcpState.FIN_WAIT_1, TcpState.FIN_WAIT_2, TcpState.CLOSE_WAIT,
            TcpState.CLOSING, TcpState.LAST_ACK, TcpState.TIME_WAIT};
    }

    @Test
    void whatIsBehindTheWindowIsAnswered() throws IOException {
        for (TcpState s : synchronizedOnes()) {
            for (int beyond = 0; beyond < 3; beyond++) {
                Situation t = new Situation(s);
                int at = t.edge() + beyond;
                t.isTold(t.p.draft(ACK).sequence(at).data(6), "data");
                t.isTold(t.p.draft(FIN | ACK).sequence(at), "FIN");
                t.isTold(t.p.draft(FIN | ACK).sequence(at).data(6), "data with FIN");
                if (s != TcpState.TIME_WAIT) { // there SYN begins anew, and what has neither it nor ACK is nothing
                    t.isTold(t.p.draft(FIN).sequence(at), "FIN without ACK");
                    t.isTold(t.p.draft(SYN).sequence(at), "SYN");
                }
                t.isTold(t.p.draft(SYN | ACK).sequence(at), "SYN with ACK");
                if (beyond > 0) {
                    t.isTold(t.p.draft(ACK).sequence(at), "ACK");
                }
            }
        }
    }

    /** The peer has sent all that it may. */
    @Test
    void anAcknowledgmentAtTheEdgeIsNotAnswered() throws IOException {
        for (TcpState s : synchronizedOnes()) {
            Situation t = new Situation(s);
            if (s == TcpState.TIME_WAIT) { // it has no window any more
                t.isTold(t.p.draft(ACK).sequence(t.edge()), "ACK");
            } else {
                t.isIgnored(t.p.draft(ACK).sequence(t.edge()), "ACK");
            }
        }
    }

    @Test
    void anAcknowledgmentOfWhatWasNotSentIsAnsweredAndItsDataDropped() throws IOException {
        for (TcpState s : synchronizedOnes()) {
            for (int beyond = 1; beyond < 3; beyond++) {
                Situation t = new Situation(s);
                int number = t.c.sender.next - t.p.hostInitial + beyond;
                t.isTold(t.p.draft(ACK).acknowledgment(number).data(6), "data");
            }
        }
    }

    /** After its FIN a peer has nothing to say. */
    @Test
    void dataBehindFinIsIgnored() throws IOException {
        for (TcpState s : new TcpState[] {TcpState.CLOSE_WAIT, TcpState.CLOSING, TcpState.LAST_ACK}) {
            Situation t = new Situation(s);
            t.isIgnored(t.p.draft(ACK).data(6), "data");
        }
        Situation t = new Situation(TcpState.TIME_WAIT);
        t.isTold(t.p.draft(ACK).data(6), "data");
    }

    @Test
    void theEndIsReachedAllTheSame() throws IOException {
        Situation t = new Situation(TcpState.CLOSE_WAIT);
        t.isTold(t.p.draft(ACK).sequence(t.edge() + 1).data(6), "data");
        t.p.close(t.c);
        assertThat(t.p.one().has(FIN | ACK)).isTrue();
        t.p.acknowledge(2);
        t.p.nothingIsLeft();
        t.p.draft(ACK).data(6).send();
        assertThat(t.p.one().header().flags()).isEqualTo(Peer.RST);
    }
}
