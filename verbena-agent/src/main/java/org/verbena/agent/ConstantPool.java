// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The constants of a class file (JVMS 4.4), and constants appended to them. Names are ASCII. */
final class ConstantPool {
    private static final int UTF8 = 1;
    private static final int INTEGER = 3;
    private static final int FLOAT = 4;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int STRING = 8;
    private static final int FIELD = 9;
    private static final int METHOD = 10;
    private static final int INTERFACE_METHOD = 11;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;
    private static final int METHOD_TYPE = 16;
    private static final int DYNAMIC = 17;
    private static final int INVOKE_DYNAMIC = 18;
    private static final int MODULE = 19;
    private static final int PACKAGE = 20;

    /** Offset of the number of constants in a class file; they follow. */
    private static final int START = 8;

    /** In bytes: many times the need of a prefix. */
    private static final int MAX_ADDED = 4096;

    private final ByteBuffer file;
    private final int[] offsets;
    private final int end;
    private final ByteBuffer added = ByteBuffer.allocate(MAX_ADDED);
    private int count;

    ConstantPool(ByteBuffer file) {
        this.file = file;
        count = file.getShort(START) & 0xffff;
        offsets = new int[count];
        int at = START + Short.BYTES;
        for (int i = 1; i < count; i++) {
            offsets[i] = at;
            int tag = file.get(at);
            at += size(tag, at);
            if (tag == LONG || tag == DOUBLE) {
                i++; // takes two slots
            }
        }
        end = at;
    }

    private int size(int tag, int at) {
        return switch (tag) {
            case UTF8 -> 3 + (file.getShort(at + 1) & 0xffff);
            case CLASS, STRING, METHOD_TYPE, MODULE, PACKAGE -> 3;
            case METHOD_HANDLE -> 4;
            case INTEGER, FLOAT, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE, DYNAMIC, INVOKE_DYNAMIC -> 5;
            case LONG, DOUBLE -> 9;
            default -> throw new IllegalStateException("it has a constant of the unknown kind " + tag);
        };
    }

    /** Offset of the file's contents after its own constants. */
    int end() {
        return end;
    }

    /** Whether a constant of the file is that text. */
    boolean is(int index, String text) {
        int at = offsets[index];
        if (file.get(at) != UTF8 || (file.getShort(at + 1) & 0xffff) != text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (file.get(at + 3 + i) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    int utf8(String text) {
        int index = next(UTF8);
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        added.putShort((short) bytes.length).put(bytes);
        return index;
    }

    /** @param name as in a class file, {@code java/lang/Object} or {@code [Ljava/lang/Object;} */
    int type(String name) {
        return add(CLASS, utf8(name));
    }

    int string(String text) {
        return add(STRING, utf8(text));
    }

    int field(String owner, String name, String descriptor) {
        return add(FIELD, type(owner), nameAndType(name, descriptor));
    }

    int method(String owner, String name, String descriptor) {
        return add(METHOD, type(owner), nameAndType(name, descriptor));
    }

    int interfaceMethod(String owner, String name, String descriptor) {
        return add(INTERFACE_METHOD, type(owner), nameAndType(name, descriptor));
    }

    private int nameAndType(String name, String descriptor) {
        return add(NAME_AND_TYPE, utf8(name), utf8(descriptor));
    }

    private int add(int tag, int... parts) {
        int index = next(tag);
        for (int part : parts) {
            added.putShort((short) part);
        }
        return index;
    }

    private int next(int tag) {
        if (count == 0xffff) {
            throw new IllegalStateException("it has as many constants as a class file can have");
        }
        added.put((byte) tag);
        return count++;
    }

    /** The beginning of the file, up to the end of all constants. */
    void writeTo(ByteBuffer to) {
        int own = START + Short.BYTES;
        to.put(file.slice(0, START)).putShort((short) count).put(file.slice(own, end - own))
                .put(added.slice(0, added.position()));
    }

    /** The number of bytes that are appended. */
    int addedBytes() {
        return added.position();
    }
}
