// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** How to allocate a parent domain, {@code struct ibv_parent_domain_init_attr}. Immutable. */
public final class ParentDomainAttributes {
    /** Bit of {@link #allocator()} in {@link #compMask()}. */
    public static final int ALLOCATORS = 1;
    /** Bit of {@link #pdContext()} in {@link #compMask()}. */
    public static final int PD_CONTEXT = 1 << 1;
    /** Bit in {@link #compMask()}: memory that a confidential guest does not protect may be used. */
    public static final int ALLOW_CC_UNPROTECTED_ALLOC = 1 << 2;

    private static final Flags NAMES = new Flags("ALLOCATORS", "PD_CONTEXT", "ALLOW_CC_UNPROTECTED_ALLOC");

    private final @Nullable ProtectionDomain protectionDomain;
    private final @Nullable ThreadDomain threadDomain;
    private final int compMask;
    private final @Nullable ParentDomainAllocator allocator;
    private final @Nullable Object pdContext;

    private ParentDomainAttributes(Builder b) {
        protectionDomain = b.protectionDomain;
        threadDomain = b.threadDomain;
        compMask = b.compMask;
        allocator = b.allocator;
        pdContext = b.pdContext;
    }

    /** A builder with nothing set. */
    public static Builder builder() {
        return new Builder();
    }

    /** Names of the bits of a mask; unknown bits as a hexadecimal number. */
    public static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** The protection domain that the parent domain stands for; null if it was forgotten, which is refused. */
    public @Nullable ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /** The thread domain; null if there is none. */
    public @Nullable ThreadDomain threadDomain() {
        return threadDomain;
    }

    /** Which of the optional attributes are set. */
    public int compMask() {
        return compMask;
    }

    /** Gives memory for queues; null if the provider does. */
    public @Nullable ParentDomainAllocator allocator() {
        return allocator;
    }

    /** What the allocator is called with; null if nothing. */
    public @Nullable Object pdContext() {
        return pdContext;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private @Nullable ProtectionDomain protectionDomain;
        private @Nullable ThreadDomain threadDomain;
        private int compMask;
        private @Nullable ParentDomainAllocator allocator;
        private @Nullable Object pdContext;

        private Builder() {}

        /** The protection domain that the parent domain stands for; it is needed. */
        public Builder protectionDomain(ProtectionDomain pd) {
            protectionDomain = pd;
            return this;
        }

        /** The thread domain. */
        public Builder threadDomain(ThreadDomain td) {
            threadDomain = td;
            return this;
        }

        /** Gives memory for queues. */
        public Builder allocator(ParentDomainAllocator a) {
            allocator = a;
            compMask |= ALLOCATORS;
            return this;
        }

        /** What the allocator is called with. */
        public Builder pdContext(Object anything) {
            pdContext = anything;
            compMask |= PD_CONTEXT;
            return this;
        }

        /** Allows memory that a confidential guest does not protect. */
        public Builder allowUnprotectedMemory() {
            compMask |= ALLOW_CC_UNPROTECTED_ALLOC;
            return this;
        }

        /** Makes the attributes. */
        public ParentDomainAttributes build() {
            return new ParentDomainAttributes(this);
        }
    }
}
