// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Marks a test of further combinations of what another test shows in brief: it runs with {@code -Dthorough} only. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(named = "thorough", matches = ".*")
public @interface Thorough {
    /** Whether everything is tested in full; without it, what is repeated takes a small number. */
    boolean ON = System.getProperty("thorough") != null;
}
