// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** An exclusion whose name matches no test of the suite would have no effect. */
class LeftOutTest {
    @TestFactory
    Stream<DynamicTest> everyNameIsAGroupOrATest() {
        Set<String> suite = names();
        return Stream.of(new LeftOutOnRxe(), new RoceConformanceTest.Missing())
                .map(list -> DynamicTest.dynamicTest(list.getClass().getSimpleName(),
                        () -> assertThat(suite).containsAll(list.names())));
    }

    /** The groups of the suite, and their tests as {@code Group.test}. */
    private static Set<String> names() {
        Set<String> all = new HashSet<>();
        for (Class<?> suite = VerbsConformance.class; suite != Object.class; suite = suite.getSuperclass()) {
            for (Class<?> group : suite.getDeclaredClasses()) {
                all.add(group.getSimpleName());
                for (Class<?> c = group; c != Object.class; c = c.getSuperclass()) {
                    Arrays.stream(c.getDeclaredMethods()).filter(LeftOutTest::isTest)
                            .forEach(method -> all.add(group.getSimpleName() + "." + method.getName()));
                }
            }
        }
        return all;
    }

    private static boolean isTest(Method method) {
        return method.getAnnotations().length > 0;
    }
}
