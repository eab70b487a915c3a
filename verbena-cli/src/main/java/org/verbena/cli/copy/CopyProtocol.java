// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

import org.verbena.cli.support.HumanText;

/**
 * The bytes of {@code verbena copy}, version 1.
 *
 * <p>The sender connects with the private data {@link #greeting()}; a listener that does not know the version rejects
 * it with a sentence. Each message is one SEND of at most {@link #MAX_MESSAGE} bytes, numbers are big-endian. The data
 * are sent by RDMA WRITE with immediate, in chunks of {@link #CHUNK} bytes counted from the start of the file, in
 * order; the immediate value is the chunk's number.
 *
 * <table>
 * <caption>Messages: u8 … u64 are unsigned, s64 is signed, H is 32 bytes of SHA-256</caption>
 * <tr><th>type</th><th>from</th><th>name</th><th>after the header</th></tr>
 * <tr><td></td><td></td><td>header</td><td>u16 0x5643, u8 version, u8 type, u32 length with header</td></tr>
 * <tr><td>1</td><td>sender</td><td>FILE</td><td>u32 id, u16 mode, u64 size, s64 seconds, u32 nanoseconds, 16 bytes boot
 *     identifier, u64 device, u64 inode, u16 length, path</td></tr>
 * <tr><td>2</td><td>sender</td><td>DIRECTORY</td><td>u32 id, u16 mode, s64 seconds, u32 nanoseconds, u16 length,
 *     path</td></tr>
 * <tr><td>3</td><td>sender</td><td>PREFIX</td><td>u32 id, H</td></tr>
 * <tr><td>4</td><td>sender</td><td>END</td><td>u32 id, H</td></tr>
 * <tr><td>5</td><td>sender</td><td>CANCEL</td><td>u32 id, u8 status, u16 length, text</td></tr>
 * <tr><td>6</td><td>sender</td><td>BYE</td><td></td></tr>
 * <tr><td>7</td><td>both</td><td>ALIVE</td><td></td></tr>
 * <tr><td>16</td><td>listener</td><td>OFFER</td><td>u32 id, u64 prefix</td></tr>
 * <tr><td>17</td><td>listener</td><td>GRANT</td><td>u32 id, u64 offset, u64 length, u64 address, u32 rkey</td></tr>
 * <tr><td>18</td><td>listener</td><td>PROGRESS</td><td>u32 id, u64 verified bytes</td></tr>
 * <tr><td>19</td><td>listener</td><td>RESULT</td><td>u32 id, u8 status, u64 resumed from, u16 length, text</td></tr>
 * <tr><td>20</td><td>listener</td><td>GOODBYE</td><td></td></tr>
 * </table>
 *
 * <p>The lifecycle of a file: FILE; if the listener has a part of it, OFFER and PREFIX; then for each window GRANT and
 * chunks, with PROGRESS from time to time; END; RESULT. There is exactly one RESULT for each FILE and DIRECTORY, and it
 * may come at any time. A RESULT instead of the first OFFER or GRANT ends the file. After a later RESULT that precedes
 * END the sender still owes a CANCEL, until which the window stays registered: chunks that are in flight then do no
 * harm. RESULTs of files that are being written to disk arrive while the next file is transferred, those of directories
 * after BYE.
 */
final class CopyProtocol {
    static final int MAGIC = 0x5643;
    static final int VERSION = 1;
    static final int HEADER = 8;
    /** The longest message. */
    static final int MAX_MESSAGE = 8192;
    /** Bytes of a chunk, except the last one of a file. */
    static final int CHUNK = 1 << 20;
    /** Chunks that the sender writes ahead of the listener's PROGRESS. */
    static final int CHUNKS_AHEAD = 16;
    /** The listener sends PROGRESS after this many chunks at the latest. */
    static final int PROGRESS_EVERY = 4;
    /** The number of files whose RESULT the sender does not wait for before it continues. */
    static final int RESULTS_AHEAD = 32;
    /** The longest path. */
    static final int MAX_PATH = 4095;
    /** The largest file: its chunks are counted by 31 bits. */
    static final long MAX_SIZE = (long) CHUNK * Integer.MAX_VALUE;

