// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

/** What a wire has counted; written under the context's lock, read by anyone, who may see a value that is a little old. */
public final class WireCounts {
    /** Packets that arrived and had a right CRC. */
    public long received;
    /** Their bytes, with the CRC. */
    public long receivedBytes;
    /** Packets that arrived with a wrong CRC: {@code rx_icrc_encapsulated}. */
    public long icrcErrors;
    /** Datagrams that are too short or too long to be a packet: {@code rcvd_pkts_malformed}. */
    public long malformed;
    /** Packets of IPv4 whose identification was not 0, and was found by the CRC. */
    public long identified;
    /** Receive calls that failed. */
    public long receiveErrors;
    /** Packets given to the kernel. */
    public long sent;
    /** Bytes of packets that were to be given to it, with the CRC. */
    public long sentBytes;
    /** Packets that the kernel refused, or for which there was no room. */
    public long sendErrors;
    /** The last errno of those; 0 if there was none. */
    public int lastSendError;

    WireCounts() {}
}
