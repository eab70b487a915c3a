// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

/**
 * The counts of a wire; written under the context's lock, read by any thread, which may see a value that is a little
 * old.
 */
public final class WireCounts {
    /** Packets received with a correct CRC. */
    public long received;
    /** Their bytes, with the CRC. */
    public long receivedBytes;
    /** Packets that arrived with a wrong CRC: {@code rx_icrc_encapsulated}. */
    public long icrcErrors;
    /** Datagrams that are too short or too long to be a packet: {@code rcvd_pkts_malformed}. */
    public long malformed;
    /** IPv4 packets whose identification was not 0, and was found from the CRC. */
    public long identified;
    /** Receive calls that failed. */
    public long receiveErrors;
    /** Packets passed to the kernel. */
    public long sent;
    /** Bytes of packets that were to be passed to it, with the CRC. */
    public long sentBytes;
    /** Packets that the kernel refused, or for which there was no space. */
    public long sendErrors;
    /** The last errno of those; 0 if there was none. */
    public int lastSendError;

    WireCounts() {}
}
