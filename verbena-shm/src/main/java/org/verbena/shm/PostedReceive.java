// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.jspecify.annotations.Nullable;

/** What the poller has to know of a posted receive: one object, for each array that it looked into would be checked. */
final class PostedReceive {
    long wrId;
    /** The region that the only buffer was found in when it was posted; null if that needs a second look. */
    @Nullable Region region;
    /** The only buffer, if there is a region. */
    long address;
    long length;

    void set(long id, @Nullable Region r, long bufferAddress, long bufferLength) {
        wrId = id;
        setBuffer(r, bufferAddress, bufferLength);
    }

    void setBuffer(@Nullable Region r, long bufferAddress, long bufferLength) {
        address = bufferAddress;
        length = bufferLength;
        if (region != r) {
            region = r; // a store of a reference may cost a fence, depending on the garbage collector
        }
    }
}
