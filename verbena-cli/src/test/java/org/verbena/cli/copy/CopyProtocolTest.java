// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CopyProtocolTest {
    private static final CopyBytes HASH = bytes(32, 7);
    private static final CopyBytes PATH = CopyBytes.of("a/b \u001b[2J\n\u00e4".getBytes(StandardCharsets.ISO_8859_1));
    private static final Instant TIME = Instant.ofEpochSecond(-5, 999_999_999);

    private static CopyBytes bytes(int length, int value) {
        byte[] b = new byte[length];
        Arrays.fill(b, (byte) value);
        return CopyBytes.of(b);
    }

    static List<CopyMessage> messages() {
        return List.of(
                new CopyMessage.File(1, 0640, CopyProtocol.MAX_SIZE, TIME,
                        new CopyMessage.Identity(bytes(16, 1), -1, Long.MIN_VALUE), PATH),
                new CopyMessage.File(2, 0, 0, TIME, new CopyMessage.Identity(bytes(16, 0), 0, 0),
                        bytes(CopyProtocol.MAX_PATH, 'x')),
                new CopyMessage.Directory(3, 0777, Instant.MAX, PATH),
                new CopyMessage.Prefix(Integer.MAX_VALUE, HASH),
                new CopyMessage.End(1, HASH),
                new CopyMessage.Cancel(1, CopyStatus.CHANGED, "why not"),
                new CopyMessage.Bye(), new CopyMessage.Alive(), new CopyMessage.Goodbye(),
                new CopyMessage.Offer(1, 1 << 20),
                new CopyMessage.Grant(1, 0, 5, -1, -1),
                new CopyMessage.Progress(1, 17),
                new CopyMessage.Result(1, CopyStatus.NO_SPACE, 3, ""));
    }

    private static byte[] encode(CopyMessage m) {
        ByteBuffer b = ByteBuffer.allocate(CopyProtocol.MAX_MESSAGE);
        CopyProtocol.encode(m, b);
        return Arrays.copyOf(b.array(), b.position());
    }

    @ParameterizedTest
    @MethodSource("messages")
    void encodedMessageIsDecodedUnchanged(CopyMessage m) throws Exception {
        assertThat(CopyProtocol.decode(encode(m))).isEqualTo(m);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void truncatedMessageIsRefused(CopyMessage m) {
        byte[] whole = encode(m);
        for (int length = 0; length < whole.length; length++) {
            assertRefused(Arrays.copyOf(whole, length));
            byte[] lying = Arrays.copyOf(whole, length); // with a header of that length
            if (length >= 8) {
                ByteBuffer.wrap(lying).putInt(4, length);
                assertRefused(lying);
            }
        }
        byte[] longer = Arrays.copyOf(whole, whole.length + 1);
        assertRefused(longer);
        ByteBuffer.wrap(longer).putInt(4, longer.length);
        assertRefused(longer);
    }

    private static void assertRefused(byte[] message) {
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> CopyProtocol.decode(message))
                .matches(f -> f.status() == CopyStatus.PROTOCOL);
    }

    /** Random bytes, and messages with some bytes changed, cause only the error of the protocol. */
    @Test
    void randomBytesDoNotBreakTheParser() {
        SplittableRandom random = new SplittableRandom(20_250_101);
        List<CopyMessage> messages = messages();
        int accepted = 0;
        for (int i = 0; i < 300_000; i++) {
            byte[] bytes;
            if (i % 3 == 0) {
                bytes = new byte[random.nextInt(200)];
                random.nextBytes(bytes);
            } else {
                bytes = encode(messages.get(random.nextInt(messages.size())));
                for (int n = random.nextInt(1, 5); n > 0; n--) {
                    // mostly behind the header, or all would fail in it
                    int at = random.nextInt(4) == 0 || bytes.length == 8
                            ? random.nextInt(8)
                            : random.nextInt(8, bytes.length);
                    bytes[at] = (byte) random.nextInt();
                }
            }
            try {
                CopyMessage m = CopyProtocol.decode(bytes);
                accepted++;
                assertThat(encode(m)).hasSizeLessThanOrEqualTo(CopyProtocol.MAX_MESSAGE);
            } catch (CopyFailure f) {
                assertThat(f.status()).isEqualTo(CopyStatus.PROTOCOL);
            } catch (RuntimeException e) {
                fail("seed 20250101, round " + i + ": " + Arrays.toString(bytes), e);
            }
        }
        assertThat(accepted).isPositive();
    }

    @Test
    void controlCharactersOfPeersAreEscaped() throws Exception {
        CopyMessage m = CopyProtocol.decode(encode(new CopyMessage.Result(1, CopyStatus.FAILED, 0, "x\u001b[2J\ny")));
        assertThat(((CopyMessage.Result) m).text()).isEqualTo("x\\u{1b}[2J\\u{a}y");
        assertThat(PATH.toString()).isEqualTo("a/b \\u{1b}[2J\\u{a}\\u{fffd}");
    }
}
