// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

/** How the two ends of a connection are related. */
public enum Topology {
    /** Two queue pairs of one context. */
    ONE_CONTEXT,
    /** Two contexts of the same device in this JVM. */
    TWO_CONTEXTS,
    /** The far end lives in a second JVM. */
    TWO_PROCESSES
}
