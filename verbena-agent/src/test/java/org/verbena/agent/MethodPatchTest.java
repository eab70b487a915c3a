// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.attribute.StackMapFrameInfo;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.LineNumber;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** What the patch writes, read and verified by the JDK's Class-File API. */
class MethodPatchTest {
    private static final ClassFile FILES = ClassFile.of(ClassFile.DeadCodeOption.KEEP_DEAD_CODE);

    private static byte[] classFile(String name) throws IOException {
        try (InputStream in = Object.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    private static CodeModel code(byte[] file, String method, String descriptor) {
        for (MethodModel m : FILES.parse(file).methods()) {
            if (m.methodName().equalsString(method) && m.methodType().equalsString(descriptor)) {
                return m.code().orElseThrow();
            }
        }
        throw new AssertionError(method + descriptor);
    }

    private static List<Opcode> opcodes(CodeModel code) {
        List<Opcode> all = new ArrayList<>();
        for (CodeElement e : code) {
            if (e instanceof Instruction i) {
                all.add(i.opcode());
            }
        }
        return all;
    }

    private static <T> long count(CodeModel code, Class<T> kind) {
        return code.elementStream().filter(kind::isInstance).count();
    }

    private static List<Integer> lines(CodeModel code) {
        return code.elementStream().filter(LineNumber.class::isInstance).map(e -> ((LineNumber) e).line()).toList();
    }

    /** The types of each frame. */
    private static List<String> frames(CodeModel code) {
        List<String> all = new ArrayList<>();
        code.findAttribute(Attributes.stackMapTable()).ifPresent(table -> {
            for (StackMapFrameInfo f : table.entries()) {
                all.add(f.locals().stream().map(MethodPatchTest::name).toList() + " "
                        + f.stack().stream().map(MethodPatchTest::name).toList());
            }
        });
        return all;
    }

    private static String name(StackMapFrameInfo.VerificationTypeInfo type) {
        return type instanceof StackMapFrameInfo.ObjectVerificationTypeInfo o
                ? o.className().asInternalName()
                : Integer.toString(type.tag());
    }

    private static void assertPrefixed(byte[] original, byte[] patched, String method, String descriptor) {
        assertThat(FILES.verify(patched)).isEmpty();
        CodeModel before = code(original, method, descriptor);
        CodeModel after = code(patched, method, descriptor);
        List<Opcode> own = opcodes(before);
        List<Opcode> all = opcodes(after);
        assertThat(all.subList(all.size() - own.size(), all.size())).isEqualTo(own);
        boolean number = descriptor.endsWith("J");
        List<Opcode> end = number ? List.of(Opcode.LRETURN, Opcode.NOP) : List.of(Opcode.ARETURN, Opcode.POP);
        Opcode branch = number ? Opcode.IFEQ : Opcode.IFNULL;
        assertThat(all.subList(0, all.size() - own.size())).endsWith(end.toArray(Opcode[]::new)).contains(branch);
        assertThat(lines(after)).isEqualTo(lines(before));
        List<String> types = frames(after);
        assertThat(types.subList(1, types.size())).isEqualTo(frames(before));
        assertThat(count(after, ExceptionCatch.class)).isEqualTo(count(before, ExceptionCatch.class));
        ClassModel whole = FILES.parse(patched);
        assertThat(whole.methods()).hasSameSizeAs(FILES.parse(original).methods());
    }

    @Test
    void jdkMethodsGetPrefix() throws IOException {
        byte[] server = classFile("java.net.ServerSocket");
        assertPrefixed(server, SocketPatch.accepting().patch(server), "platformImplAccept", "()Ljava/net/SocketImpl;");
        byte[] impl = classFile("java.net.SocketImpl");
        assertPrefixed(impl, SocketPatch.creating().patch(impl), "createPlatformSocketImpl",
                "(Z)Ljava/net/SocketImpl;");
        for (String[] m : new String[][] {{"sun.nio.ch.DefaultAsynchronousChannelProvider", "create"},
            {"java.nio.channels.spi.AsynchronousChannelProvider", "provider"}}) {
            byte[] asynchronous = classFile(m[0]);
            assertPrefixed(asynchronous, AsynchronousPatch.patch(m[0], m[1]).patch(asynchronous), m[1],
                    "()Ljava/nio/channels/spi/AsynchronousChannelProvider;");
        }
        byte[] file = classFile("sun.nio.ch.FileChannelImpl");
        assertPrefixed(file, new TransferPatch().patch(file), "transferTo",
                "(JJLjava/nio/channels/WritableByteChannel;)J");
        assertPrefixed(file, new TransferPatch().patch(file), "transferFrom",
                "(Ljava/nio/channels/ReadableByteChannel;JJ)J");
    }

    /** Methods with switches, loops, exceptions, objects half made, in all lengths. */
    @Test
    void methodReturningObjectGetsPrefix() throws IOException {
        int changed = 0;
        Path base = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules/java.base/java");
        List<Path> files;
        try (Stream<Path> net = Files.list(base.resolve("net")); Stream<Path> text = Files.list(base.resolve("text"))) {
            files = Stream.concat(net, text).filter(f -> f.toString().endsWith(".class")).toList();
        }
        for (Path f : files) {
            byte[] original = Files.readAllBytes(f);
            for (MethodModel m : FILES.parse(original).methods()) {
                String descriptor = m.methodType().stringValue();
                int result = descriptor.indexOf(')') + 1;
                if (m.code().isEmpty() || descriptor.charAt(result) != 'L') {
                    continue;
                }
                String answer = descriptor.substring(result + 1, descriptor.length() - 1);
                String name = m.methodName().stringValue();
                byte[] patched = new HookPatch("", name, descriptor, "question", null,
                        ClassDesc.ofInternalName(answer)).patch(original);
                assertPrefixed(original, patched, name, descriptor);
                changed++;
            }
        }
        assertThat(changed).isGreaterThan(500);
    }

    @Test
    void missingMethodIsReported() throws IOException {
        byte[] original = classFile("java.net.ServerSocket");
        MethodPatch none = new HookPatch("java.net.ServerSocket", "none", "()Ljava/lang/Object;",
                "question", null, ConstantDescs.CD_Object);
        assertThatThrownBy(() -> none.patch(original)).hasMessage("it has no method none()Ljava/lang/Object;");
    }
}
