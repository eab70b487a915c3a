// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.SplittableRandom;

/** The records of the program {@code KafkaRecords}, for kcat: a file to send, and the file with received records. */
final class KafkaBytes {
    /** Between the records of a file; in none of them. */
    static final String DELIMITER = "--8ad1e3--";

    private KafkaBytes() {}

    private static ByteBuffer value(long number, int bytes) {
        byte[] value = new byte[bytes];
        new SplittableRandom(number).nextBytes(value);
        return ByteBuffer.wrap(value).putLong(0, number);
    }

    static Path write(Path file, int count, int bytes) throws IOException {
        byte[] delimiter = DELIMITER.getBytes(StandardCharsets.US_ASCII);
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            for (int i = 0; i < count; i++) {
                if (i > 0) {
                    out.write(delimiter);
                }
                out.write(value(i, bytes).array());
            }
        }
        return file;
    }

    /** Checks that each record is there, complete, once. The file has a size of 4 bytes, big end first, before each. */
    static void check(Path file, int count, int bytes) throws IOException {
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file));
        BitSet seen = new BitSet();
        while (all.hasRemaining()) {
            ByteBuffer record = all.slice(all.position() + Integer.BYTES, all.getInt());
            all.position(all.position() + record.limit());
            assertThat(record.limit()).isEqualTo(bytes);
            int number = Math.toIntExact(record.getLong(0));
            assertThat(record).isEqualTo(value(number, bytes));
            assertThat(seen.get(number)).as("record %d came before", number).isFalse();
            seen.set(number);
        }
        assertThat(seen.cardinality()).isEqualTo(count);
        assertThat(seen.length()).isEqualTo(count);
    }
}
