// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Messages on a session's socket, little-endian: {@code int type}, then fields in order. {@code docs/shm.md} lists them.
 * Messages of a peer are read through {@link Reader}, which refuses all that is too short, too long or out of
 * range.
 */
public final class ControlMessage {
    public static final int MAX_BYTES = 1024;
    static final int MAX_TEXT = 400;
    public static final int VERSION = 3;

    /**
     * {version, instance, process id, adapter size, arena size, commons size}, 3 descriptors: adapter, arena, commons.
     */
    public static final int HELLO = 1;
    /** The context that has bound a name: {instance}. */
    public static final int IDENTITY = 2;
    /** Memory to map: {id, size}, 1 descriptor. */
    public static final int MEMORY = 3;
    /** Memory is gone: {id}. */
    public static final int MEMORY_GONE = 4;
    /** A request was refused: {the receiver's link, event type, text}. */
    public static final int QP_ERROR = 5;
    /** The reader of a lane does not read it any more: {the reader's link}. */
    public static final int LANE_DONE = 6;
    /** The memory could not be mapped when it arrived, send it again: {id}. */
    public static final int MEMORY_AGAIN = 7;
    /**
     * A queue pair requests access to a shared receive queue of type XRC: {SRQ number, QP number, token,
     * domain: two longs}.
     */
    public static final int POOL_ATTACH = 8;
    /** The answer: {SRQ number, QP number, token, pool number or 0}. */
    public static final int POOL_ATTACHED = 9;
    /** It takes no receives any more: {SRQ number, QP number}. */
    public static final int POOL_DETACH = 10;
    /** A shared buffer (dma-buf) to map: {id, size, offset in the buffer}, 1 descriptor. */
    public static final int MEMORY_DMABUF = 11;
    /** A datagram ring was made: {key, the reader's QP number, its link, offset in the arena, bytes}. */
    public static final int DATAGRAM_RING = 24;
    /** Nothing more will be written to a ring of the sender: {key}. */
    public static final int DATAGRAM_END = 25;
    /** The position of a ring's reader: {key, offset in the reader's arena}. */
    public static final int DATAGRAM_COUNT = 26;
    /** The reader of a ring does not read it any more: {key}. */
    public static final int DATAGRAM_DONE = 27;
    /** A queue pair is attached to a multicast group: {upper, lower half of the GID, QP number}. */
    public static final int MULTICAST_JOIN = 28;
    /** It is detached; fields as before. */
    public static final int MULTICAST_LEAVE = 29;
    /** To be answered with the same {token} when all earlier messages were read. */
    public static final int MULTICAST_SYNC = 30;
    /** {token}. */
    public static final int MULTICAST_SYNCED = 31;
    /** A queue pair of type XRC_RECV is to be opened: {token, handle, QP number, domain: two longs}. */
    public static final int XRC_OPEN = 32;
    /** It is to be closed: {token, handle}. */
    public static final int XRC_CLOSE = 33;
    /** Its state and attributes: {token, handle}. */
    public static final int XRC_QUERY = 34;
    /** It is to be changed: {token, handle, the state it is in, attributes}. */
    public static final int XRC_MODIFY = 35;
    /** {token, errno, text, attributes}. */
    public static final int XRC_ANSWER = 36;
    /** An asynchronous event of it: {handle, event type, text}. */
    public static final int XRC_EVENT = 37;
    /** Connection manager: {connection, port, QP number, retries, retries of the receiver when there is no receive, private data}. */
    public static final int CM_REQUEST = 16;
    /** {connection, QP number, retries of the receiver when there is no receive, private data}. */
    public static final int CM_REPLY = 17;
    /** {connection}. */
    public static final int CM_READY = 18;
    /** {connection, 1 if the connecting end sends it, reason, private data, text}. */
    public static final int CM_REJECT = 19;
    /** {connection, 1 if the connecting end sends it}. */
    public static final int CM_DISCONNECT = 20;

    private ControlMessage() {}

    /** Builds a message. */
    public static final class Writer {
        private final ByteBuffer b = ByteBuffer.allocate(MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);

        public Writer(int type) {
            b.putInt(type);
        }

        public Writer putInt(int v) {
            b.putInt(v);
            return this;
        }

        public Writer putLong(long v) {
            b.putLong(v);
            return this;
        }

        public Writer putBytes(byte[] v) {
            b.putInt(v.length).put(v);
            return this;
        }

        /** Text, cut if it is very long. */
        public Writer putText(String v) {
            byte[] utf8 = v.getBytes(StandardCharsets.UTF_8);
            return putBytes(utf8.length <= MAX_TEXT ? utf8 : java.util.Arrays.copyOf(utf8, MAX_TEXT));
        }

        /** Copies the message to native memory of at least {@link #MAX_BYTES}; returns its length. */
        public long copyTo(MemorySegment to) {
            MemorySegment.copy(MemorySegment.ofArray(b.array()), 0, to, 0, b.position());
            return b.position();
        }

        /** The message in native memory of its own. */
        public MemorySegment segment() {
            MemorySegment s = Arena.ofAuto().allocate(b.position(), 8);
            copyTo(s);
            return s;
        }
    }

    /** Reads a message. */
    public static final class Reader {
        private final ByteBuffer b;
        private final int type;

        public Reader(MemorySegment message) throws ProtocolException {
            b = message.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            type = getInt();
        }

        public int type() {
            return type;
        }

        public int getInt() throws ProtocolException {
            try {
                return b.getInt();
            } catch (BufferUnderflowException e) {
                throw tooShort();
            }
        }

        public long getLong() throws ProtocolException {
            try {
                return b.getLong();
            } catch (BufferUnderflowException e) {
                throw tooShort();
            }
        }

        public byte[] getBytes(int max) throws ProtocolException {
            int n = getInt();
            if (n < 0 || n > max || n > b.remaining()) {
                throw tooShort();
            }
            byte[] v = new byte[n];
            b.get(v);
            return v;
        }

        public String getText() throws ProtocolException {
            return new String(getBytes(MAX_TEXT), StandardCharsets.UTF_8);
        }

        /** To be called after the last field. */
        public void end() throws ProtocolException {
            if (b.hasRemaining()) {
                throw new ProtocolException("control message " + type + " is too long");
            }
        }

        private ProtocolException tooShort() {
            return new ProtocolException("control message " + type + " is cut short or has a wrong length in it");
        }
    }
}
