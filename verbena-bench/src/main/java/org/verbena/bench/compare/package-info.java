// SPDX-License-Identifier: Apache-2.0
/** Verbena beside its peers, in one run: {@link org.verbena.bench.compare.Compare}. See docs/benchmarks.md. */
package org.verbena.bench.compare;
