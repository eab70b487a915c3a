// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A message from the kernel, without its header: see {@link NetlinkRequest}. Immutable.
 *
 * @param type its type
 * @param payload the bytes after the header, in native byte order; read-only
 */
public record NetlinkReply(int type, ByteBuffer payload) {
    private static final int TYPE_MASK = 0x3fff;

    /**
     * An attribute.
     *
     * @param type its number, without flags
     * @param value its bytes, in native byte order; read-only
     */
    public record Attribute(int type, ByteBuffer value) {
        /**
         * The value as a number of 16 bits.
         *
         * @return 0 or more
         * @throws LinuxException {@code EBADMSG} if the value is shorter
         */
        public int unsignedShort() throws LinuxException {
            return Short.toUnsignedInt(need(2).getShort(0));
        }

        /**
         * The value as a number of 32 bits.
         *
         * @return the number
         * @throws LinuxException {@code EBADMSG} if the value is shorter
         */
        public int integer() throws LinuxException {
            return need(4).getInt(0);
        }

        /**
         * The value as a text that ends with NUL or at the end of the value.
         *
         * @return the text
         */
        public String text() {
            byte[] bytes = new byte[value.remaining()];
            value.duplicate().get(bytes);
            int length = 0;
            while (length < bytes.length && bytes[length] != 0) {
                length++;
            }
            return new String(bytes, 0, length, StandardCharsets.UTF_8);
        }

        /**
         * The nested attributes.
         *
         * @return in their order
         * @throws LinuxException {@code EBADMSG} if they are malformed
         */
        public List<Attribute> nested() throws LinuxException {
            return parse(value, 0);
        }

        private ByteBuffer need(int bytes) throws LinuxException {
            if (value.remaining() < bytes) {
                throw new LinuxException("netlink attribute " + type, Errno.EBADMSG);
            }
            return value;
        }
    }

    /**
     * The attributes after the fixed part.
     *
     * @param fixed bytes of the fixed part, 0 or more
     * @return in their order
     * @throws LinuxException {@code EBADMSG} if they are malformed
     */
    public List<Attribute> attributes(int fixed) throws LinuxException {
        return parse(payload, fixed);
    }

    /**
     * The first attribute with a number.
     *
     * @param fixed bytes of the fixed part, 0 or more
     * @param type the number
     * @return the attribute, if there is one
     * @throws LinuxException {@code EBADMSG} if they are malformed
     */
    public Optional<Attribute> attribute(int fixed, int type) throws LinuxException {
        return attributes(fixed).stream().filter(a -> a.type() == type).findFirst();
    }

    static List<Attribute> parse(ByteBuffer from, int fixed) throws LinuxException {
        Args.requireBetween(fixed, 0, NetlinkRequest.MAX_BYTES, "the length of a fixed part");
        List<Attribute> all = new ArrayList<>();
        int at = Math.min((fixed + 3) & ~3, from.limit());
        while (from.limit() - at >= NetlinkRequest.NLA_HDRLEN) {
            int length = Short.toUnsignedInt(from.getShort(at));
            if (length < NetlinkRequest.NLA_HDRLEN || length > from.limit() - at) {
                throw new LinuxException("netlink attribute of " + length + " bytes", Errno.EBADMSG);
            }
            ByteBuffer value = from.slice(at + NetlinkRequest.NLA_HDRLEN, length - NetlinkRequest.NLA_HDRLEN)
                    .order(ByteOrder.nativeOrder());
            all.add(new Attribute(Short.toUnsignedInt(from.getShort(at + 2)) & TYPE_MASK, value));
            at += (length + 3) & ~3;
        }
        return all;
    }
}
