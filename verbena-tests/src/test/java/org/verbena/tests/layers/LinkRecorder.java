// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Loads the classes of {@code org.verbena.linux} once more, changed: they tell here of each place of theirs that hands on the signature
 * of a C function, and of each function that they link.
 */
public final class LinkRecorder extends ClassLoader {
    private static final String RECORDED = "org.verbena.linux.";
    private static final ClassDesc SIGNATURE = desc(FunctionDescriptor.class);
    private static final ClassDesc LINKER = desc(Linker.class);
    private static final ClassDesc HERE = desc(LinkRecorder.class);

    /** A function that was linked. */
    record Linked(FunctionDescriptor type, List<Linker.Option> options) {}

    private static final Set<String> REACHED = ConcurrentHashMap.newKeySet();
    private static final Set<Linked> LINKED = ConcurrentHashMap.newKeySet();

    LinkRecorder() {
        super(LinkRecorder.class.getClassLoader());
    }

    private static ClassDesc desc(Class<?> type) {
        return type.describeConstable().orElseThrow();
    }

    /** The places in a class that pass a signature on, each by a name of its own. */
    static List<String> sites(ClassModel type) {
        List<String> sites = new ArrayList<>();
        for (MethodModel method : type.methods()) {
            method.code().ifPresent(code -> {
                int n = 0;
                for (var element : code) {
                    if (element instanceof InvokeInstruction call && passesSignature(call)) {
                        sites.add(site(type, method, n++));
                    }
                }
            });
        }
        return sites;
    }

    private static boolean passesSignature(InvokeInstruction call) {
        return call.typeSymbol().parameterList().contains(SIGNATURE);
    }

    private static String site(ClassModel type, MethodModel method, int n) {
        return type.thisClass().asInternalName().replace('/', '.') + "." + method.methodName().stringValue() + " " + n;
    }

    /** The sites that have been reached. */
    static Set<String> reached() {
        return Set.copyOf(REACHED);
    }

    /** What has been linked. */
    static Set<Linked> linked() {
        return Set.copyOf(LINKED);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(RECORDED)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] changed = change(in.readAllBytes());
                return defineClass(name, changed, 0, changed.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static byte[] change(byte[] bytes) {
        ClassFile file = ClassFile.of();
        ClassModel type = file.parse(bytes);
        return file.transformClass(type, (builder, element) -> {
            if (element instanceof MethodModel method) {
                builder.transformMethod(method, MethodTransform.transformingCode(telling(type, method)));
            } else {
                builder.with(element);
            }
        });
    }

    private static CodeTransform telling(ClassModel type, MethodModel method) {
        int[] n = {0};
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !passesSignature(call)) {
                code.with(element);
                return;
            }
            code.ldc(site(type, method, n[0]++));
            code.invokestatic(HERE, "reach", MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String));
            if (call.owner().asSymbol().equals(LINKER)) {
                code.invokestatic(HERE, call.name().stringValue(), call.typeSymbol().insertParameterTypes(0, LINKER));
            } else {
                code.with(element);
            }
        };
    }

    // ---- what the changed classes call

    /** A site is being passed. */
    public static void reach(String site) {
        REACHED.add(site);
    }

    /** {@link Linker#downcallHandle(MemorySegment, FunctionDescriptor, Linker.Option...)}. */
    public static MethodHandle downcallHandle(Linker linker, MemorySegment symbol, FunctionDescriptor type,
            Linker.Option[] options) {
        LINKED.add(new Linked(type, List.of(options)));
        return linker.downcallHandle(symbol, type, options);
    }

    /** {@link Linker#downcallHandle(FunctionDescriptor, Linker.Option...)}. */
    public static MethodHandle downcallHandle(Linker linker, FunctionDescriptor type, Linker.Option[] options) {
        LINKED.add(new Linked(type, List.of(options)));
        return linker.downcallHandle(type, options);
    }
}
