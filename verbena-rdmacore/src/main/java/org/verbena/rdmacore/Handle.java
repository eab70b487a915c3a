// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** A native object and the verb that destroys it. Thread-safe. */
final class Handle {
    /** Creates a native object and returns its address. */
    interface Creator {
        long create() throws VerbsException;
    }

    /** Finds the verb that destroys it. */
    interface Destroyer {
        MemorySegment find(String verb) throws VerbsException;
    }

    /** Makes the Java object of a native one. */
    interface Maker<T extends VerbsObject> {
        T make(Handle handle) throws VerbsException;
    }

    /** Keeps its parents from being closed while an object is created on them. */
    private static final class Hold extends VerbsObject {
        Hold(List<? extends VerbsObject> used) throws VerbsException {
            super(used);
        }

        @Override
        public String describe() {
            return "an object that is being created";
        }

        @Override
        protected void implClose() {}
    }

    final RdmaContext context;
    final long address;
    private final MemorySegment destroy;

    private Handle(RdmaContext context, long address, MemorySegment destroy) {
        this.context = context;
        this.address = address;
        this.destroy = destroy;
    }

    /**
     * Creates a native object and its Java object.
     *
     * @param used the parents of the object: none of these can be closed meanwhile
     */
    static <T extends VerbsObject> T create(String verb, RdmaContext context, List<? extends VerbsObject> used,
            Destroyer destroyer, Creator creator, Maker<T> maker) throws VerbsException {
        try (Hold _ = new Hold(used)) {
            MemorySegment destroy = destroyer.find(verb);
            long address = creator.create();
            T object;
            try {
                object = maker.make(new Handle(context, address, destroy));
            } catch (VerbsException | RuntimeException | Error e) {
                Calls.call(destroy, address);
                throw e;
            }
            return context.add(address, object);
        }
    }

    NativeContext verbs() {
        return context.verbs();
    }

    /** Destroys the native object of {@code object}. */
    void destroy(VerbsObject object) throws VerbsException {
        context.remove(address);
        try {
            Calls.zero("close " + object.describe(), destroy, address);
        } catch (VerbsException e) {
            context.addBack(address, object);
            throw e;
        }
    }

    /** A destroyer that is an exported verb. */
    static Destroyer by(RdmaContext context, IbvFunction f) {
        return verb -> context.verbs().function(verb, f);
    }

    /** A destroyer that is an extended verb. */
    static Destroyer by(RdmaContext context, Slot s) {
        return verb -> context.verbs().slot(verb, s);
    }
}
