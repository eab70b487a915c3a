// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;

/**
 * Work in a process; the rules of {@link Job} apply.
 *
 * @param <R> the result; it can be serialised
 */
@FunctionalInterface
interface ProcessJob<R> extends Serializable {
    R run(ConformanceFixture fixture) throws Exception;
}
