// SPDX-License-Identifier: Apache-2.0
/**
 * The provider of every device that libibverbs finds: the C library is loaded when it is there, and called as it is, with
 * no native code of ours.
 *
 * <p>Three kinds of verbs, as in C. Exported ones are symbols ({@link org.verbena.rdmacore.IbvFunction}). Inline ones are
 * pointers in the context's table ({@link org.verbena.rdmacore.Layout}). Extended ones are slots that lie below the
 * context ({@link org.verbena.rdmacore.Slot}), and are there only if the library is new enough. What is missing answers
 * {@code EOPNOTSUPP}. The data path fills native work requests that are made once, and calls by cached addresses.
 *
 * <p>What this is not: a driver. Which operations and limits there are is the device's business, and so is what becomes of
 * an error.
 */
package org.verbena.rdmacore;
