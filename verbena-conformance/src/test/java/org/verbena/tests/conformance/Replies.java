// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/**
 * How results of jobs come back from a {@link ConformancePeer}. Nearly all are a truth value or a number, which takes a few
 * bytes here and a hundred, with classes to be found by name, in serialised form.
 */
final class Replies {
    private static final byte OBJECT = 0;
    private static final byte TRUE = 1;
    private static final byte FALSE = 2;
    private static final byte INT = 3;
    private static final byte LONG = 4;

    private Replies() {}

    /** A result, or what was thrown. */
    record Reply(boolean failed, Object value) implements Serializable {}

    static void write(DataOutputStream out, Reply r) throws IOException {
        switch (r.value()) {
            case Boolean b -> out.writeByte(b ? TRUE : FALSE);
            case Integer i -> {
                out.writeByte(INT);
                out.writeInt(i);
            }
            case Long l -> {
                out.writeByte(LONG);
                out.writeLong(l);
            }
            case null, default -> {
                byte[] bytes = serialised(r);
                out.writeByte(OBJECT);
                out.writeInt(bytes.length);
                out.write(bytes);
            }
        }
        out.flush();
    }

    private static byte[] serialised(Reply r) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(r);
        } catch (NotSerializableException e) {
            return serialised(new Reply(true, new AssertionError("cannot be sent back: " + r.value() + " because of "
                    + e)));
        }
        return bytes.toByteArray();
    }

    static Reply read(DataInputStream in) throws IOException, ClassNotFoundException {
        byte kind = in.readByte();
        return switch (kind) {
            case TRUE, FALSE -> new Reply(false, kind == TRUE);
            case INT -> new Reply(false, in.readInt());
            case LONG -> new Reply(false, in.readLong());
            default -> object(in);
        };
    }

    private static Reply object(DataInputStream in) throws IOException, ClassNotFoundException {
        int length = in.readInt();
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("in a reply");
        }
        try (ObjectInputStream from = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return (Reply) from.readObject();
        }
    }
}
