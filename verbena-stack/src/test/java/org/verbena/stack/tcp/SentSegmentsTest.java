// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

/** Ranges that were sent, against a list. */
final class SentSegmentsTest {
    private static final class Range {
        int start;
        int end;
        long time;
        int flags;

        Range(int start, int end, long time, int flags) {
            this.start = start;
            this.end = end;
            this.time = time;
            this.flags = flags;
        }
    }

    @Test
    void doesAsAListDoes() {
        Seeds.each(200, r -> {
            SentSegments s = new SentSegments();
            List<Range> model = new ArrayList<>();
            int next = Peer.someInitial(r);
            for (int i = 0; i < 500; i++) {
                int at = model.isEmpty() ? 0 : r.nextInt(model.size());
                int flag = 1 << r.nextInt(4);
                switch (model.isEmpty() ? 0 : r.nextInt(8)) {
                    case 0, 1 -> {
                        int n = 1 + r.nextInt(3000);
                        s.add(next, next + n, i);
                        model.add(new Range(next, next + n, i, SentSegments.IN_FLIGHT));
                        next += n;
                    }
                    case 2 -> {
                        s.removeFirst();
                        model.removeFirst();
                    }
                    case 3 -> {
                        Range f = model.getFirst();
                        if (f.end - f.start > 1) {
                            f.start += 1 + r.nextInt(f.end - f.start - 1);
                            s.shortenFirst(f.start);
                        }
                    }
                    case 4 -> {
                        s.set(at, flag);
                        model.get(at).flags |= flag;
                    }
                    case 5 -> {
                        s.clear(at, flag);
                        model.get(at).flags &= ~flag;
                    }
                    case 6 -> {
                        Range f = model.get(at);
                        if (f.end - f.start > 1) {
                            int middle = f.start + 1 + r.nextInt(f.end - f.start - 1);
                            s.split(at, middle);
                            model.add(at + 1, new Range(middle, f.end, f.time, f.flags));
                            f.end = middle;
                        }
                    }
                    default -> {
                        s.setTime(at, -i);
                        model.get(at).time = -i;
                    }
                }
                check(s, model);
                if (r.nextInt(200) == 0) {
                    s.clear();
                    model.clear();
                    check(s, model);
                }
            }
        });
    }

    private static void check(SentSegments s, List<Range> model) {
        assertThat(s.size()).isEqualTo(model.size());
        int[] sums = new int[4];
        for (int i = 0; i < model.size(); i++) {
            Range f = model.get(i);
            assertThat(s.start(i)).isEqualTo(f.start);
            assertThat(s.end(i)).isEqualTo(f.end);
            assertThat(s.time(i)).isEqualTo(f.time);
            for (int b = 0; b < 4; b++) {
                assertThat(s.is(i, 1 << b)).isEqualTo((f.flags & 1 << b) != 0);
                sums[b] += (f.flags & 1 << b) != 0 ? f.end - f.start : 0;
            }
            assertThat(s.find(f.start)).isEqualTo(i);
            assertThat(s.find(f.end - 1)).isEqualTo(i);
        }
        assertThat(s.sackedBytes()).isEqualTo(sums[0]);
        assertThat(s.lostBytes()).isEqualTo(sums[1]);
        assertThat(s.inFlight()).isEqualTo(sums[3]);
    }
}
