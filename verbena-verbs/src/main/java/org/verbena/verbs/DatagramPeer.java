// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * Where datagrams to a service go, {@code struct rdma_ud_param}: what {@link ConnectionManager#resolve} has found.
 * Immutable.
 */
public final class DatagramPeer {
    private final AddressVector addressVector;
    private final int queuePairNumber;
    private final int qkey;
    private final byte[] privateData;

    /** For providers. */
    public DatagramPeer(AddressVector addressVector, int queuePairNumber, int qkey, byte[] privateData) {
        this.addressVector = addressVector;
        this.queuePairNumber = queuePairNumber;
        this.qkey = qkey;
        this.privateData = privateData.clone();
    }

    /** The way there, for {@link ProtectionDomain#createAddressHandle}. */
    public AddressVector addressVector() {
        return addressVector;
    }

    /** The number of the service's queue pair, 24 bits. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** The Q_Key that its datagrams need. */
    public int qkey() {
        return qkey;
    }

    /** The private data of the service, with zeros as padding. */
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }
}
