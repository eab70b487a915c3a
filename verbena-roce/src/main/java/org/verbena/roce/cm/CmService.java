// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/** A listener of a service. Called under the agent's lock; throws nothing and does not block. */
@FunctionalInterface
public interface CmService {
    /**
     * A peer requests a connection. The service has to call {@link CmConnection#accept} or {@link CmConnection#reject},
     * now or later.
     *
     * @return 0, or the {@link RejectReason} for which the request is rejected at once
     */
    int requested(CmConnection connection, CmMessage.Req request);
}
