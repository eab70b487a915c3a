// SPDX-License-Identifier: Apache-2.0
/**
 * The provider of every device that libibverbs finds: the C library is loaded if it is installed, and called without
 * any native code of ours.
 *
 * <p>Three kinds of verbs, as in C. Exported ones are symbols ({@link org.verbena.rdmacore.IbvFunction}). Inline ones
 * are pointers in the context's table ({@link org.verbena.rdmacore.Layout}). Extended ones are slots below the context
 * ({@link org.verbena.rdmacore.Slot}), and exist only if the library is new enough. A missing verb results in
 * {@code EOPNOTSUPP}. The data path fills native work requests that are made once, and calls by cached addresses.
 *
 * <p>This is not a driver. The supported operations, the limits and the handling of errors are the device's.
 */
package org.verbena.rdmacore;