    static final int SHA256 = 32;
    static final int BOOT_ID = 16;

    private static final int MAX_TEXT = 2048;

    private CopyProtocol() {}

    /** The private data of a sender that speaks this version. */
    static byte[] greeting() {
        return ("verbena-copy/" + VERSION).getBytes(StandardCharsets.US_ASCII);
    }

    /** Writes a message; the buffer has room for {@link #MAX_MESSAGE} bytes. */
    static void encode(CopyMessage message, ByteBuffer to) {
        int start = to.position();
        to.putShort((short) MAGIC).put((byte) VERSION).put((byte) type(message)).putInt(0);
        if (message instanceof CopyMessage.Numbered n) {
            to.putInt(n.id());
        }
        switch (message) {
            case CopyMessage.File m -> {
                to.putShort((short) m.mode()).putLong(m.size());
                putTime(to, m.modified());
                to.put(m.identity().boot().bytes()).putLong(m.identity().device()).putLong(m.identity().inode());
                putCounted(to, m.path().bytes());
            }
            case CopyMessage.Directory m -> {
                to.putShort((short) m.mode());
                putTime(to, m.modified());
                putCounted(to, m.path().bytes());
            }
            case CopyMessage.Prefix m -> to.put(m.sha256().bytes());
            case CopyMessage.End m -> to.put(m.sha256().bytes());
            case CopyMessage.Cancel m -> putText(to.put((byte) m.status().wire()), m.text());
            case CopyMessage.Offer m -> to.putLong(m.prefix());
            case CopyMessage.Grant m -> to.putLong(m.offset()).putLong(m.length()).putLong(m.address()).putInt(m
                    .rkey());
            case CopyMessage.Progress m -> to.putLong(m.verified());
            case CopyMessage.Result m -> putText(to.put((byte) m.status().wire()).putLong(m.resumedFrom()), m.text());
            case CopyMessage.Bye _,CopyMessage.Alive _,CopyMessage.Goodbye _ -> {
                // nothing but the header
            }
            case CopyMessage.Chunk _ -> throw new IllegalArgumentException("a chunk is no message");
        }
        to.putInt(start + 4, to.position() - start);
    }

    private static int type(CopyMessage message) {
        return switch (message) {
            case CopyMessage.File _ -> 1;
            case CopyMessage.Directory _ -> 2;
            case CopyMessage.Prefix _ -> 3;
            case CopyMessage.End _ -> 4;
            case CopyMessage.Cancel _ -> 5;
            case CopyMessage.Bye _ -> 6;
            case CopyMessage.Alive _ -> 7;
            case CopyMessage.Offer _ -> 16;
            case CopyMessage.Grant _ -> 17;
            case CopyMessage.Progress _ -> 18;
            case CopyMessage.Result _ -> 19;
            case CopyMessage.Goodbye _ -> 20;
            case CopyMessage.Chunk _ -> 0;
        };
    }

    private static void putTime(ByteBuffer to, Instant time) {
        to.putLong(time.getEpochSecond()).putInt(time.getNano());
    }

    private static void putCounted(ByteBuffer to, byte[] bytes) {
        to.putShort((short) bytes.length).put(bytes);
    }

    private static void putText(ByteBuffer to, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        to.putShort((short) Math.min(bytes.length, MAX_TEXT)).put(bytes, 0, Math.min(bytes.length, MAX_TEXT));
    }

    /**
     * Reads a message. Every field is checked as far as possible without knowing earlier messages.
     *
     * @throws CopyFailure with {@link CopyStatus#PROTOCOL} for anything that is not exactly one message
     */
    static CopyMessage decode(byte[] message) throws CopyFailure {
        ByteBuffer from = ByteBuffer.wrap(message);
        try {
            CopyMessage decoded = read(from);
            if (from.hasRemaining()) {
                throw CopyFailure.protocol(from.remaining() + " bytes too many in a message");
            }
            return decoded;
        } catch (BufferUnderflowException e) {
            throw new CopyFailure(CopyStatus.PROTOCOL, "the peer broke the protocol: a message ends too early", e);
        }
    }

