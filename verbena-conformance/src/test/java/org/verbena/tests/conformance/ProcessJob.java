// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;

/**
 * Something to do in a process; the rules of {@link Job} hold.
 *
 * @param <R> what comes back; it can be serialised
 */
@FunctionalInterface
interface ProcessJob<R> extends Serializable {
    R run(ConformanceFixture fixture) throws Exception;
}
