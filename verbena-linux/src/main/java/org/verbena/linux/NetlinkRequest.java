// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A message to the kernel, netlink(7): the header, a fixed part that depends on the type of message, then attributes,
 * some of which contain attributes themselves.
 *
 * <pre>
 *  0  nlmsghdr  len 0, type 4, flags 6, seq 8, pid 12
 * 16  the fixed part, padded to 4
 *     attribute  len 0, type 2, the value from 4, padded to 4
 * </pre>
 *
 * <p>Built by one thread. A request of more than {@value #MAX_BYTES} bytes is an {@link IllegalArgumentException}.
 */
public final class NetlinkRequest {
    /** The longest request. */
    public static final int MAX_BYTES = 4096;

    /** The message is a request. */
    public static final int NLM_F_REQUEST = 0x1;
    /** The kernel acknowledges; {@link Netlink#request} sets it. */
    public static final int NLM_F_ACK = 0x4;
    /** All objects, not one. */
    public static final int NLM_F_DUMP = 0x300;
    /** Fail with {@code EEXIST} if there is such an object. */
    public static final int NLM_F_EXCL = 0x200;
    /** Create the object if there is none. */
    public static final int NLM_F_CREATE = 0x400;

    static final int NLMSG_HDRLEN = 16;
    static final int NLA_HDRLEN = 4;
    static final int NLA_F_NESTED = 0x8000;
    private static final int MAX_TYPE = 0x3fff;

    private final ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES).order(ByteOrder.nativeOrder());

    /**
     * Begins a message.
     *
     * @param type its type, 16 or more for a request
     * @param flags a union of {@code NLM_F_} constants; {@code NLM_F_REQUEST} is added
     */
    public NetlinkRequest(int type, int flags) {
        Args.requireBetween(type, 0, 0xFFFF, "the type of a netlink message");
        Args.requireBetween(flags, 0, 0xFFFF, "the flags of a netlink message");
        bytes.putInt(0).putShort((short) type).putShort((short) (flags | NLM_F_REQUEST)).putInt(0).putInt(0);
    }

    /**
     * Appends bytes, padded to a multiple of 4: a fixed part.
     *
     * @param part the bytes, in native byte order
     * @return this
     */
    public NetlinkRequest append(byte[] part) {
        try {
            bytes.put(part);
            pad();
        } catch (BufferOverflowException tooLong) {
            throw tooLong(tooLong);
        }
        return this;
    }

    /**
     * Appends an attribute.
     *
     * @param type its number
     * @param value its bytes
     * @return this
     */
    public NetlinkRequest attribute(int type, byte[] value) {
        int at = begin(type, 0);
        append(value);
        bytes.putShort(at, (short) (NLA_HDRLEN + value.length));
        return this;
    }

    /**
     * Appends an attribute that is a number of 32 bits.
     *
     * @param type its number
     * @param value the value
     * @return this
     */
    public NetlinkRequest attribute(int type, int value) {
        return attribute(type, ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(value).array());
    }

    /**
     * Appends an attribute with a NUL-terminated text.
     *
     * @param type its number
     * @param value the text, without NUL
     * @return this
     */
    public NetlinkRequest attribute(int type, String value) {
        byte[] name = Args.name(value, MAX_BYTES, "a netlink attribute");
        byte[] withNul = new byte[name.length + 1];
        System.arraycopy(name, 0, withNul, 0, name.length);
        return attribute(type, withNul);
    }

    /**
     * Appends an attribute that contains what the action appends.
     *
     * @param type its number
     * @param inside appends to this request
     * @return this
     */
    public NetlinkRequest nest(int type, Runnable inside) {
        int at = begin(type, NLA_F_NESTED);
        inside.run();
        bytes.putShort(at, (short) (bytes.position() - at));
        return this;
    }

    private int begin(int type, int flags) {
        Args.requireBetween(type, 0, MAX_TYPE, "the number of a netlink attribute");
        int at = bytes.position();
        try {
            bytes.putShort((short) NLA_HDRLEN).putShort((short) (type | flags));
        } catch (BufferOverflowException tooLong) {
            throw tooLong(tooLong);
        }
        return at;
    }

    private void pad() {
        while (bytes.position() % 4 != 0) {
            bytes.put((byte) 0);
        }
    }

    private static IllegalArgumentException tooLong(BufferOverflowException cause) {
        return new IllegalArgumentException("a netlink request has at most " + MAX_BYTES + " bytes", cause);
    }

    /** The type, for messages. */
    int type() {
        return Short.toUnsignedInt(bytes.getShort(4));
    }

    /** The whole message, with its length, a sequence number and more flags. */
    byte[] bytes(int sequence, int moreFlags) {
        byte[] copy = new byte[bytes.position()];
        ByteBuffer whole = ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder());
        whole.put(bytes.array(), 0, copy.length);
        whole.putInt(0, copy.length);
        whole.putShort(6, (short) (whole.getShort(6) | moreFlags));
        whole.putInt(8, sequence);
        return copy;
    }

    @Override
    public String toString() {
        return "NetlinkRequest[type " + type() + ", " + bytes.position() + " bytes]";
    }
}
