// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;

/** {@code prctl(PR_SET_DUMPABLE, 0)}: other processes of the same user lose the ptrace right to this one. */
public final class Undumpable {
    private static final int PR_SET_DUMPABLE = 4;

    private Undumpable() {}

    /** Makes this process one. */
    public static void become() throws Exception {
        Linker linker = Linker.nativeLinker();
        try {
            int r = (int) linker.downcallHandle(linker.defaultLookup().find("prctl").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                    Linker.Option.firstVariadicArg(1)).invokeExact(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
            if (r != 0) {
                throw new IllegalStateException("prctl failed");
            }
        } catch (Exception e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
