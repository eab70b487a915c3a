// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;

/** The options of messages between neighbours (RFC 4861, 4.6): type, length in units of 8 bytes, and data. */
final class NeighbourOptions {
    static final int UNIT = 8;

    private NeighbourOptions() {}

    /** Whether what follows the first bytes of a message is options. */
    static boolean areValid(Datagram d, int from) {
        int i = from;
        while (i + 2 <= d.length()) {
            int bytes = bytes(d, i);
            if (bytes == 0 || bytes > d.length() - i) {
                return false;
            }
            i += bytes;
        }
        return i == d.length();
    }

    private static int bytes(Datagram d, int i) {
        return Bytes.u8(d.memory(), d.at() + i + 1) * UNIT;
    }

    /** The place of the first option of a type, at {@code from} or behind it, that has {@code least} bytes or more; -1 if there is none. */
    static int find(Datagram d, int from, int type, int least) {
        for (int i = from; i + 2 <= d.length(); i += bytes(d, i)) {
            if (Bytes.u8(d.memory(), d.at() + i) == type && bytes(d, i) >= least) {
                return i;
            }
        }
        return -1;
    }

    /** The place behind an option. */
    static int after(Datagram d, int option) {
        return option + bytes(d, option);
    }

    /** The Ethernet address of a host in an option; 0 if there is none. */
    static long linkAddress(Datagram d, int from, int type) {
        int i = find(d, from, type, UNIT);
        long mac = i < 0 ? 0 : Bytes.u48(d.memory(), d.at() + i + 2);
        return EthernetHeader.isGroup(mac) ? 0 : mac;
    }
}
