// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What to change about a work queue, {@code struct ibv_wq_attr}. Immutable. */
public final class WorkQueueAttributes {
    /** Bit of {@link #state()} in the mask. */
    public static final int STATE = 1;
    /** Bit of {@link #currentState()} in the mask. */
    public static final int CURR_STATE = 1 << 1;
    /** Bit of {@link #flags()} in the mask. */
    public static final int FLAGS = 1 << 2;

    private static final Flags NAMES = new Flags("STATE", "CURR_STATE", "FLAGS");

    private final int mask;
    private final int state;
    private final int currentState;
    private final int flags;
    private final int flagsMask;

    private WorkQueueAttributes(Builder b) {
        mask = b.mask;
        state = b.state;
        currentState = b.currentState;
        flags = b.flags;
        flagsMask = b.flagsMask;
    }

    /** A builder with nothing set. */
    public static Builder builder() {
        return new Builder();
    }

    /** Attributes of a move to {@code state}. */
    public static WorkQueueAttributes to(int state) {
        return builder().state(state).build();
    }

    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** Which attributes are set: the bits of {@code enum ibv_wq_attr_mask}. */
    public int mask() {
        return mask;
    }

    /** True if all attributes of {@code bits} are set. */
    public boolean has(int bits) {
        return (mask & bits) == bits;
    }

    /** Where to move to, see {@link WorkQueueState}. */
    public int state() {
        return state;
    }

    /** The state that the caller believes the queue to be in. */
    public int currentState() {
        return currentState;
    }

    /** The flags, see {@link WorkQueueFlags}, in so far as {@link #flagsMask()} has them. */
    public int flags() {
        return flags;
    }

    /** Which flags are changed. */
    public int flagsMask() {
        return flagsMask;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int mask;
        private int state;
        private int currentState;
        private int flags;
        private int flagsMask;

        private Builder() {}

        /** Where to move to, see {@link WorkQueueState}. */
        public Builder state(int value) {
            state = value;
            mask |= STATE;
            return this;
        }

        /** The state that the queue is believed to be in. */
        public Builder currentState(int value) {
            currentState = value;
            mask |= CURR_STATE;
            return this;
        }

        /** Sets the flags of {@code changed} to those of {@code value}, see {@link WorkQueueFlags}. */
        public Builder flags(int value, int changed) {
            flags = value;
            flagsMask = changed;
            mask |= FLAGS;
            return this;
        }

        /** Makes the attributes. */
        public WorkQueueAttributes build() {
            return new WorkQueueAttributes(this);
        }
    }
}
