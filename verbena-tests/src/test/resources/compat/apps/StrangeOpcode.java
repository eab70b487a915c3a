// SPDX-License-Identifier: Apache-2.0
import org.verbena.verbs.*;

/** Written for the first version, and receives what a peer of the next version sends. */
public final class StrangeOpcode {
    private StrangeOpcode() {}

    public static void main(String[] args) throws Exception {
        try (Traffic t = new Traffic()) {
            Traffic.require(t.qpB.receiveQueue().start().receive(1).sge(t.mrB, 0, 64).complete());
            Traffic.require(t.qpA.sendQueue().start().sendImmediate(2, 0, 0xbeac04).sge(t.mrA, 0, 8).complete());
            Traffic.completions("receiver", t.cqB, 1);
        }
    }
}
