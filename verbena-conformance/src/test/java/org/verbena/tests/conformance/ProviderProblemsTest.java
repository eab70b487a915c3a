// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/** A broken provider affects only itself: it is named, and the others are listed. */
class ProviderProblemsTest {
    /** Nothing to open: the second JVM only reads the list. */
    static final class NoDevice implements ConformanceFixture {
        @Override
        public Context open() throws VerbsException {
            throw new VerbsException("open", Errno.ENODEV, "there is none");
        }
    }

    /** A provider that works, so that it can be hidden. */
    public static class Good implements VerbsProvider {
        @Override
        public String name() {
            return getClass().getSimpleName();
        }

        @Override
        public ApiRange apiRange() {
            return ApiRange.from(1);
        }

        @Override
        public List<Device> devices() throws VerbsException {
            return List.of(new GoodDevice());
        }
    }

    private static final class GoodDevice extends Device {
        @Override
        public String name() {
            return "good0";
        }

        @Override
        public String provider() {
            return "Good";
        }

        @Override
        public String transport() {
            return "none";
        }

        @Override
        public long guid() {
            return 1;
        }

        @Override
        protected Context implOpen() throws VerbsException {
            throw new VerbsException("open good0", Errno.ENODEV, "it is only for show");
        }
    }

    /** The constructor throws. */
    public static final class BadConstructor extends Good {
        public BadConstructor() {
            throw new IllegalStateException("no constructor today");
        }
    }

    /** The class cannot be initialised. */
    public static final class BadInitializer extends Good {
        static final int NUMBER = Integer.parseInt("no number");
    }

    /** Built for a later API. */
    public static final class FromTheFuture extends Good {
        @Override
        public ApiRange apiRange() {
            return ApiRange.of(Verbs.apiLevel() + 1, Verbs.apiLevel() + 9);
        }
    }

    /** Its range is invalid. */
    public static final class EmptyRange extends Good {
        @Override
        public ApiRange apiRange() {
            return ApiRange.of(3, 2);
        }
    }

    /** Its list fails like a program with a bug. */
    public static final class BadList extends Good {
        @Override
        public List<Device> devices() {
            throw new UnsupportedOperationException("no list today");
        }
    }

    /** Its list reports that the machine does not support it. */
    public static final class NotHere extends Good {
        @Override
        public List<Device> devices() throws VerbsException {
            throw new VerbsException("list devices", Errno.ENODEV, "load the module first");
        }
    }

    /** Returns an invalid value. */
    public static final class NullList extends Good {
        @Override
        @SuppressWarnings("NullAway")
        public List<Device> devices() {
            return null;
        }
    }

    /** Not a provider at all. */
    public static final class NoProvider {}

    /** No constructor that the loader can call. */
    public static final class NoConstructor extends Good {
        public NoConstructor(int number) {
            assertThat(number).isZero();
        }
    }

    @TempDir Path folder;

    private record Seen(ArrayList<String> devices, ArrayList<String> problems) implements java.io.Serializable {}

    /**
     * Reads the list in a fresh JVM with these lines of a service file. The problem that there may be no RDMA device is
     * left out.
     */
    private Seen look(List<String> lines) throws Exception {
        Path file = folder.resolve("META-INF/services/" + VerbsProvider.class.getName());
        Files.createDirectories(file.getParent());
        Files.write(file, lines);
        try (PeerProcess p = PeerProcess.start(NoDevice.class, PeerProcess.classPathWith(folder), List.of())) {
            return p.run(fixture -> new Seen(
                    new ArrayList<>(Verbs.devices().stream().map(Device::name).toList()), new ArrayList<>(Verbs
                            .problems().stream().filter(s -> !s.startsWith("provider rdmacore: ")).toList())));
        }
    }

    private static String nameOf(Class<?> c) {
        return c.getName();
    }

    private static void assertNamed(Seen s, String... words) {
        assertThat(s.problems).as("a problem with " + String.join(", ", words))
                .anySatisfy(p -> assertThat(p).contains(words));
    }

    @Test
    void healthyProvidersReportNoProblem() throws Exception {
        Seen s = look(List.of(nameOf(Good.class)));
        assertThat(s.devices).contains("good0");
        assertThat(s.problems).isEmpty();
    }

    @Test
    void brokenProvidersAreNamedAndOthersListed() throws Exception {
        List<String> before = look(List.of()).devices;
        writeProviderOfMissingClass();
        Files.write(folder.resolve("Garbage.class"), new byte[] {1, 2, 3, 4});
        Seen s = look(List.of(nameOf(BadConstructor.class), nameOf(BadInitializer.class), nameOf(FromTheFuture.class),
                nameOf(EmptyRange.class), nameOf(BadList.class), nameOf(NotHere.class), nameOf(NullList.class),
                nameOf(NoProvider.class), nameOf(NoConstructor.class), "no.such.Provider", "DoesNotLink", "Garbage",
                "# a comment", "", nameOf(Good.class)));
        assertNamed(s, "BadConstructor", "no constructor today");
        assertNamed(s, "BadInitializer", "no number");
        assertNamed(s, "FromTheFuture", Integer.toString(Verbs.apiLevel()), Integer.toString(Verbs.apiLevel() + 1));
        assertNamed(s, "EmptyRange", "3..2");
        assertNamed(s, "BadList", "no list today");
        assertNamed(s, "NotHere", "load the module first");
        assertNamed(s, "NullList");
        assertNamed(s, "NoProvider");
        assertNamed(s, "NoConstructor");
        assertNamed(s, "no.such.Provider");
        assertNamed(s, "DoesNotLink", "no/such/Superclass");
        assertNamed(s, "Garbage");
        assertThat(s.problems).hasSize(12).doesNotHaveDuplicates();
        assertThat(s.devices).contains("good0").containsAll(before).hasSize(before.size() + 1);
    }

    @Test
    void invalidServiceFileHidesNoOtherProvider() throws Exception {
        List<String> before = look(List.of()).devices;
        Seen s = look(List.of("this is not a class name", "\u0000", "1;2"));
        assertThat(s.problems).isNotEmpty();
        assertThat(s.devices).containsExactlyElementsOf(before);
    }

    /** A class file whose superclass is missing. */
    private void writeProviderOfMissingClass() throws Exception {
        byte[] bytes = ClassFile.of().build(ClassDesc.of("DoesNotLink"),
                b -> b.withFlags(ClassFile.ACC_PUBLIC).withSuperclass(ClassDesc.of("no.such.Superclass"))
                        .withInterfaceSymbols(ClassDesc.of(VerbsProvider.class.getName()))
                        .withMethodBody(ConstantDescs.INIT_NAME, MethodTypeDesc.of(ConstantDescs.CD_void),
                                ClassFile.ACC_PUBLIC, c -> c.aload(0).invokespecial(ClassDesc.of("no.such.Superclass"),
                                        ConstantDescs.INIT_NAME, MethodTypeDesc.of(ConstantDescs.CD_void)).return_()));
        Files.write(folder.resolve("DoesNotLink.class"), bytes);
    }
}
