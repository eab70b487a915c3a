// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.List;

/** Which packets a flow takes, {@code struct ibv_flow_attr}. Immutable. */
public final class FlowAttributes {
    private final int type;
    private final int priority;
    private final int port;
    private final int flags;
    private final List<FlowSpec> specs;

    private FlowAttributes(Builder b) {
        type = b.type;
        priority = b.priority;
        port = b.port;
        flags = b.flags;
        specs = List.copyOf(b.specs);
    }

    /** A builder for a flow of type {@link FlowType#NORMAL} on port 1 that takes everything. */
    public static Builder builder() {
        return new Builder();
    }

    /** Which of the optional fields were set, see {@link CompMask}; there is none yet. */
    public int compMask() {
        return 0;
    }

    /** See {@link FlowType}. */
    public int type() {
        return type;
    }

    /** 0 to 65535; a flow of a lower number is asked first. */
    public int priority() {
        return priority;
    }

    /** The port, from 1 on. */
    public int port() {
        return port;
    }

    /** See {@link FlowFlags}. */
    public int flags() {
        return flags;
    }

    /** What a packet has to match, all of it, and what happens to it. */
    public List<FlowSpec> specs() {
        return specs;
    }

    @Override
    public String toString() {
        return FlowType.toString(type) + " on port " + port + ", priority " + priority + ", " + FlowFlags.toString(
                flags)
                + ", " + specs;
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int type = FlowType.NORMAL;
        private int priority;
        private int port = 1;
        private int flags;
        private final List<FlowSpec> specs = new ArrayList<>();

        private Builder() {}

        /** See {@link FlowType}. */
        public Builder type(int value) {
            type = value;
            return this;
        }

        /** 0 to 65535; a flow of a lower number is asked first. */
        public Builder priority(int value) {
            priority = value;
            return this;
        }

        /** The port, from 1 on. */
        public Builder port(int number) {
            port = number;
            return this;
        }

        /** See {@link FlowFlags}. */
        public Builder flags(int value) {
            flags = value;
            return this;
        }

        /** Adds a specification. */
        public Builder spec(FlowSpec spec) {
            specs.add(spec);
            return this;
        }

        /** Makes the attributes. */
        public FlowAttributes build() {
            return new FlowAttributes(this);
        }
    }
}
