// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/** A service that connections are asked of. Called under the agent's lock; throws nothing and waits for nothing. */
@FunctionalInterface
public interface CmService {
    /**
     * Somebody wants to connect. {@link CmConnection#accept} or {@link CmConnection#reject} is due, now or later.
     *
     * @return 0, or the {@link RejectReason} for which the request is not even taken
     */
    int requested(CmConnection connection, CmMessage.Req request);
}
