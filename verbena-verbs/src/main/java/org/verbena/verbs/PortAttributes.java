// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;
import java.util.OptionalInt;

import org.jspecify.annotations.Nullable;

/**
 * State and limits of a port, {@code struct ibv_port_attr}. Numbers that every provider has are 0, and the link layer
 * empty, if this one does not say; the others read as absent. Immutable.
 */
public final class PortAttributes {
    /** The port is down. */
    public static final int STATE_DOWN = 1;
    /** The port carries data. */
    public static final int STATE_ACTIVE = 4;

    private final Builder b;

    private PortAttributes(Builder b) {
        this.b = b;
    }

    /** For providers: a builder with nothing known. */
    public static Builder builder() {
        return new Builder();
    }

    /** {@link #STATE_ACTIVE}, {@link #STATE_DOWN} or another one of {@code enum ibv_port_state}. */
    public int state() {
        return b.state;
    }

    /** The state's name, or its number. */
    public String stateName() {
        return switch (b.state) {
            case 0 -> "PORT_NOP";
            case STATE_DOWN -> "PORT_DOWN";
            case 2 -> "PORT_INIT";
            case 3 -> "PORT_ARMED";
            case STATE_ACTIVE -> "PORT_ACTIVE";
            case 5 -> "PORT_ACTIVE_DEFER";
            default -> Integer.toString(b.state);
        };
    }

    /** The largest path MTU in bytes. */
    public int maxMtu() {
        return b.maxMtu;
    }

    /** The path MTU in use, in bytes. */
    public int activeMtu() {
        return b.activeMtu;
    }

    /** How many GIDs {@link Context#queryGid} answers. */
    public int gidTableLength() {
        return b.gidTableLength;
    }

    /** How many partition keys there are. */
    public int pkeyTableLength() {
        return b.pkeyTableLength;
    }

    /** The longest message in bytes. */
    public long maxMessageSize() {
        return b.maxMessageSize;
    }

    /** {@code "Ethernet"}, {@code "InfiniBand"} or {@code "shared memory"}. */
    public String linkLayer() {
        return b.linkLayer;
    }

    /** What the port can do, {@code port_cap_flags}. */
    public OptionalInt capabilityFlags() {
        return b.capabilityFlags;
    }

    /** What the port can do, {@code port_cap_flags2}. */
    public OptionalInt capabilityFlags2() {
        return b.capabilityFlags2;
    }

    /** Packets with a wrong partition key. */
    public OptionalInt badPkeyCounter() {
        return b.badPkeyCounter;
    }

    /** Packets with a wrong queue key. */
    public OptionalInt qkeyViolationCounter() {
        return b.qkeyViolationCounter;
    }

    /** The local identifier on InfiniBand. */
    public OptionalInt lid() {
        return b.lid;
    }

    /** How many low bits of the local identifier are path bits. */
    public OptionalInt lidMaskControl() {
        return b.lidMaskControl;
    }

    /** The subnet manager's local identifier. */
    public OptionalInt smLid() {
        return b.smLid;
    }

    /** The service level to reach the subnet manager by. */
    public OptionalInt smServiceLevel() {
        return b.smServiceLevel;
    }

    /** How long packets may take through the subnet, as a code. */
    public OptionalInt subnetTimeout() {
        return b.subnetTimeout;
    }

    /** The kind of initialisation that the subnet manager did. */
    public OptionalInt initTypeReply() {
        return b.initTypeReply;
    }

    /** How many virtual lanes there are, as a code. */
    public OptionalInt maxVirtualLaneNumber() {
        return b.maxVirtualLaneNumber;
    }

    /** The link's width, as {@code ibv_port_attr} codes it. */
    public OptionalInt activeWidth() {
        return b.activeWidth;
    }

    /** The link's speed, as {@code ibv_port_attr} codes it. */
    public OptionalInt activeSpeed() {
        return b.activeSpeed;
    }

    /** The physical state, as {@code ibv_port_attr} codes it. */
    public OptionalInt physicalState() {
        return b.physicalState;
    }

    private List<Object> fields() {
        return List.of(b.state, b.maxMtu, b.activeMtu, b.gidTableLength, b.pkeyTableLength, b.maxMessageSize,
                b.linkLayer, b.capabilityFlags, b.capabilityFlags2, b.badPkeyCounter, b.qkeyViolationCounter, b.lid,
                b.lidMaskControl, b.smLid, b.smServiceLevel, b.subnetTimeout, b.initTypeReply, b.maxVirtualLaneNumber,
                b.activeWidth, b.activeSpeed, b.physicalState);
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof PortAttributes p && p.fields().equals(fields());
    }

    @Override
    public int hashCode() {
        return fields().hashCode();
    }

    @Override
    public String toString() {
        return "PortAttributes[" + stateName() + ", active MTU " + b.activeMtu + ", " + b.linkLayer + "]";
    }

