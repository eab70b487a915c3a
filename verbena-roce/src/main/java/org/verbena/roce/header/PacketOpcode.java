// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/**
 * Opcodes of packets (IBTA volume 1, 9.2.1; annexes A14 and A19): the upper 3 bits are the transport, the lower 5 the
 * operation, which is the same in each.
 */
public final class PacketOpcode {
    // ---- transports

    public static final int RC = 0;
    public static final int UC = 0x20;
    public static final int UD = 0x60;
    /** Its only opcode is {@link #CNP}. */
    static final int CONGESTION = 0x80;
    public static final int XRC = 0xa0;
    public static final int TRANSPORT = 0xe0;
    public static final int OPERATION = 0x1f;

    // ---- operations

    public static final int SEND_FIRST = 0x00;
    static final int SEND_MIDDLE = 0x01;
    public static final int SEND_LAST = 0x02;
    public static final int SEND_LAST_IMM = 0x03;
    public static final int SEND_ONLY = 0x04;
    public static final int SEND_ONLY_IMM = 0x05;
    public static final int WRITE_FIRST = 0x06;
    static final int WRITE_MIDDLE = 0x07;
    public static final int WRITE_LAST = 0x08;
    public static final int WRITE_LAST_IMM = 0x09;
    public static final int WRITE_ONLY = 0x0a;
    public static final int WRITE_ONLY_IMM = 0x0b;
    public static final int READ_REQUEST = 0x0c;
    public static final int READ_FIRST = 0x0d;
    public static final int READ_MIDDLE = 0x0e;
    public static final int READ_LAST = 0x0f;
    public static final int READ_ONLY = 0x10;
    public static final int ACKNOWLEDGE = 0x11;
    public static final int ATOMIC_ACKNOWLEDGE = 0x12;
    public static final int COMPARE_AND_SWAP = 0x13;
    public static final int FETCH_AND_ADD = 0x14;
    public static final int SEND_LAST_INVALIDATE = 0x16;
    public static final int SEND_ONLY_INVALIDATE = 0x17;
    public static final int FLUSH = 0x1c;
    public static final int ATOMIC_WRITE = 0x1d;

    public static final int CNP = 0x81;

    // ---- properties of opcodes

    public static final int IS_FIRST = 1;
    public static final int IS_LAST = 1 << 1;
    public static final int IS_SEND = 1 << 2;
    public static final int IS_WRITE = 1 << 3;
    public static final int HAS_IMMEDIATE = 1 << 4;
    public static final int HAS_INVALIDATE = 1 << 5;
    /** From responder to requester. */
    public static final int IS_RESPONSE = 1 << 6;
    /** The response is more than an ACK. */
    public static final int EXPECTS_RESPONSE = 1 << 7;
    public static final int HAS_PAYLOAD = 1 << 8;
    private static final int ONLY = IS_FIRST | IS_LAST;

    /** Bytes of all headers; 0 for an opcode that does not exist. */
    private static final byte[] HEADERS = new byte[256];
    private static final short[] FLAGS = new short[256];

    static {
        for (int transport : new int[] {RC, UC, XRC}) {
            connected(transport);
        }
        for (int transport : new int[] {RC, XRC}) {
            reliable(transport);
        }
        add(UD | SEND_ONLY, Deth.BYTES, ONLY | IS_SEND | HAS_PAYLOAD);
        add(UD | SEND_ONLY_IMM, Deth.BYTES + 4, ONLY | IS_SEND | HAS_PAYLOAD | HAS_IMMEDIATE);
        add(CNP, 16, 0);
    }

    private PacketOpcode() {}

    private static void connected(int transport) {
        int send = IS_SEND | HAS_PAYLOAD;
        int write = IS_WRITE | HAS_PAYLOAD;
        add(transport | SEND_FIRST, 0, send | IS_FIRST);
        add(transport | SEND_MIDDLE, 0, send);
        add(transport | SEND_LAST, 0, send | IS_LAST);
        add(transport | SEND_LAST_IMM, 4, send | IS_LAST | HAS_IMMEDIATE);
        add(transport | SEND_ONLY, 0, send | ONLY);
        add(transport | SEND_ONLY_IMM, 4, send | ONLY | HAS_IMMEDIATE);
        add(transport | WRITE_FIRST, Reth.BYTES, write | IS_FIRST);
        add(transport | WRITE_MIDDLE, 0, write);
        add(transport | WRITE_LAST, 0, write | IS_LAST);
        add(transport | WRITE_LAST_IMM, 4, write | IS_LAST | HAS_IMMEDIATE);
        add(transport | WRITE_ONLY, Reth.BYTES, write | ONLY);
        add(transport | WRITE_ONLY_IMM, Reth.BYTES + 4, write | ONLY | HAS_IMMEDIATE);
    }

    private static void reliable(int transport) {
        int response = IS_RESPONSE;
        add(transport | SEND_LAST_INVALIDATE, 4, IS_SEND | HAS_PAYLOAD | IS_LAST | HAS_INVALIDATE);
        add(transport | SEND_ONLY_INVALIDATE, 4, IS_SEND | HAS_PAYLOAD | ONLY | HAS_INVALIDATE);
        add(transport | READ_REQUEST, Reth.BYTES, ONLY | EXPECTS_RESPONSE);
        add(transport | COMPARE_AND_SWAP, AtomicEth.BYTES, ONLY | EXPECTS_RESPONSE);
        add(transport | FETCH_AND_ADD, AtomicEth.BYTES, ONLY | EXPECTS_RESPONSE);
        add(transport | FLUSH, Feth.BYTES + Reth.BYTES, ONLY | EXPECTS_RESPONSE);
        add(transport | ATOMIC_WRITE, Reth.BYTES, ONLY | EXPECTS_RESPONSE | HAS_PAYLOAD);
        add(transport | READ_FIRST, Aeth.BYTES, response | HAS_PAYLOAD | IS_FIRST);
        add(transport | READ_MIDDLE, 0, response | HAS_PAYLOAD);
        add(transport | READ_LAST, Aeth.BYTES, response | HAS_PAYLOAD | IS_LAST);
        add(transport | READ_ONLY, Aeth.BYTES, response | HAS_PAYLOAD | ONLY);
        add(transport | ACKNOWLEDGE, Aeth.BYTES, response);
        add(transport | ATOMIC_ACKNOWLEDGE, Aeth.BYTES + 8, response);
    }

    private static void add(int opcode, int extended, int flags) {
        // requests of XRC name the shared receive queue, directly after the BTH
        int xrc = (opcode & TRANSPORT) == XRC && (flags & IS_RESPONSE) == 0 ? XrcEth.BYTES : 0;
        HEADERS[opcode] = (byte) (Bth.BYTES + xrc + extended);
        FLAGS[opcode] = (short) flags;
    }

    /** Bytes of all headers; 0 for an opcode that does not exist. */
    public static int headers(int opcode) {
        return HEADERS[opcode];
    }

    public static int flags(int opcode) {
        return FLAGS[opcode];
    }

    /** Offset of the extended headers that an opcode has in every transport. */
    public static int extended(int opcode) {
        return (opcode & TRANSPORT) == XRC && (FLAGS[opcode] & IS_RESPONSE) == 0
                ? Bth.BYTES + XrcEth.BYTES
                : Bth.BYTES;
    }
}
