// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What a logger of the library, which is a {@link System.Logger}, is told while this is open. */
public final class Logged implements AutoCloseable {
    private final Logger logger;
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord r) {
            records.add(r);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    /** Listens to the logger of that name. */
    public Logged(String name) {
        logger = Logger.getLogger(name);
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
    }

    /** The records so far. */
    public List<LogRecord> records() {
        return List.copyOf(records);
    }

    /** The messages so far, with their arguments filled in. */
    public List<String> messages() {
        SimpleFormatter f = new SimpleFormatter();
        return records.stream().map(f::formatMessage).toList();
    }

    @Override
    public void close() {
        logger.removeHandler(handler);
        logger.setUseParentHandlers(true);
    }
}
