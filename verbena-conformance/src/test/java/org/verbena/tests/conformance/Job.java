// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;

/**
 * Work at an end of a connection, wherever that end lives. A lambda that becomes a job may use only its parameter,
 * static members and local values that can be serialised.
 *
 * @param <R> the result; it can be serialised
 */
@FunctionalInterface
interface Job<R> extends Serializable {
    R run(End end) throws Exception;
}