    private static CopyMessage read(ByteBuffer from) throws CopyFailure {
        int magic = Short.toUnsignedInt(from.getShort());
        int version = Byte.toUnsignedInt(from.get());
        int type = Byte.toUnsignedInt(from.get());
        int length = from.getInt();
        if (magic != MAGIC || version != VERSION || length != from.limit() || length > MAX_MESSAGE) {
            throw CopyFailure.protocol("magic 0x" + Integer.toHexString(magic) + ", version " + version + ", length "
                    + length + " in a message of " + from.limit() + " bytes");
        }
        return switch (type) {
            case 1 -> new CopyMessage.File(id(from), mode(from), upTo(MAX_SIZE, from), time(from), identity(from),
                    path(from));
            case 2 -> new CopyMessage.Directory(id(from), mode(from), time(from), path(from));
            case 3 -> new CopyMessage.Prefix(id(from), take(from, SHA256));
            case 4 -> new CopyMessage.End(id(from), take(from, SHA256));
            case 5 -> new CopyMessage.Cancel(id(from), status(from), text(from));
            case 6 -> new CopyMessage.Bye();
            case 7 -> new CopyMessage.Alive();
            case 16 -> new CopyMessage.Offer(id(from), upTo(MAX_SIZE, from));
            case 17 -> new CopyMessage.Grant(id(from), upTo(MAX_SIZE, from), upTo(MAX_SIZE, from), from.getLong(),
                    from.getInt());
            case 18 -> new CopyMessage.Progress(id(from), upTo(MAX_SIZE, from));
            case 19 -> new CopyMessage.Result(id(from), status(from), upTo(MAX_SIZE, from), text(from));
            case 20 -> new CopyMessage.Goodbye();
            default -> throw CopyFailure.protocol("type " + type + " of a message");
        };
    }

    private static int id(ByteBuffer from) throws CopyFailure {
        int id = from.getInt();
        if (id < 1) {
            throw CopyFailure.protocol("file number " + Integer.toUnsignedString(id));
        }
        return id;
    }

    private static int mode(ByteBuffer from) throws CopyFailure {
        int mode = Short.toUnsignedInt(from.getShort());
        if (mode > 0777) {
            throw CopyFailure.protocol("permission bits 0" + Integer.toOctalString(mode));
        }
        return mode;
    }

    private static long upTo(long max, ByteBuffer from) throws CopyFailure {
        long value = from.getLong();
        if (value < 0 || value > max) {
            throw CopyFailure.protocol("a size of " + Long.toUnsignedString(value) + " bytes");
        }
        return value;
    }

    private static Instant time(ByteBuffer from) throws CopyFailure {
        long seconds = from.getLong();
        int nanos = from.getInt();
        if (nanos < 0 || nanos > 999_999_999 || seconds < Instant.MIN.getEpochSecond()
                || seconds > Instant.MAX.getEpochSecond()) {
            throw CopyFailure.protocol("a time of " + seconds + " seconds and " + nanos + " nanoseconds");
        }
        return Instant.ofEpochSecond(seconds, nanos);
    }

    private static CopyMessage.Identity identity(ByteBuffer from) {
        return new CopyMessage.Identity(take(from, BOOT_ID), from.getLong(), from.getLong());
    }

    private static CopyBytes take(ByteBuffer from, int length) {
        if (length > from.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        from.get(bytes);
        return CopyBytes.of(bytes);
    }

    private static CopyBytes path(ByteBuffer from) throws CopyFailure {
        int length = Short.toUnsignedInt(from.getShort());
        if (length > MAX_PATH) {
            throw CopyFailure.protocol("a path of " + length + " bytes");
        }
        return take(from, length);
    }

    private static CopyStatus status(ByteBuffer from) {
        return CopyStatus.ofWire(Byte.toUnsignedInt(from.get()));
    }

    private static String text(ByteBuffer from) throws CopyFailure {
        int length = Short.toUnsignedInt(from.getShort());
        if (length > MAX_TEXT) {
            throw CopyFailure.protocol("a text of " + length + " bytes");
        }
        return HumanText.printable(take(from, length).bytes());
    }
}
