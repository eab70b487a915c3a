// SPDX-License-Identifier: Apache-2.0
/**
 * What a provider implements: {@link org.verbena.verbs.spi.VerbsProvider}, found by {@link java.util.ServiceLoader}.
 *
 * <p>A provider subclasses the API's abstract classes ({@code Device}, {@code Context}, {@code QueuePair}, …) and fills
 * in their protected {@code impl…} methods. The public methods around them check what every provider has to refuse, so
 * that it is refused alike everywhere. No abstract method is ever added to a published class: a new verb comes with a
 * body that answers {@code EOPNOTSUPP}, which is what a provider built before it inherits.
 *
 * <p>The other classes are a toolkit of what Verbena's providers need alike. Of this package only the contract,
 * {@code VerbsProvider} and {@code ApiRange}, keeps its form from version to version.
 */
package org.verbena.verbs.spi;
