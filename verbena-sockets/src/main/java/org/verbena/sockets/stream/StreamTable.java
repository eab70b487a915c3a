// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/** The connections of one session by their numbers. Guarded by the session's lock; to find one takes none. */
final class StreamTable {
    private static final VarHandle STREAMS = MethodHandles.arrayElementVarHandle(RingStream[].class);

    private volatile @Nullable RingStream[] streams = new RingStream[16];
    private final ArrayList<Integer> free = new ArrayList<>();
    private int used;

    /** Gives a connection its number. */
    int add(RingStream stream) throws VerbsException {
        int index = free.isEmpty() ? used : free.removeLast();
        if (index == used) {
            if (index == Session.MAX_STREAMS) {
                throw new VerbsException("add a connection", Errno.ENOMEM, "the session has " + index);
            }
            used++;
        }
        @Nullable RingStream[] table = streams;
        if (index == table.length) {
            table = Arrays.copyOf(table, index * 2);
        }
        STREAMS.setRelease(table, index, stream);
        streams = table;
        return index;
    }

    void remove(int index) {
        STREAMS.setRelease(streams, index, null);
        free.add(index);
    }

    /** A connection by its number, which a peer may have invented. */
    @Nullable
    RingStream get(int index) {
        @Nullable RingStream[] table = streams;
        return index >= 0 && index < table.length ? (RingStream) STREAMS.getAcquire(table, index) : null;
    }

    /** How many connections there are. */
    int size() {
        return used - free.size();
    }

    /** The session has failed: tells all that wait for something of a connection. */
    void changed() {
        for (RingStream stream : all()) {
            stream.changed();
            stream.rendezvous().changed();
        }
    }

    /** The connections of now. */
    List<RingStream> all() {
        @Nullable RingStream[] table = streams;
        List<RingStream> all = new ArrayList<>();
        for (int i = 0; i < table.length; i++) {
            RingStream stream = get(i);
            if (stream != null) {
                all.add(stream);
            }
        }
        return all;
    }
}
