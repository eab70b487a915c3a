// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** Which queue pair to open, {@code struct ibv_qp_open_attr}. Immutable. */
public final class QueuePairOpenAttributes {
    /** Bit of {@link #compMask()}: {@link Builder#number} was set. */
    public static final int NUM = 1;
    /** Bit of {@link #compMask()}: {@link Builder#userContext} was set. */
    public static final int CONTEXT = 1 << 2;
    /** Bit of {@link #compMask()}: {@link Builder#type} was set. */
    public static final int TYPE = 1 << 3;

    /** The bits that the call came with. */
    static final int BASIC = NUM | CONTEXT | TYPE;

    private static final Flags NAMES = new Flags("NUM", "XRCD", "CONTEXT", "TYPE");

    private final int compMask;
    private final int number;
    private final int type;
    private final @Nullable Object userContext;

    private QueuePairOpenAttributes(Builder b) {
        compMask = b.compMask;
        number = b.number;
        type = b.type;
        userContext = b.userContext;
    }

    /** A builder. */
    public static Builder builder() {
        return new Builder();
    }

    /** Which attributes were set, see {@link CompMask}; the domain is the object that the call is made on. */
    public int compMask() {
        return compMask;
    }

    /** The number, 24 bits. */
    public int number() {
        return number;
    }

    /** See {@link QueuePairType}. */
    public int type() {
        return type;
    }

    /** Whatever the application wants to find again in {@link QueuePair#userContext()}; null if not set. */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** The names of attribute bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int compMask;
        private int number;
        private int type;
        private @Nullable Object userContext;

        private Builder() {}

        /** The queue pair's {@link QueuePair#number()}. */
        public Builder number(int value) {
            number = value;
            compMask |= NUM;
            return this;
        }

        /** {@link QueuePairType#XRC_RECV}. */
        public Builder type(int value) {
            type = value;
            compMask |= TYPE;
            return this;
        }

        /** Whatever the application wants to find again in {@link QueuePair#userContext()}. */
        public Builder userContext(Object value) {
            userContext = value;
            compMask |= CONTEXT;
            return this;
        }

        /** Makes the attributes. */
        public QueuePairOpenAttributes build() {
            return new QueuePairOpenAttributes(this);
        }
    }
}
