// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.nio.ByteBuffer;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * Prepends instructions to those of a method, in a class file (JVMS 4). Its exception table, frames and line numbers
 * are relocated; other debug information is dropped.
 */
final class MethodPrefix {
    /** Stack depth of the prepended instructions, parameters of calls included. */
    private static final int MAX_STACK = 8;

    /** Alignment that instructions of the method may rely on (tableswitch). */
    private static final int ALIGNMENT = 4;

    /** A frame with the locals of its predecessor, which is the method's entry, and one value on the stack. */
    private static final int SAME_LOCALS_ONE_ON_THE_STACK = 247;

    /** Likewise with an empty stack. */
    private static final int SAME_LOCALS = 251;

    private static final int OBJECT = 7;
    private static final int UNINITIALIZED = 8;

    private final ByteBuffer in;
    private final ConstantPool constants;

    MethodPrefix(byte[] original) {
        in = ByteBuffer.wrap(original);
        constants = new ConstantPool(in);
    }

    /** The constant pool for the instructions. */
    ConstantPool constants() {
        return constants;
    }

    /**
     * The class file with a call prepended to a method.
     *
     * @param ask pushes the result
     * @param answer type of the result; null for a boolean
     * @param use runs unless the result is null or false, with an object on the stack, and ends the method
     * @return null if there is no such method with code
     */
    byte @Nullable [] prepend(String method, String descriptor, Instructions ask, @Nullable String answer,
            Instructions use) {
        Prefix prefix = prefix(ask, answer, use);
        ByteBuffer out = ByteBuffer.allocate(in.capacity() + constants.addedBytes() + prefix.maxBytes());
        constants.writeTo(out);
        in.position(constants.end());
        copy(out, 6); // access, name, superclass
        copy(out, count(out) * Short.BYTES); // interfaces
        for (int fields = count(out); fields > 0; fields--) {
            copy(out, 6);
            attributes(out, null);
        }
        boolean found = false;
        for (int methods = count(out); methods > 0; methods--) {
            int at = in.position();
            boolean wanted = constants.is(in.getShort(at + 2) & 0xffff, method)
                    && constants.is(in.getShort(at + 4) & 0xffff, descriptor);
            copy(out, 6);
            found |= attributes(out, wanted ? prefix : null);
        }
        copy(out, in.remaining());
        return found ? Arrays.copyOf(out.array(), out.position()) : null;
    }

    /**
     * The prepended instructions.
     *
     * @param label target of the branch at null or false; one instruction follows
     * @param resultType the type on the stack there; 0 if it is empty
     * @param frames the name of the attribute with the frames
     */
    private record Prefix(ByteBuffer code, int label, int resultType, int frames) {
        int size() {
            return code.capacity();
        }

        int maxBytes() {
            return size() + 16; // an attribute with a frame
        }
    }

    private Prefix prefix(Instructions ask, @Nullable String answer, Instructions use) {
        int after = (answer == null ? 0 : 1) + 3 + use.size() + 1;
        Instructions all = ask.nop(Math.floorMod(-(ask.size() + after), ALIGNMENT));
        int no = answer == null ? all.ifeq() : all.dup().ifnull();
        all.append(use).bind(no);
        int label = all.size();
        ByteBuffer code = (answer == null ? all.nop(1) : all.pop()).code();
        return new Prefix(code, label, answer == null ? 0 : constants.type(answer), constants.utf8("StackMapTable"));
    }

    private void copy(ByteBuffer out, int bytes) {
        out.put(in.slice(in.position(), bytes));
        in.position(in.position() + bytes);
    }

    private int count(ByteBuffer out) {
        short n = in.getShort();
        out.putShort(n);
        return n & 0xffff;
    }

    /** @param prefix for the code attribute; null if it is unchanged */
    private boolean attributes(ByteBuffer out, @Nullable Prefix prefix) {
        boolean found = false;
        for (int n = count(out); n > 0; n--) {
            if (prefix != null && constants.is(in.getShort(in.position()) & 0xffff, "Code")) {
                code(out, prefix);
                found = true;
            } else {
                copy(out, 6 + in.getInt(in.position() + 2));
            }
        }
        return found;
    }

