package org.verbena.verbs;

/**
 * The path to a peer, {@code struct ibv_ah_attr}.
 *
 * @param destination the peer's GID
 * @param sourceGidIndex index of the own GID in the port's table
 * @param hopLimit how many routers the packets may pass
 * @param trafficClass traffic class of the packets
 * @param flowLabel flow label of the packets, 20 bits
 * @param serviceLevel service level, 4 bits
 * @param port the own port, counts from 1
 */
public record AddressVector(Gid destination, int sourceGidIndex, int hopLimit, int trafficClass, int flowLabel,
        int serviceLevel, int port) {
    /** The plain path from port 1 to a GID. */
    public static AddressVector to(Gid destination) {
        return new AddressVector(destination, 0, 64, 0, 0, 0, 1);
    }
}
