// SPDX-License-Identifier: Apache-2.0
/** Drawings of figures that were measured. */
@org.jspecify.annotations.NullMarked
package org.verbena.bench.plot;
