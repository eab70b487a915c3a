// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

import org.verbena.testkit.Thorough;

/**
 * Of tests with a parameter for the carrier, those whose bytes go by the provider. What they do over TCP has
 * been seen by the run over {@code shm0}; with {@code -Dthorough} it is seen again.
 */
public final class CarriedByProvider implements InvocationInterceptor {
    private static final Set<String> CARRIERS = Set.of("org.verbena.sockets.nio.Carrier",
            "org.verbena.sockets.async.Ends");

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> invocation,
            ReflectiveInvocationContext<Method> called, ExtensionContext extension) throws Throwable {
        List<Object> arguments = called.getArguments();
        boolean elsewhere = !Thorough.ON && arguments.stream()
                .anyMatch(a -> a instanceof Enum<?> e && CARRIERS.contains(e.getDeclaringClass().getName()) && !e.name()
                        .equals("RING"));
        Assumptions.assumeFalse(elsewhere, "not carried by the provider");
        invocation.proceed();
    }
}
