// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.shm.memory.Revocation;

/**
 * A peer that was inside a transfer when our queue pair left it or the session ended: its claims are not reused before it
 * resumes or its process ends.
 */
public record StoppedPoolUser(Revocation.Inside inside) implements PoolUser {
    @Override
    public long hazard() {
        return inside.hasLeft() ? 0 : inside.word();
    }

    @Override
    public boolean isGone() {
        return inside.hasLeft();
    }
}
