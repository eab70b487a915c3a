// SPDX-License-Identifier: Apache-2.0
package judge;

/**
 * What a judge ({@code Judged}) has put into java.base: asked at the beginning of methods of the JDK, it refuses callers that
 * are not modules of the JVM's start; the program's class path is allowed by the system property {@code judge.allows}.
 */
public final class Gate {
    private static final StackWalker STACK = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private Gate() {}

    public static void check() {
        Class<?> caller = STACK.walk(frames -> frames.skip(2).findFirst()) // this one, and the method that asks
                .<Class<?>>map(StackWalker.StackFrame::getDeclaringClass).orElse(Gate.class);
        Module m = caller.getModule();
        boolean allowed = m.isNamed()
                ? m.getLayer() == ModuleLayer.boot()
                : caller.getClassLoader() == ClassLoader.getSystemClassLoader() && Boolean.getBoolean("judge.allows");
        if (!allowed) {
            throw new SecurityException("refused to " + caller.getName());
        }
    }
}
