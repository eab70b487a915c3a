// SPDX-License-Identifier: Apache-2.0
/**
 * The provider {@code roce_<netdev>}: the verbs API over the InfiniBand transport of
 * {@code org.verbena.roce.transport}.
 *
 * <p>It has the objects that an application uses: contexts, protection domains, keys, queues, completion queues, and
 * the rules of the API that need no packet. It does not know packets. Everything of a context that the transport uses
 * is guarded by one {@link org.verbena.roce.ContextLock}; a thread that posts, a thread that polls and finds nothing,
 * or the context's own thread takes it and makes progress for all.
 */
package org.verbena.roce;
