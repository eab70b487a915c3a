// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.net.SocketImpl;
import java.util.function.Supplier;

/** Access to the protected members of {@link SocketImpl}, which is opened to the agent on first use. */
final class SocketImplMembers implements Supplier<MethodHandles.Lookup> {
    private final Instrumentation instrumentation;

    SocketImplMembers(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    @Override
    public MethodHandles.Lookup get() {
        Grants.openSockets(instrumentation);
        try {
            return MethodHandles.privateLookupIn(SocketImpl.class, MethodHandles.lookup());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
