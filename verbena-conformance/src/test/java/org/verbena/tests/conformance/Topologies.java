// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

import org.verbena.testkit.Thorough;

/**
 * A group of the suite for which some topologies test nothing new: it runs on those named here, by default on one
 * context and in two processes, and with {@code -Dthorough} on every {@link Topology}, or on those that {@code
 * -Dverbena.test.topologies} names.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedClass
@ArgumentsSource(Topologies.Wanted.class)
@interface Topologies {
    /** Whether all topologies are wanted. */
    boolean EVERY = Thorough.ON || System.getProperty("verbena.test.topologies") != null;

    Topology[] value() default {Topology.ONE_CONTEXT, Topology.TWO_PROCESSES};

    /** Those of this run. */
    final class Wanted implements ArgumentsProvider, AnnotationConsumer<Topologies> {
        private List<Topology> named = List.of();

        @Override
        public void accept(Topologies group) {
            named = List.of(group.value());
        }

        @Override
        public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters,
                ExtensionContext context) {
            return Stream.of(Topology.values()).filter(t -> EVERY || named.contains(t)).map(Arguments::of);
        }
    }
}
