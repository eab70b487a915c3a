// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Of a test of more combinations of what another one shows in brief: it runs with {@code -Dthorough} only. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(named = "thorough", matches = ".*")
public @interface Thorough {
    /** Whether all is tested in full. */
    boolean ON = System.getProperty("thorough") != null;
}
