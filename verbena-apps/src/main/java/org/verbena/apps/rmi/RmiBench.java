// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.rmi;

import java.rmi.registry.LocateRegistry;
import java.util.Collections;

import org.jspecify.annotations.Nullable;

import org.verbena.apps.Data;
import org.verbena.apps.Rate;

/**
 * Calls a second of a {@link Store}, one at a time in each thread: {@code RmiBench PORT PARALLEL BYTES WARM-UP-MILLIS
 * MILLIS PACE}, see {@link Rate}.
 */
public final class RmiBench {
    /** Held to the end, as {@link RmiLoad} holds it. */
    @SuppressWarnings("unused") private static volatile @Nullable Store held;

    private RmiBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        Store store = (Store) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0])).lookup(Store.NAME);
        held = store;
        byte[] bytes = Data.bytes(1, Integer.parseInt(args[2]));
        new Rate(args).of(Collections.nCopies(Integer.parseInt(args[1]), () -> {
            int came = store.echo(bytes).length;
            if (came != bytes.length) {
                throw new IllegalStateException(came + " bytes instead of " + bytes.length);
            }
            return 1;
        }));
    }
}
