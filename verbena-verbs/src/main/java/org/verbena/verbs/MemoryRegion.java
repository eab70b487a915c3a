package org.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A memory region, {@code struct ibv_mr}: memory that work requests name by a key. Safe for use by several threads.
 *
 * <p>When {@link #close()} ({@code ibv_dereg_mr}) has returned, no peer and no work request touches the memory any
 * more. Memory from {@link ProtectionDomain#allocate} is given back then; its segment stays safe to touch but is no
 * longer shared with anyone.
 */
public abstract class MemoryRegion extends VerbsObject {
    private final ProtectionDomain pd;
    private final MemorySegment segment;
    private final int access;

    /** For providers. */
    protected MemoryRegion(ProtectionDomain pd, MemorySegment segment, int access) throws VerbsException {
        super(List.of(pd));
        this.pd = pd;
        this.segment = segment;
        this.access = access;
    }

    /** The protection domain. */
    public final ProtectionDomain protectionDomain() {
        return pd;
    }

    /** The registered memory. */
    public final MemorySegment segment() {
        return segment;
    }

    /** The address of the first byte as work requests name it. */
    public final long address() {
        return segment.address();
    }

    /** The size in bytes. */
    public final long length() {
        return segment.byteSize();
    }

    /** The rights given at registration, see {@link AccessFlags}. */
    public final int access() {
        return access;
    }

    /** The key for scatter/gather elements of this process. */
    public abstract int lkey();

    /** The key for a peer's work requests; without remote rights it is refused there. */
    public abstract int rkey();

    @Override
    int closeOrder() {
        return 2;
    }
}
