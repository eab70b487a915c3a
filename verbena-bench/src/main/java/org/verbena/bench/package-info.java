// SPDX-License-Identifier: Apache-2.0
/** The base of benchmarks and concurrency tests. */
package org.verbena.bench;
