// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.util.List;

import org.jspecify.annotations.Nullable;

/** Where the entries of a process's counter file are read. */
interface CounterSource extends AutoCloseable {
    long pid();

    String command();

    /** Nanoseconds since 1970. */
    long created();

    boolean isAlive();

    /** All entries that are in use. */
    List<EntryView> entries() throws CounterFileException;

    /** An entry as it is now; null if it is not the same object's any more. */
    @Nullable
    EntryView entry(EntryView earlier) throws CounterFileException;

    /** Has the process gather what its peers have counted. */
    void refresh() throws CounterFileException;

    @Override
    void close();
}
