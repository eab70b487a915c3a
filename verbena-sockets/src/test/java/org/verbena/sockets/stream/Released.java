// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.Objects;

/** Whether the engine has given back what a stream had of its session; for tests of other packages. */
public final class Released {
    private Released() {}

    /** Whether the memory of a stream that had rings may be another's by now. */
    public static boolean is(Stream stream) {
        Link link = Objects.requireNonNull(((RingStream) stream).link());
        return link.session.streams().get(link.index) != stream;
    }
}
