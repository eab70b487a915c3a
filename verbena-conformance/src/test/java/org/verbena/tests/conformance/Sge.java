// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;

/**
 * A buffer of a work request.
 *
 * @param own whether {@code at} is an offset into the end's own region; else it is an address of the region of
 *        {@code lkey}
 */
record Sge(boolean own, int lkey, long at, long length) implements Serializable {}
