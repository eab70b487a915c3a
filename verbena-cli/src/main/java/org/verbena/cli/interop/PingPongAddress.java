// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.fasterxml.jackson.databind.node.ObjectNode;

import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.Gid;

/**
 * The address of the queue pair of one end, in the form that the programs {@code ibv_*_pingpong} of rdma-core exchange:
 * 52 bytes, {@code lid:qpn:psn:gid} in hexadecimal digits with 0 behind them.
 *
 * @param lid local identifier, 16 bits; 0 where there is none
 * @param qpn number of the queue pair, 24 bits
 * @param psn its first packet sequence number, 24 bits
 * @param gid zeros if the port is to be found by its local identifier
 */
record PingPongAddress(int lid, int qpn, int psn, Gid gid) {
    /** Bytes of an address. */
    static final int BYTES = 52;

    static final Gid NO_GID = new Gid(0, 0);

    /** The address that stands for a missing queue pair. */
    static final PingPongAddress NONE = new PingPongAddress(0, 0, 0, NO_GID);

    private static final Pattern FORM = Pattern
            .compile("([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})\0", Pattern.CASE_INSENSITIVE);

    /** The bytes that are sent. */
    byte[] bytes() {
        return String.format(Locale.ROOT, "%04x:%06x:%06x:%s\0", lid, qpn, psn, HexFormat.of().formatHex(gid.bytes()))
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Parses the bytes from a peer. */
    static PingPongAddress of(byte[] bytes) throws PeerException {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        Matcher m = FORM.matcher(text);
        if (!m.matches()) {
            throw new PeerException("the peer is no ping-pong: it said '" + HumanText.printable(text.strip()) + "'");
        }
        String gid = group(m, 4);
        return new PingPongAddress(HexFormat.fromHexDigits(group(m, 1)), HexFormat.fromHexDigits(group(m, 2)),
                HexFormat.fromHexDigits(group(m, 3)), new Gid(HexFormat.fromHexDigitsToLong(gid, 0, 16),
                        HexFormat.fromHexDigitsToLong(gid, 16, 32)));
    }

    private static String group(Matcher m, int number) {
        return Objects.requireNonNull(m.group(number));
    }

    /** For JSON. */
    void put(ObjectNode n) {
        n.put("lid", lid).put("qpn", qpn).put("psn", psn).put("gid", gid.toString());
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", lid, qpn, psn, gid);
    }
}
