// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Label;
import java.lang.classfile.MethodBuilder;
import java.lang.classfile.MethodElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.StackMapFrameInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.ObjectVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.SimpleVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo;
import java.lang.classfile.attribute.StackMapTableAttribute;
import java.lang.classfile.constantpool.ConstantPoolBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Prepends the instructions of a {@link MethodPatch} to those of a method, by the JDK's Class-File API. All other
 * methods are copied as they are. The method keeps its frames, line numbers and exception table; other debug
 * information is dropped.
 *
 * <p>The frames are not generated anew: for that the API would load classes, or read them by the program's class
 * loader, while this thread transforms a class.
 *
 * <p>Every program with the agent pays for the first use of the API, about 10 ms: docs/decisions/class-files.md.
 * Therefore no {@code ClassTransform}, whose composition uses lambdas, and no lambdas here.
 */
final class MethodPrefix implements Consumer<CodeBuilder> {
    private static final ClassFile FILES = ClassFile.of(ClassFile.StackMapsOption.DROP_STACK_MAPS,
            ClassFile.DebugElementsOption.DROP_DEBUG);

    private final MethodPatch patch;
    private final ClassModel type;
    private final MethodModel method;
    private final CodeModel code;

    private MethodPrefix(MethodPatch patch, ClassModel type, MethodModel method, CodeModel code) {
        this.patch = patch;
        this.type = type;
        this.method = method;
        this.code = code;
    }

    /**
     * The class file with the patch.
     *
     * @throws RuntimeException if it has no such method with code, or the patch cannot be applied to it
     */
    static byte[] prepend(MethodPatch patch, byte[] original) {
        ClassModel type = FILES.parse(original);
        for (MethodModel m : type.methods()) {
            if (m.methodName().equalsString(patch.method()) && m.methodType().equalsString(patch.descriptor())) {
                for (MethodElement e : m) {
                    if (e instanceof CodeModel code) {
                        return new MethodPrefix(patch, type, m, code).file();
                    }
                }
            }
        }
        throw new IllegalStateException("it has no method " + patch.method() + patch.descriptor());
    }

    private byte[] file() {
        return FILES.build(type.thisClass(), ConstantPoolBuilder.of(type), new Consumer<ClassBuilder>() {
            @Override
            public void accept(ClassBuilder to) {
                for (ClassElement e : type) {
                    if (e == method) {
                        to.withMethod(method.methodName(), method.methodType(), method.flags().flagsMask(), body());
                    } else {
                        to.with(e);
                    }
                }
            }
        });
    }

    private Consumer<MethodBuilder> body() {
        return new Consumer<>() {
            @Override
            public void accept(MethodBuilder to) {
                for (MethodElement e : method) {
                    if (e == code) {
                        to.withCode(MethodPrefix.this);
                    } else {
                        to.with(e);
                    }
                }
            }
        };
    }

    /** Writes the instructions of the method, with the prefix. */
    @Override
    public void accept(CodeBuilder to) {
        ClassDesc result = patch.resultType();
        patch.pushResult(to);
        Label own = to.newLabel();
        if (result == null) {
            to.ifeq(own);
        } else {
            to.dup().ifnull(own);
        }
        patch.returnResult(to);
        to.labelBinding(own);
        if (result == null) {
            to.nop(); // the method may have a frame of its own at its first instruction
        } else {
            to.pop();
        }
        for (CodeElement e : code) {
            to.with(e);
        }
        List<StackMapFrameInfo> frames = new ArrayList<>();
        frames.add(StackMapFrameInfo.of(own, parameters(),
                result == null ? List.of() : List.of(ObjectVerificationTypeInfo.of(result))));
        Optional<StackMapTableAttribute> others = code.findAttribute(Attributes.stackMapTable());
        if (others.isPresent()) {
            frames.addAll(others.get().entries());
        }
        to.with(StackMapTableAttribute.of(frames));
    }

    /** The local variables where the method begins. */
    private List<VerificationTypeInfo> parameters() {
        List<VerificationTypeInfo> all = new ArrayList<>();
        if ((method.flags().flagsMask() & ClassFile.ACC_STATIC) == 0) {
            all.add(ObjectVerificationTypeInfo.of(type.thisClass()));
        }
        MethodTypeDesc types = method.methodTypeSymbol();
        for (int i = 0; i < types.parameterCount(); i++) {
            ClassDesc t = types.parameterType(i);
            all.add(switch (t.descriptorString().charAt(0)) {
                case 'J' -> SimpleVerificationTypeInfo.LONG;
                case 'F' -> SimpleVerificationTypeInfo.FLOAT;
                case 'D' -> SimpleVerificationTypeInfo.DOUBLE;
                case 'L', '[' -> ObjectVerificationTypeInfo.of(t);
                default -> SimpleVerificationTypeInfo.INTEGER;
            });
        }
        return all;
    }
}
