// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * What to register, {@code struct ibv_mr_init_attr}: memory of this process, or a buffer that another driver shares by
 * a descriptor (dma-buf). Immutable.
 */
public final class MemoryRegionAttributes {
    /** Bit of {@link #compMask()}: {@link Builder#iova} was set. */
    public static final int IOVA = 1;
    /** Bit of {@link #compMask()}: {@link Builder#memory} was set. */
    public static final int ADDR = 1 << 1;
    /** Bit of {@link #compMask()}: {@link Builder#descriptor} was set. */
    public static final int FD = 1 << 2;
    /** Bit of {@link #compMask()}: {@link Builder#descriptorOffset} was set. */
    public static final int FD_OFFSET = 1 << 3;

    /** Bit of {@link #compMask()}: {@link Builder#counters} was set. */
    public static final int COUNTERS = 1 << 17;

    private static final Flags NAMES = new Flags("IOVA", "ADDR", "FD", "FD_OFFSET").and(COUNTERS, "COUNTERS");

    private final int compMask;
    private final @Nullable Counters counters;
    private final int access;
    private final @Nullable MemorySegment memory;
    private final long length;
    private final long iova;
    private final int descriptor;
    private final long descriptorOffset;

    private MemoryRegionAttributes(Builder b) {
        compMask = b.compMask;
        counters = b.counters;
        access = b.access;
        memory = b.memory;
        length = b.length;
        iova = b.iova;
        descriptor = b.descriptor;
        descriptorOffset = b.descriptorOffset;
    }

    /**
     * A builder.
     *
     * @param access see {@link AccessFlags}
     */
    public static Builder builder(int access) {
        return new Builder(access);
    }

    /** Which optional attributes were set, see {@link CompMask}. */
    public int compMask() {
        return compMask;
    }

    /** True if an attribute was set. */
    public boolean has(int bit) {
        return (compMask & bit) != 0;
    }

    /** The rights, see {@link AccessFlags}. */
    public int access() {
        return access;
    }

    /** The memory; null unless {@link #ADDR} is set. */
    public @Nullable MemorySegment memory() {
        return memory;
    }

    /** The size in bytes. */
    public long length() {
        return length;
    }

    /** The address of the first byte as work requests are to name it; 0 unless {@link #IOVA} is set. */
    public long iova() {
        return iova;
    }

    /** The descriptor of a shared buffer; -1 unless {@link #FD} is set. */
    public int descriptor() {
        return descriptor;
    }

    /** Where in the shared buffer the region begins, in bytes; 0 unless {@link #FD_OFFSET} is set. */
    public long descriptorOffset() {
        return descriptorOffset;
    }

    /** The names of attribute bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** What counts the region from its first moment on; null if nothing does. */
    public @Nullable Counters counters() {
        return counters;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private final int access;
        private int compMask;
        private @Nullable Counters counters;
        private @Nullable MemorySegment memory;
        private long length;
        private long iova;
        private int descriptor = -1;
        private long descriptorOffset;

        private Builder(int access) {
            this.access = access;
        }

        /** The memory to register, and its length. */
        public Builder memory(MemorySegment value) {
            memory = value;
            length = value.byteSize();
            compMask |= ADDR;
            return this;
        }

        /**
         * The address of the first byte as work requests name it. It lies as far behind the start of a page as the
         * memory does.
         */
        public Builder iova(long value) {
            iova = value;
            compMask |= IOVA;
            return this;
        }

        /**
         * A buffer that another driver shares by a descriptor, {@code ibv_reg_dmabuf_mr}; needs {@link #iova}. The
         * descriptor stays the caller's and may be closed once the region is registered.
         *
         * @param fd the descriptor
         * @param bytes the region's size
         */
        public Builder descriptor(int fd, long bytes) {
            descriptor = fd;
            length = bytes;
            compMask |= FD;
            return this;
        }

        /** Where in the shared buffer the region begins, in bytes. */
        public Builder descriptorOffset(long value) {
            descriptorOffset = value;
            compMask |= FD_OFFSET;
            return this;
        }

        /**
         * Counts the region from its first moment on, as {@link Counters#attach(CounterAttachAttributes)} has
         * described.
         */
        public Builder counters(Counters value) {
            counters = value;
            compMask |= COUNTERS;
            return this;
        }

        /** Makes the attributes. */
        public MemoryRegionAttributes build() {
            return new MemoryRegionAttributes(this);
        }
    }
}
