// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.AnnotationSupport;

import org.verbena.testkit.Thorough;

/** A test that depends on the moment, and runs several times; with {@code -Dthorough} more often. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(Rounds.Wanted.class)
@interface Rounds {
    int value();

    int thorough();

    /** Those of this run. */
    final class Wanted implements TestTemplateInvocationContextProvider {
        @Override
        public boolean supportsTestTemplate(ExtensionContext context) {
            return true;
        }

        @Override
        public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
            Rounds r = AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), Rounds.class).orElseThrow();
            return IntStream.range(0, Thorough.ON ? r.thorough() : r.value())
                    .mapToObj(i -> new TestTemplateInvocationContext() {});
        }
    }
}