    /** Collects the attributes; a provider sets what it knows. Not safe for use by several threads. */
    public static final class Builder {
        private int state;
        private int maxMtu;
        private int activeMtu;
        private int gidTableLength;
        private int pkeyTableLength;
        private long maxMessageSize;
        private String linkLayer = "";
        private OptionalInt capabilityFlags = OptionalInt.empty();
        private OptionalInt capabilityFlags2 = OptionalInt.empty();
        private OptionalInt badPkeyCounter = OptionalInt.empty();
        private OptionalInt qkeyViolationCounter = OptionalInt.empty();
        private OptionalInt lid = OptionalInt.empty();
        private OptionalInt lidMaskControl = OptionalInt.empty();
        private OptionalInt smLid = OptionalInt.empty();
        private OptionalInt smServiceLevel = OptionalInt.empty();
        private OptionalInt subnetTimeout = OptionalInt.empty();
        private OptionalInt initTypeReply = OptionalInt.empty();
        private OptionalInt maxVirtualLaneNumber = OptionalInt.empty();
        private OptionalInt activeWidth = OptionalInt.empty();
        private OptionalInt activeSpeed = OptionalInt.empty();
        private OptionalInt physicalState = OptionalInt.empty();

        private Builder() {}

        private Builder(Builder o) {
            state = o.state;
            maxMtu = o.maxMtu;
            activeMtu = o.activeMtu;
            gidTableLength = o.gidTableLength;
            pkeyTableLength = o.pkeyTableLength;
            maxMessageSize = o.maxMessageSize;
            linkLayer = o.linkLayer;
            capabilityFlags = o.capabilityFlags;
            capabilityFlags2 = o.capabilityFlags2;
            badPkeyCounter = o.badPkeyCounter;
            qkeyViolationCounter = o.qkeyViolationCounter;
            lid = o.lid;
            lidMaskControl = o.lidMaskControl;
            smLid = o.smLid;
            smServiceLevel = o.smServiceLevel;
            subnetTimeout = o.subnetTimeout;
            initTypeReply = o.initTypeReply;
            maxVirtualLaneNumber = o.maxVirtualLaneNumber;
            activeWidth = o.activeWidth;
            activeSpeed = o.activeSpeed;
            physicalState = o.physicalState;
        }

        /** Sets {@link PortAttributes#state()}. */
        public Builder state(int v) {
            state = v;
            return this;
        }

        /** Sets {@link PortAttributes#maxMtu()} and {@link PortAttributes#activeMtu()} in bytes. */
        public Builder mtu(int max, int active) {
            maxMtu = max;
            activeMtu = active;
            return this;
        }

        /** Sets {@link PortAttributes#gidTableLength()}. */
        public Builder gidTableLength(int v) {
            gidTableLength = v;
            return this;
        }

        /** Sets {@link PortAttributes#pkeyTableLength()}. */
        public Builder pkeyTableLength(int v) {
            pkeyTableLength = v;
            return this;
        }

        /** Sets {@link PortAttributes#maxMessageSize()}. */
        public Builder maxMessageSize(long v) {
            maxMessageSize = v;
            return this;
        }

        /** Sets {@link PortAttributes#linkLayer()}. */
        public Builder linkLayer(String v) {
            linkLayer = v;
            return this;
        }

        /** Sets {@link PortAttributes#capabilityFlags()}. */
        public Builder capabilityFlags(int v) {
            capabilityFlags = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#capabilityFlags2()}. */
        public Builder capabilityFlags2(int v) {
            capabilityFlags2 = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#badPkeyCounter()}. */
        public Builder badPkeyCounter(int v) {
            badPkeyCounter = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#qkeyViolationCounter()}. */
        public Builder qkeyViolationCounter(int v) {
            qkeyViolationCounter = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#lid()}. */
        public Builder lid(int v) {
            lid = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#lidMaskControl()}. */
        public Builder lidMaskControl(int v) {
            lidMaskControl = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#smLid()}. */
        public Builder smLid(int v) {
            smLid = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#smServiceLevel()}. */
        public Builder smServiceLevel(int v) {
            smServiceLevel = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#subnetTimeout()}. */
        public Builder subnetTimeout(int v) {
            subnetTimeout = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#initTypeReply()}. */
        public Builder initTypeReply(int v) {
            initTypeReply = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#maxVirtualLaneNumber()}. */
        public Builder maxVirtualLaneNumber(int v) {
            maxVirtualLaneNumber = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#activeWidth()}. */
        public Builder activeWidth(int v) {
            activeWidth = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#activeSpeed()}. */
        public Builder activeSpeed(int v) {
            activeSpeed = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link PortAttributes#physicalState()}. */
        public Builder physicalState(int v) {
            physicalState = OptionalInt.of(v);
            return this;
        }

        /** Makes the attributes. */
        public PortAttributes build() {
            return new PortAttributes(new Builder(this));
        }
    }
}
