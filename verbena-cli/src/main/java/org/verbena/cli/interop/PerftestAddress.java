// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.Gid;

/**
 * The address of the queue pair and the memory of one end, in the form that perftest's programs exchange when they use
 * GIDs: 108 bytes, numbers in hexadecimal digits with a colon behind each, the GID byte by byte, and 0 at the end.
 *
 * @param lid local identifier, 16 bits; 0 where there is none
 * @param reads reads and atomics that it may have outstanding
 * @param qpn number of the queue pair, 24 bits
 * @param psn its first packet sequence number, 24 bits
 * @param rkey of its memory
 * @param address of the memory that the peer may access
 */
record PerftestAddress(int lid, int reads, int qpn, int psn, int rkey, long address, Gid gid) {
    /** Bytes of an address. */
    static final int BYTES = 108;
    /** Bytes of the form that is sent over a connection, with shared receive queue and GID index at its end. */
    static final int STRUCT_BYTES = 56;

    private static final int GID_AT = 32;

    private static final Pattern FORM = Pattern.compile("([0-9a-f]{4}):([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):"
            + "([0-9a-f]{8}):([0-9a-f]{16}):((?:[0-9a-f]{2}:){16})[0-9a-f]{8}:\0", Pattern.CASE_INSENSITIVE);

    /** The bytes that are sent; the shared receive queue is left out. */
    byte[] bytes() {
        return String.format(Locale.ROOT, "%04x:%04x:%06x:%06x:%08x:%016x:%s:%08x:\0", lid, reads, qpn, psn, rkey,
                address, HexFormat.ofDelimiter(":").formatHex(gid.bytes()), 0).getBytes(StandardCharsets.US_ASCII);
    }

    /** Parses the bytes from a peer. */
    static PerftestAddress of(byte[] bytes) throws PeerException {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        Matcher m = FORM.matcher(text);
        if (!m.matches()) {
            throw new PeerException("the peer is none of perftest that goes by GID: it said '"
                    + HumanText.printable(text.strip()) + "'; give it the index of a GID (-x)");
        }
        byte[] gid = HexFormat.of().parseHex(group(m, 7).replace(":", ""));
        String hex = HexFormat.of().formatHex(gid);
        return new PerftestAddress(number(m, 1), number(m, 2), number(m, 3), number(m, 4), number(m, 5),
                HexFormat.fromHexDigitsToLong(group(m, 6)), new Gid(HexFormat.fromHexDigitsToLong(hex, 0, 16),
                        HexFormat.fromHexDigitsToLong(hex, 16, 32)));
    }

    /** The form that is sent over a connection: {@code struct pingpong_dest} with its numbers big-endian. */
    byte[] struct() {
        return ByteBuffer.allocate(STRUCT_BYTES).putInt(lid).putInt(reads).putInt(qpn).putInt(psn).putInt(rkey)
                .putInt(0).putLong(address).put(gid.bytes()).array();
    }

    /** Parses the bytes from a peer that came over a connection. */
    static PerftestAddress ofStruct(byte[] bytes) throws PeerException {
        ByteBuffer b = ByteBuffer.wrap(bytes);
        PerftestAddress a = new PerftestAddress(b.getInt(), b.getInt(), b.getInt(), b.getInt(), b.getInt(),
                b.getLong(GID_AT - 8), new Gid(b.getLong(GID_AT), b.getLong(GID_AT + 8)));
        if (a.qpn >>> 24 != 0 || a.reads < 0) {
            throw new PeerException("the peer is none of perftest: it tells of queue pair " + Integer.toUnsignedString(
                    a.qpn) + " and " + a.reads + " reads outstanding");
        }
        return a;
    }

    private static int number(Matcher m, int group) {
        return HexFormat.fromHexDigits(group(m, group));
    }

    private static String group(Matcher m, int number) {
        return Objects.requireNonNull(m.group(number));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, OUT 0x%02x, RKey 0x%08x, VAddr 0x%016x,"
                + " GID %s", lid, qpn, psn, reads, rkey, address, gid);
    }
}
