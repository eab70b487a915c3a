// SPDX-License-Identifier: Apache-2.0
/**
 * The provider {@code roce_<netdev>}: the verbs API over the InfiniBand transport of {@code org.verbena.roce.transport}.
 *
 * <p>It has what an application touches: contexts, protection domains, keys, queues, completion queues, and the rules of
 * the API that no packet is needed for. It knows no packet. All of a context that the transport uses is guarded by one
 * {@link org.verbena.roce.ContextLock}; whoever posts, polls and finds nothing, or the context's own thread takes it and
 * makes progress for all.
 */
package org.verbena.roce;
