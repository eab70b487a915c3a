/**
 * RDMA verbs for Java.
 *
 * <p>An application opens a {@link org.verbena.verbs.Device}, allocates a {@link org.verbena.verbs.ProtectionDomain},
 * registers memory, creates completion queues and queue pairs, connects them by hand or with the
 * {@link org.verbena.verbs.ConnectionManager}, posts work and polls completions. Names are those of the C API
 * (libibverbs, librdmacm) spelled out in Java case, and constants keep its values.
 *
 * <p>The control path (open, create, modify, register) throws {@link org.verbena.verbs.VerbsException}. The data path
 * (post, poll) allocates nothing, throws nothing and takes no lock: it answers 0 or an errno.
 *
 * <p>What this package is not: a transport. Bytes are moved by providers, see {@link org.verbena.verbs.spi}.
 */
package org.verbena.verbs;