    private void code(ByteBuffer out, Prefix prefix) {
        out.putShort(in.getShort());
        in.getInt();
        int length = out.position();
        out.putInt(0);
        out.putShort((short) Math.max(in.getShort() & 0xffff, MAX_STACK));
        out.putShort(in.getShort()); // locals
        int code = in.getInt();
        out.putInt(prefix.size() + code).put(prefix.code().duplicate());
        copy(out, code);
        for (int n = count(out); n > 0; n--) { // exceptions: from, to, handler, type
            relocate(out, prefix);
            relocate(out, prefix);
            relocate(out, prefix);
            out.putShort(in.getShort());
        }
        codeAttributes(out, prefix);
        out.putInt(length, out.position() - length - Integer.BYTES);
    }

    private void relocate(ByteBuffer out, Prefix prefix) {
        int at = (in.getShort() & 0xffff) + prefix.size();
        if (at > 0xffff) {
            throw new IllegalStateException("the method is too long");
        }
        out.putShort((short) at);
    }

    private void codeAttributes(ByteBuffer out, Prefix prefix) {
        int count = out.position();
        out.putShort((short) 0);
        int written = 0;
        boolean framed = false;
        for (int n = in.getShort(); n > 0; n--) {
            int name = in.getShort(in.position()) & 0xffff;
            int next = in.position() + 6 + in.getInt(in.position() + 2);
            if (constants.is(name, "LineNumberTable")) {
                copy(out, 6);
                for (int lines = count(out); lines > 0; lines--) {
                    relocate(out, prefix);
                    out.putShort(in.getShort());
                }
                written++;
            } else if (constants.is(name, "StackMapTable")) {
                out.putShort(in.getShort());
                int bytes = in.getInt() - Short.BYTES;
                int frames = in.getShort() & 0xffff;
                frame(out, prefix, frames, bytes);
                for (int i = 0; i < frames; i++) {
                    frame(out, prefix);
                }
                framed = true;
                written++;
            }
            in.position(next);
        }
        if (!framed) {
            out.putShort((short) prefix.frames());
            frame(out, prefix, 0, 0);
            written++;
        }
        out.putShort(count, (short) written);
    }

    /**
     * Writes the length of the attribute, the number of frames, and the first frame, at the target of the branch. The
     * offset of the method's own first frame was relative to its start, and now to this frame, the last byte before
     * that: it is the same number.
     */
    private static void frame(ByteBuffer out, Prefix prefix, int others, int otherBytes) {
        boolean empty = prefix.resultType() == 0;
        int bytes = 1 + 2 + (empty ? 0 : 1 + 2);
        out.putInt(Short.BYTES + bytes + otherBytes).putShort((short) (others + 1));
        out.put((byte) (empty ? SAME_LOCALS : SAME_LOCALS_ONE_ON_THE_STACK)).putShort((short) prefix.label());
        if (!empty) {
            out.put((byte) OBJECT).putShort((short) prefix.resultType());
        }
    }

    /**
     * Copies one of the method's frames. Its offset is relative to the previous one, so it is unchanged, but for the
     * offsets of uninitialized objects.
     */
    private void frame(ByteBuffer out, Prefix prefix) {
        int kind = in.get() & 0xff;
        out.put((byte) kind);
        if (kind >= SAME_LOCALS_ONE_ON_THE_STACK) {
            copy(out, Short.BYTES);
        }
        if (kind == 255) {
            types(out, prefix, count(out));
            types(out, prefix, count(out));
        } else if (kind >= 252) {
            types(out, prefix, kind - 251);
        } else if (kind >= 64 && kind <= SAME_LOCALS_ONE_ON_THE_STACK) {
            types(out, prefix, 1);
        }
    }

    private void types(ByteBuffer out, Prefix prefix, int count) {
        for (int i = 0; i < count; i++) {
            int kind = in.get();
            out.put((byte) kind);
            if (kind == OBJECT) {
                copy(out, Short.BYTES);
            } else if (kind == UNINITIALIZED) {
                relocate(out, prefix);
            }
        }
    }
}
