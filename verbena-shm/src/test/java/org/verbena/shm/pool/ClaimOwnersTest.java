// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.shm.layout.Claim;

/** Owners of claims, and impossible claims of a hostile user. */
class ClaimOwnersTest {
    private static final int ENTRIES = 8;

    private final Arena keep = Arena.ofAuto();
    private final long at = keep.allocate(1 << 12, 128).address();
    private final ReceivePool pool = new ReceivePool(at, at + 128, at + 256, ENTRIES, at + 1024, 1);
    private final ClaimOwners owners = new ClaimOwners(pool);

    /** Reports the given claims. */
    private record User(long held, List<Long> committed, List<Boolean> accepted) implements PoolUser {
        @Override
        public long hazard() {
            return 0;
        }

        @Override
        public void noteCommitted(ClaimOwners owners) {
            committed.forEach(c -> accepted.add(owners.note(c)));
        }

        @Override
        public boolean isStarving() {
            return false;
        }

        @Override
        public void wake() {}
    }

    private List<Boolean> collect(long held, Long... committed) {
        User u = new User(held, List.of(committed), new java.util.ArrayList<>());
        owners.collect(u);
        return u.accepted;
    }

    private long[] post(int count) {
        pool.setCapacity(ENTRIES);
        long[] claims = new long[count];
        for (int i = 0; i < count; i++) {
            pool.post(pool.take(), 1);
            claims[i] = pool.at(i);
        }
        return claims;
    }

    @Test
    void heldAndCommittedClaimsAreOwned() {
        long[] c = post(5);
        assertThat(collect(c[0], c[2], c[1])).containsOnly(true);
        assertThat(collect(Claim.NONE)).isEmpty();
        assertThat(collect(c[4])).isEmpty();
        assertThat(owners.isOwned(c[0])).isTrue();
        assertThat(owners.isOwned(c[1])).isTrue();
        assertThat(owners.isOwned(c[2])).isTrue();
        assertThat(owners.isOwned(c[3])).isFalse();
        assertThat(owners.isOwned(c[4])).isTrue();
    }

    @Test
    void impossibleClaimsAreRefused() {
        long[] c = post(3);
        assertThat(pool.finish(c[2])).isTrue();
        assertThat(collect(c[0], c[1], c[1], c[0], c[2], 0L, -1L, Long.MIN_VALUE, Claim.of(0, 0, 16_000)))
                .containsExactly(true, false, false, false, false, false, false, false);
        assertThat(owners.isOwned(c[2])).isFalse();
        // another user may report the same claim: the violator is unknown
        assertThat(collect(Claim.NONE, c[1], c[0])).containsOnly(true);
    }
}
