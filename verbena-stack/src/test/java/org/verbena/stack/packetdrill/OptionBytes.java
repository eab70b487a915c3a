// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** TCP options as bytes. */
final class OptionBytes {
    private static final int MOST = 40;
    private static final int FAST_OPEN_MAGIC = 0xf989;
    private static final long U32 = 0xffff_ffffL;

    private OptionBytes() {}

    /** Writes options, and fills up to a multiple of four bytes. */
    static byte[] write(List<TcpOption> options) throws Failure {
        ByteBuffer b = ByteBuffer.allocate(2 * MOST);
        for (TcpOption o : options) {
            if (b.position() > MOST) {
                break;
            }
            write(o, b);
        }
        int length = (b.position() + 3) / 4 * 4;
        if (length > MOST) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "more than " + MOST + " bytes of TCP options");
        }
        return Arrays.copyOf(b.array(), length);
    }

    private static void write(TcpOption o, ByteBuffer b) throws Failure {
        b.put((byte) o.kind());
        switch (o) {
            case TcpOption.Eol e -> {}
            case TcpOption.Nop n -> {}
            case TcpOption.Mss m -> b.put((byte) 4).putShort((short) m.bytes());
            case TcpOption.WindowScale w -> b.put((byte) 3).put((byte) w.shift());
            case TcpOption.SackPermitted s -> b.put((byte) 2);
            case TcpOption.Sack s -> {
                b.put((byte) (2 + 8 * s.blocks().size()));
                s.blocks().stream().limit(4).forEach(k -> b.putInt((int) k.left()).putInt((int) k.right()));
            }
            case TcpOption.Timestamps t -> b.put((byte) 10).putInt((int) t.value()).putInt((int) t.echo());
            case TcpOption.FastOpen f -> data(b, 0, f.cookie());
            case TcpOption.FastOpenExperiment f -> data(b, FAST_OPEN_MAGIC, f.cookie());
            case TcpOption.Unknown u -> data(b, 0, u.data());
            case TcpOption.Md5 m -> throw new Failure(Failure.Kind.UNSUPPORTED, "signatures of RFC 2385");
        }
    }

    private static void data(ByteBuffer b, int magic, @Nullable String hex) {
        byte[] data = hex == null ? new byte[0] : HexFormat.of().parseHex(hex);
        b.put((byte) (2 + (magic == 0 ? 0 : 2) + data.length));
        if (magic != 0) {
            b.putShort((short) magic);
        }
        b.put(data);
    }

    /** Reads options; bytes behind the end of the list are more ends, if they are 0. */
    static List<TcpOption> read(byte[] bytes) throws Failure {
        List<TcpOption> options = new ArrayList<>();
        ByteBuffer b = ByteBuffer.wrap(bytes);
        try {
            while (b.hasRemaining()) {
                int kind = b.get() & 0xff;
                if (kind == TcpOption.EOL) {
                    options.add(new TcpOption.Eol());
                } else if (kind == TcpOption.NOP) {
                    options.add(new TcpOption.Nop());
                } else {
                    byte[] data = new byte[Math.max(0, (b.get() & 0xff) - 2)];
                    b.get(data);
                    options.add(read(kind, data));
                }
            }
        } catch (BufferUnderflowException e) {
            throw new Failure(Failure.Kind.PACKET, "TCP options that are broken: " + HexFormat.of().formatHex(bytes));
        }
        return options;
    }

    private static TcpOption read(int kind, byte[] data) {
        ByteBuffer b = ByteBuffer.wrap(data);
        if (kind == TcpOption.MSS && data.length == 2) {
            return new TcpOption.Mss(b.getShort() & 0xffff);
        }
        if (kind == TcpOption.WINDOW_SCALE && data.length == 1) {
            return new TcpOption.WindowScale(b.get() & 0xff);
        }
        if (kind == TcpOption.SACK_PERMITTED && data.length == 0) {
            return new TcpOption.SackPermitted();
        }
        if (kind == TcpOption.TIMESTAMPS && data.length == 8) {
            return new TcpOption.Timestamps(b.getInt() & U32, b.getInt() & U32);
        }
        if (kind == TcpOption.SACK && data.length % 8 == 0 && data.length > 0) {
            List<TcpOption.Block> blocks = new ArrayList<>();
            while (b.hasRemaining()) {
                blocks.add(new TcpOption.Block(b.getInt() & U32, b.getInt() & U32));
            }
            return new TcpOption.Sack(blocks);
        }
        if (kind == TcpOption.FAST_OPEN) {
            return new TcpOption.FastOpen(data.length == 0 ? null : HexFormat.of().formatHex(data));
        }
        return TcpOption.Unknown.of(kind, data);
    }
}
