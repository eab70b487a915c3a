// SPDX-License-Identifier: Apache-2.0
/** What benchmarks and concurrency tests share. */
package org.verbena.bench;
