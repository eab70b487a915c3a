// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/** An option of a TCP header. */
public sealed interface TcpOption {
    int EOL = 0;
    int NOP = 1;
    int MSS = 2;
    int WINDOW_SCALE = 3;
    int SACK_PERMITTED = 4;
    int SACK = 5;
    int TIMESTAMPS = 8;
    int MD5 = 19;
    int FAST_OPEN = 34;
    int EXPERIMENT = 254;

    /** Its kind on the wire. */
    int kind();

    /** Whether it only fills. */
    default boolean filler() {
        return kind() == EOL || kind() == NOP;
    }

    /** The end of the list. */
    record Eol() implements TcpOption {
        @Override
        public int kind() {
            return EOL;
        }

        @Override
        public String toString() {
            return "eol";
        }
    }

    /** Nothing. */
    record Nop() implements TcpOption {
        @Override
        public int kind() {
            return NOP;
        }

        @Override
        public String toString() {
            return "nop";
        }
    }

    /** The maximum segment size. */
    record Mss(int bytes) implements TcpOption {
        @Override
        public int kind() {
            return MSS;
        }

        @Override
        public String toString() {
            return "mss " + bytes;
        }
    }

    /** The window scale. */
    record WindowScale(int shift) implements TcpOption {
        @Override
        public int kind() {
            return WINDOW_SCALE;
        }

        @Override
        public String toString() {
            return "wscale " + shift;
        }
    }

    /** SACK is permitted. */
    record SackPermitted() implements TcpOption {
        @Override
        public int kind() {
            return SACK_PERMITTED;
        }

        @Override
        public String toString() {
            return "sackOK";
        }
    }

    /** One block of SACK. */
    record Block(long left, long right) {
        @Override
        public String toString() {
            return left + ":" + right;
        }
    }

    /** Selective acknowledgements. */
    record Sack(List<Block> blocks) implements TcpOption {
        @Override
        public int kind() {
            return SACK;
        }

        @Override
        public String toString() {
            return blocks.stream().map(b -> " " + b).collect(Collectors.joining("", "sack", ""));
        }
    }

    /** Time stamps. */
    record Timestamps(long value, long echo) implements TcpOption {
        @Override
        public int kind() {
            return TIMESTAMPS;
        }

        @Override
        public String toString() {
            return "TS val " + value + " ecr " + echo;
        }
    }

    /** A signature of RFC 2385: {@code valid}, {@code invalid}, or its bytes in hexadecimal. */
    record Md5(String digest) implements TcpOption {
        @Override
        public int kind() {
            return MD5;
        }

        @Override
        public String toString() {
            return "md5 " + digest;
        }
    }

    /** A cookie of fast open (RFC 7413), in hexadecimal; null asks for one. */
    record FastOpen(@Nullable String cookie) implements TcpOption {
        @Override
        public int kind() {
            return FAST_OPEN;
        }

        @Override
        public String toString() {
            return cookie == null ? "FO" : "FO " + cookie;
        }
    }

    /** The same under the experimental number. */
    record FastOpenExperiment(@Nullable String cookie) implements TcpOption {
        @Override
        public int kind() {
            return EXPERIMENT;
        }

        @Override
        public String toString() {
            return cookie == null ? "FOEXP" : "FOEXP " + cookie;
        }
    }

    /** Another, {@code unknown(kind, 0xdata)}: its bytes behind the length, in hexadecimal. */
    record Unknown(int kind, String data) implements TcpOption {
        static Unknown of(int kind, byte[] data) {
            return new Unknown(kind, HexFormat.of().formatHex(data));
        }

        @Override
        public String toString() {
            return "unknown(" + kind + ", 0x" + data + ")";
        }
    }
}
