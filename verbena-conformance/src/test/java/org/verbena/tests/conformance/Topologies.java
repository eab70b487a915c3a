// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * A group of the suite for which two contexts of a process are nothing that one context and two processes are not: it runs
 * on those two, and with {@code -Dthorough} on every {@link Topology}, as it does where
 * {@code -Dverbena.test.topologies} names them.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedClass
@ArgumentsSource(Topologies.Wanted.class)
@interface Topologies {
    /** Those of this run. */
    final class Wanted implements ArgumentsProvider {
        @Override
        public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters,
                ExtensionContext context) {
            boolean every = Thorough.wanted()
                    || System.getProperty("verbena.test.topologies") != null;
            return Stream.of(Topology.values()).filter(t -> every || t != Topology.TWO_CONTEXTS).map(Arguments::of);
        }
    }
}
