// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.rmi;

import java.rmi.registry.LocateRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;

/**
 * Calls a {@link Store} from several threads at a time: {@code RmiLoad PORT PARALLEL BYTES COUNT}. Both ends compare
 * hashes of the received bytes. Prints {@code done CALLS BYTES}.
 */
public final class RmiLoad {
    /**
     * Held to the end: RMI reports a collected stub to the server over a separate connection, which the end of this
     * process would cut off.
     */
    @SuppressWarnings("unused") private static volatile @Nullable Store held;

    private RmiLoad() {}

    /** Runs until all calls are answered, and fails with the first wrong answer. */
    public static void main(String[] args) throws Exception {
        int parallel = Integer.parseInt(args[1]);
        int bytes = Integer.parseInt(args[2]);
        int count = Integer.parseInt(args[3]);
        Store store = (Store) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0])).lookup(Store.NAME);
        held = store;
        try (ExecutorService threads = Executors.newFixedThreadPool(parallel)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = i;
                all.add(threads.submit(() -> call(store, number, bytes)));
            }
            for (Future<?> f : all) {
                f.get();
            }
        }
        Lines.say("done", count, 2L * count * bytes);
    }

    private static byte[] call(Store store, int number, int bytes) throws Exception {
        byte[] out = Data.bytes(2L * number, bytes);
        byte[] in = store.exchange(out, Data.hash(out), 2L * number + 1, bytes);
        String wanted = Data.hash(Data.bytes(2L * number + 1, bytes));
        if (!Data.hash(in).equals(wanted)) {
            throw new IllegalStateException("call " + number + ": " + in.length + " bytes with another hash than "
                    + wanted);
        }
        return in;
    }
}
