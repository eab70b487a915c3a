// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.SplittableRandom;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.verbs.ConnectionRejectedException;

/** A listener of {@code verbena copy} and hostile senders: it writes nothing outside, and continues. */
class CopyHostileTest {
    private static final byte[] DATA = "hello".getBytes(StandardCharsets.UTF_8);
    private static final int REFUSED = 3;
    private static final int VERIFICATION = 6;

    @TempDir private Path dir;
    private Path to;
    private CopyProcess listener;

    @BeforeEach
    void listen() throws Exception {
        to = Files.createDirectory(dir.resolve("to"));
        listener = CopyProcess.listen(to);
    }

    /** After every attempt a valid sender is served, and there is no file outside. */
    @AfterEach
    void stillServes() throws Exception {
        assertThat(listener.isAlive()).as(listener::err).isTrue();
        try (CopyClient good = new CopyClient(listener.awaitPort())) {
            copy(good, "good", sha256(DATA), 0);
            good.send(CopyClient.bye());
            assertThat(good.next().type()).isEqualTo(CopyClient.GOODBYE);
        }
        assertThat(to.resolve("good")).hasBinaryContent(DATA);
        assertThat(dir.resolve("x")).doesNotExist();
        listener.close();
    }

    private static byte[] sha256(byte[] data) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(data);
    }

    /** Copies a file of five bytes correctly, with this hash. */
    private static void copy(CopyClient c, String path, byte[] hash, int status) {
        c.send(CopyClient.file(1, DATA.length, path));
        ByteBuffer grant = grant(c);
        assertThat(c.write(DATA, grant.getInt(28), grant.getLong(20), 0)).isZero();
        c.send(CopyClient.end(1, hash));
        CopyClient.Message m = c.next();
        while (m.type() != CopyClient.RESULT) {
            m = c.next();
        }
        assertThat(m.status()).as(m.text()).isEqualTo(status);
    }

    private static ByteBuffer grant(CopyClient c) {
        CopyClient.Message m = c.next();
        assertThat(m.type()).as(() -> m.type() == CopyClient.RESULT ? m.text() : "").isEqualTo(CopyClient.GRANT);
        return m.body();
    }

    @Test
    void pathsLeavingTheTreeAreRefused() throws Exception {
        Files.createSymbolicLink(to.resolve("out"), dir);
        Files.createSymbolicLink(to.resolve("up"), Path.of(".."));
        try (CopyClient c = new CopyClient(listener.awaitPort())) {
            int id = 0;
            for (String path : new String[] {"../x", dir + "/x", "a/../../x", "out/x", "up/x", "./x", "x/", "", "a\0b",
                ".verbena-copy/x"}) {
                c.send(CopyClient.file(++id, 5, path));
                CopyClient.Message m = c.next();
                assertThat(m.type()).as(path).isEqualTo(CopyClient.RESULT);
                assertThat(m.id()).isEqualTo(id);
                assertThat(m.status()).as(path).isEqualTo(REFUSED);
                c.send(CopyClient.directory(++id, path));
                assertThat(c.next().status()).as(path).isEqualTo(REFUSED);
            }
        }
    }

    @Test
    void wrongHashIsRefused() throws Exception {
        Files.writeString(to.resolve("f"), "old");
        try (CopyClient c = new CopyClient(listener.awaitPort())) {
            copy(c, "f", new byte[32], VERIFICATION);
        }
        assertThat(to.resolve("f")).hasContent("old");
    }

    @Test
    void writesOutsideTheWindowAreRefused() throws Exception {
        try (CopyClient c = new CopyClient(listener.awaitPort())) {
            c.send(CopyClient.file(1, 5, "f"));
            ByteBuffer grant = grant(c);
            assertThat(c.write(new byte[6], grant.getInt(28), grant.getLong(20), 0)).as("too long").isNotZero();
        }
        try (CopyClient c = new CopyClient(listener.awaitPort())) {
            copy(c, "e", sha256(DATA), 0); // f may be another copy's still
            c.send(CopyClient.file(2, 5, "g"));
            ByteBuffer grant = grant(c);
            c.send(CopyClient.file(3, 5, "h"));
            assertThat(c.next()).as("a second file at once").isNull();
            assertThat(c.write(DATA, grant.getInt(28), grant.getLong(20), 0)).as("after the end").isNotZero();
        }
        assertThat(to.resolve("g")).doesNotExist();
    }

    @Test
    void messagesOutOfSequenceAreRefused() throws Exception {
        byte[][] firsts = {CopyClient.end(1, new byte[32]), CopyClient.file(2, 5, "f"), CopyClient.file(0, 5, "f"),
            CopyClient.message(CopyClient.GRANT, ByteBuffer.allocate(32).putInt(1)), new byte[0], new byte[8192],
            CopyClient.message(99, ByteBuffer.allocate(0)), CopyClient.file(1, Long.MAX_VALUE, "f"),
            CopyClient.file(1, -1, "f")};
        for (byte[] first : firsts) {
            try (CopyClient c = new CopyClient(listener.awaitPort())) {
                c.send(first);
                assertThat(c.next()).isNull();
            }
        }
        try (CopyClient c = new CopyClient(listener.awaitPort())) { // a chunk that is not due
            c.send(CopyClient.file(1, 5, "f"));
            ByteBuffer grant = grant(c);
            int _ = c.write(DATA, grant.getInt(28), grant.getLong(20), 1);
            assertThat(c.next()).isNull();
        }
        try (CopyClient c = new CopyClient(listener.awaitPort())) { // an end before all is there
            c.send(CopyClient.file(1, 5, "f"));
            ByteBuffer _ = grant(c);
            c.send(CopyClient.end(1, new byte[32]));
            assertThat(c.next()).isNull();
        }
        assertThat(to.resolve("f")).doesNotExist();
        assertThat(to.resolve(CopyFiles.AREA)).doesNotExist();
    }

    @Test
    void randomBytesAreRefused() throws Exception {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 40; i++) {
            try (CopyClient c = new CopyClient(listener.awaitPort())) {
                byte[] bytes = CopyClient.file(1, 5, "f");
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                if (i % 4 == 0) {
                    random.nextBytes(bytes);
                }
                c.send(bytes);
                CopyClient.Message _ = c.next();
            }
        }
    }

    @Test
    void otherProtocolIsRefused() {
        assertThatExceptionOfType(ConnectionRejectedException.class)
                .isThrownBy(() -> new CopyClient(listener.awaitPort(), "verbena-copy/2"))
                .matches(e -> new String(e.privateData(), StandardCharsets.UTF_8).contains("protocol 1"));
    }
}
