// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;

/** What the two highest bits of an option that is not known ask for (RFC 8200, 4.2), of headers for each hop and for the destination, to one host and to many. */
final class UnknownOptionsTest {
    private static final int UNKNOWN = 0x1e;
    private static final int NO_NEXT_HEADER = 59;

    @Test
    void whatTheBitsAskForIsDone() throws Exception {
        for (int header : new int[] {Ipv6Header.HOP_BY_HOP, Ipv6Header.DESTINATION_OPTIONS}) {
            for (int action = 0; action < 4; action++) {
                for (boolean toMany : new boolean[] {false, true}) {
                    Host h = Ipv6Frames.settled(1);
                    h.take(Ipv6Frames.solicitation(h, Ipv6Frames.PEER, Ipv6Frames.solicitedNode(h.ipv6), h.ipv6,
                            Ipv6Frames.PEER_MAC));
                    h.wire.takeSent();
                    byte[] options = {NO_NEXT_HEADER, 0, (byte) (action << 6 | UNKNOWN), 4, 0, 0, 0, 0};
                    byte[] asked = Ipv6Frames.frame(h, Ipv6Frames.PEER, toMany ? Ipv6Frames.ALL_NODES : h.ipv6, header,
                            64, options);
                    h.take(asked);
                    List<byte[]> all = h.wire.takeSent();
                    all.removeIf(f -> Ipv6Frames.header(f).hopLimit() == 255);
                    boolean told = action == 2 || action == 3 && !toMany;
                    assertThat(all).as("action %d of header %d, to many: %s", action, header, toMany).hasSize(told
                            ? 1
                            : 0);
                    if (told) {
                        byte[] f = all.getFirst();
                        assertThat(Ipv6Frames.message(f)).isEqualTo(new Icmpv6Message(Icmpv6Message.PARAMETER_PROBLEM,
                                Icmpv6Message.OPTION, Ipv6Header.BYTES + 2));
                        assertThat(Ipv6Frames.header(f).sourceLow()).isEqualTo(h.ipv6.low());
                        assertThat(Arrays.copyOfRange(f, Ipv6Frames.PAYLOAD + 8, f.length)).isEqualTo(Arrays
                                .copyOfRange(asked, Ipv6Frames.IP, asked.length));
                    }
                }
            }
        }
    }
}
