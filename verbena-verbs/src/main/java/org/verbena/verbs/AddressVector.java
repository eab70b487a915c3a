// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The path to a peer, {@code struct ibv_ah_attr}. Immutable; two are equal if they describe the same path, whichever of
 * their fields were set and whichever left alone.
 */
public final class AddressVector {
    /** Bit of {@link #sourceGidIndex()} in the mask. */
    public static final int SOURCE_GID_INDEX = 1;
    /** Bit of {@link #hopLimit()} in the mask. */
    public static final int HOP_LIMIT = 1 << 1;
    /** Bit of {@link #trafficClass()} in the mask. */
    public static final int TRAFFIC_CLASS = 1 << 2;
    /** Bit of {@link #flowLabel()} in the mask. */
    public static final int FLOW_LABEL = 1 << 3;
    /** Bit of {@link #serviceLevel()} in the mask. */
    public static final int SERVICE_LEVEL = 1 << 4;
    /** Bit of {@link #port()} in the mask. */
    public static final int PORT = 1 << 5;
    /** Bit of {@link #staticRate()} in the mask. */
    public static final int STATIC_RATE = 1 << 6;
    /** Bit of {@link #sourcePathBits()} in the mask. */
    public static final int SOURCE_PATH_BITS = 1 << 7;
    /** Bit of {@link #destinationLid()} in the mask. */
    public static final int DESTINATION_LID = 1 << 8;

    /** What every provider knew from the beginning; never grows. */
    static final int BASIC = SOURCE_GID_INDEX | HOP_LIMIT | TRAFFIC_CLASS | FLOW_LABEL | SERVICE_LEVEL | PORT
            | STATIC_RATE | SOURCE_PATH_BITS | DESTINATION_LID;

    private static final Flags NAMES = new Flags("SOURCE_GID_INDEX", "HOP_LIMIT", "TRAFFIC_CLASS", "FLOW_LABEL",
            "SERVICE_LEVEL", "PORT", "STATIC_RATE", "SOURCE_PATH_BITS", "DESTINATION_LID");

    private final Gid destination;
    private final int compMask;
    private final int sourceGidIndex;
    private final int hopLimit;
    private final int trafficClass;
    private final int flowLabel;
    private final int serviceLevel;
    private final int port;
    private final int staticRate;
    private final int sourcePathBits;
    private final int destinationLid;

    private AddressVector(Builder b) {
        destination = b.destination;
        compMask = b.compMask;
        sourceGidIndex = b.sourceGidIndex;
        hopLimit = b.hopLimit;
        trafficClass = b.trafficClass;
        flowLabel = b.flowLabel;
        serviceLevel = b.serviceLevel;
        port = b.port;
        staticRate = b.staticRate;
        sourcePathBits = b.sourcePathBits;
        destinationLid = b.destinationLid;
    }

    /** The plain path from port 1 to a GID. */
    public static AddressVector to(Gid destination) {
        return builder(destination).build();
    }

    /** A builder for a path from port 1 to a GID. */
    public static Builder builder(Gid destination) {
        return new Builder(destination);
    }

    /** A builder that starts with this path. */
    public Builder toBuilder() {
        Builder b = new Builder(destination);
        b.compMask = compMask;
        b.sourceGidIndex = sourceGidIndex;
        b.hopLimit = hopLimit;
        b.trafficClass = trafficClass;
        b.flowLabel = flowLabel;
        b.serviceLevel = serviceLevel;
        b.port = port;
        b.staticRate = staticRate;
        b.sourcePathBits = sourcePathBits;
        b.destinationLid = destinationLid;
        return b;
    }

    /** Which of the optional fields were set, see {@link CompMask}. */
    public int compMask() {
        return compMask;
    }

    /** The names of the mask's bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** The peer's GID. */
    public Gid destination() {
        return destination;
    }

    /** Index of the own GID in the port's table; 0 if not set. */
    public int sourceGidIndex() {
        return sourceGidIndex;
    }

    /** How many routers the packets may pass; 64 if not set. */
    public int hopLimit() {
        return hopLimit;
    }

    /** Traffic class of the packets; 0 if not set. */
    public int trafficClass() {
        return trafficClass;
    }

    /** Flow label of the packets, 20 bits; 0 if not set. */
    public int flowLabel() {
        return flowLabel;
    }

    /** Service level, 4 bits; 0 if not set. */
    public int serviceLevel() {
        return serviceLevel;
    }

    /** The own port, counts from 1; 1 if not set. */
    public int port() {
        return port;
    }

    /** The highest rate of the path as {@code enum ibv_rate} numbers it; 0, the port's own, if not set. */
    public int staticRate() {
        return staticRate;
    }

    /** The low bits of the own local identifier, 7 bits, on InfiniBand; 0 if not set. */
    public int sourcePathBits() {
        return sourcePathBits;
    }

    /** The peer's, or the router's, local identifier on InfiniBand, 16 bits; 0 if not set. */
    public int destinationLid() {
        return destinationLid;
    }

    private List<Object> fields() {
        return List.of(destination, sourceGidIndex, hopLimit, trafficClass, flowLabel, serviceLevel, port, staticRate,
                sourcePathBits, destinationLid);
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof AddressVector v && v.fields().equals(fields());
    }

    @Override
    public int hashCode() {
        return fields().hashCode();
    }

    @Override
    public String toString() {
        return "AddressVector[to " + destination + ", port " + port + ", GID index " + sourceGidIndex + ", hop limit "
                + hopLimit + (compMask == 0 ? "" : ", set " + names(compMask)) + "]";
    }

    /** Collects the fields. Not safe for use by several threads. */
    public static final class Builder {
        private final Gid destination;
        private int compMask;
        private int sourceGidIndex;
        private int hopLimit = 64;
        private int trafficClass;
        private int flowLabel;
        private int serviceLevel;
        private int port = 1;
        private int staticRate;
        private int sourcePathBits;
        private int destinationLid;

        private Builder(Gid destination) {
            this.destination = destination;
        }

        /** Index of the own GID in the port's table. */
        public Builder sourceGidIndex(int value) {
            sourceGidIndex = value;
            return with(SOURCE_GID_INDEX);
        }

        /** How many routers the packets may pass. */
        public Builder hopLimit(int value) {
            hopLimit = value;
            return with(HOP_LIMIT);
        }

        /** Traffic class of the packets. */
        public Builder trafficClass(int value) {
            trafficClass = value;
            return with(TRAFFIC_CLASS);
        }

        /** Flow label of the packets, 20 bits. */
        public Builder flowLabel(int value) {
            flowLabel = value;
            return with(FLOW_LABEL);
        }

        /** Service level, 4 bits. */
        public Builder serviceLevel(int value) {
            serviceLevel = value;
            return with(SERVICE_LEVEL);
        }

        /** The own port, counts from 1. */
        public Builder port(int value) {
            port = value;
            return with(PORT);
        }

        /** The highest rate of the path as {@code enum ibv_rate} numbers it. */
        public Builder staticRate(int value) {
            staticRate = value;
            return with(STATIC_RATE);
        }

        /** The low bits of the own local identifier, 7 bits, on InfiniBand. */
        public Builder sourcePathBits(int value) {
            sourcePathBits = value;
            return with(SOURCE_PATH_BITS);
        }

        /** The peer's, or the router's, local identifier on InfiniBand, 16 bits. */
        public Builder destinationLid(int value) {
            destinationLid = value;
            return with(DESTINATION_LID);
        }

        private Builder with(int bit) {
            compMask |= bit;
            return this;
        }

        /** Makes the path. */
        public AddressVector build() {
            return new AddressVector(this);
        }
    }
}
