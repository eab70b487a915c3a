// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** An entry of a port's GID table, {@code struct ibv_gid_entry}. Immutable. */
public final class GidEntry {
    private final Gid gid;
    private final int port;
    private final int index;
    private final int type;
    private final int interfaceIndex;

    private GidEntry(Builder b) {
        gid = b.gid;
        port = b.port;
        index = b.index;
        type = b.type;
        interfaceIndex = b.interfaceIndex;
    }

    /** For providers: a builder of an entry of type {@link GidType#IB} without a network interface. */
    public static Builder builder(Gid gid, int port, int index) {
        return new Builder(gid, port, index);
    }

    /** The GID. */
    public Gid gid() {
        return gid;
    }

    /** The port. */
    public int port() {
        return port;
    }

    /** Where it stands in the port's table. */
    public int index() {
        return index;
    }

    /** See {@link GidType}. */
    public int type() {
        return type;
    }

    /** The index of the network interface that the GID comes from; 0 if none. */
    public int interfaceIndex() {
        return interfaceIndex;
    }

    @Override
    public String toString() {
        return gid + " " + GidType.toString(type) + " of port " + port + ", index " + index;
    }

    /** Collects the fields. Not safe for use by several threads. */
    public static final class Builder {
        private final Gid gid;
        private final int port;
        private final int index;
        private int type;
        private int interfaceIndex;

        private Builder(Gid gid, int port, int index) {
            this.gid = gid;
            this.port = port;
            this.index = index;
        }

        /** See {@link GidType}. */
        public Builder type(int value) {
            type = value;
            return this;
        }

        /** The index of the network interface that the GID comes from. */
        public Builder interfaceIndex(int value) {
            interfaceIndex = value;
            return this;
        }

        /** Makes the entry. */
        public GidEntry build() {
            return new GidEntry(this);
        }
    }
}
