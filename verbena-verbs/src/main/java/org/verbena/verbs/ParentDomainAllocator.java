// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * Gives the memory that a provider puts its queues in, the callbacks of {@code struct ibv_parent_domain_init_attr}. Called
 * on the thread that creates or closes an object of the parent domain.
 */
public interface ParentDomainAllocator {
    /** What {@link #allocate} answers to leave it to the provider, {@code IBV_ALLOCATOR_USE_DEFAULT}. */
    MemorySegment USE_DEFAULT = MemorySegment.ofAddress(-1);

    /**
     * Allocates.
     *
     * @param parentDomain the domain that an object is made in
     * @param pdContext what the application gave with the attributes
     * @param bytes how many
     * @param alignment a power of two
     * @param resourceType what for; a number of the provider's
     * @return native memory, {@link #USE_DEFAULT}, or null if there is none
     */
    @Nullable
    MemorySegment allocate(ProtectionDomain parentDomain, @Nullable Object pdContext, long bytes, long alignment,
            long resourceType);

    /** Takes back what {@link #allocate} gave. */
    void free(ProtectionDomain parentDomain, @Nullable Object pdContext, MemorySegment memory, long resourceType);
}
