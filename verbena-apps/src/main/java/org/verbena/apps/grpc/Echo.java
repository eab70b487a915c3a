// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.grpc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;

/** A service with messages that are bytes. */
final class Echo {
    static final String NAME = "Echo";
    /** Answers with the bytes it takes. */
    static final MethodDescriptor<byte[], byte[]> ONE = method("One", MethodType.UNARY);
    /** Answers with them {@link #REPEATED} times. */
    static final MethodDescriptor<byte[], byte[]> MANY = method("Many", MethodType.SERVER_STREAMING);
    static final int REPEATED = 1000;

    private Echo() {}

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
        return MethodDescriptor.<byte[], byte[]>newBuilder(new Bytes(), new Bytes()).setType(type).setFullMethodName(
                MethodDescriptor.generateFullMethodName(NAME, name)).build();
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] bytes) {
            return new ByteArrayInputStream(bytes);
        }

        @Override
        public byte[] parse(InputStream in) {
            try {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
