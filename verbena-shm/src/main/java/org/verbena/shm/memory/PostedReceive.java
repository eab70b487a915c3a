// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import org.jspecify.annotations.Nullable;

/** A posted receive for the poller: one object, for each further array would need a bounds check. */
public final class PostedReceive {
    public long wrId;
    /** The region that the only buffer was found in when it was posted; null if it has to be looked up. */
    @Nullable public Region region;
    /** The only buffer, if there is a region. */
    public long address;
    public long length;

    public void set(long id, @Nullable Region r, long bufferAddress, long bufferLength) {
        wrId = id;
        setBuffer(r, bufferAddress, bufferLength);
    }

    public void setBuffer(@Nullable Region r, long bufferAddress, long bufferLength) {
        address = bufferAddress;
        length = bufferLength;
        if (region != r) {
            region = r; // a store of a reference may cost a fence, depending on the garbage collector
        }
    }
}
