// SPDX-License-Identifier: Apache-2.0
/**
 * Primitives for sibling modules of Verbena below the checked classes: raw system calls and memory by address.
 *
 * <p>Exported to named modules of Verbena only. <strong>Callers check bounds</strong>: an address that is not mapped
 * ends the JVM. Code that keeps a raw address also keeps its owner (a {@code Mapping}, an arena) reachable.
 */
package org.verbena.linux.spi;
