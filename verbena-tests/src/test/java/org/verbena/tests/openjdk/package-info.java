// SPDX-License-Identifier: Apache-2.0
/**
 * Runs OpenJDK's own tests of {@code java.nio.channels} on the JDK's selector provider and on ours. The tests are
 * fetched when they are run; none of them is part of this project.
 */
package org.verbena.tests.openjdk;
