// SPDX-License-Identifier: Apache-2.0
/**
 * RDMA verbs for Java.
 *
 * <p>An application opens a {@link org.verbena.verbs.Device}, allocates a {@link org.verbena.verbs.ProtectionDomain},
 * registers memory, creates completion queues and queue pairs, connects them by hand or with the
 * {@link org.verbena.verbs.ConnectionManager}, posts work and polls completions. Names are those of the C API
 * (libibverbs, librdmacm) spelled out in Java case, and constants keep its values.
 *
 * <p>The control path (open, create, modify, register) throws {@link org.verbena.verbs.VerbsException}. The data path
 * (post, poll) allocates nothing, throws nothing and takes no lock: it answers 0 or an errno. {@code SendQueue} names
 * the two exceptions.
 *
 * <p>The API grows without breaking what was compiled against it. A later version may add methods with a body, fields
 * of attribute objects and constants; nothing is removed or renumbered.
 * <ul>
 * <li>What goes in (attribute objects) is built and carries a mask of the optional fields that were set, see
 * {@link org.verbena.verbs.CompMask}; a provider refuses those that it does not know with {@code EOPNOTSUPP}.
 * <li>What comes out ({@code DeviceAttributes}, {@code PortAttributes}, {@code Values}, events) is built by the
 * provider. What it did not say reads as absent: an empty {@code OptionalInt} or {@code OptionalLong}, or null for an
 * object; only numbers which the C API has had from its beginning read as 0 and names as the empty string.
 * <li>Open sets (types, opcodes, statuses, events) are numbers with a class of constants; a number that this version
 * does not know prints as itself. The states of a queue pair are an enum, for the specification's set is complete.
 * <li>{@link org.verbena.verbs.Context#supports} may be asked for anything, including features unknown to this version.
 * </ul>
 *
 * <p>What this package is not: a transport. Bytes are moved by providers, see {@link org.verbena.verbs.spi}.
 */
package org.verbena.verbs;
